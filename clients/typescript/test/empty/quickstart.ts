// The snippets of docs/clients-typescript.md, type-checked against the packed client.
import { Client, forgotten, match, naira, nairaText, type Outcome, type Schemas, verifyReceipt, verifyWebhook } from "@kobo-waas/client";
import { filePlace } from "@kobo-waas/client/node";

const kobo = new Client({ baseUrl: "http://127.0.0.1:8080", reference: "c3v7", apiKey: "kobo_test_" });

export async function pay(): Promise<string> {
  const verified = await kobo.call("validateAccount", {
    body: { bank_code: "000014", account_number: "0123456710", pin: "1234", fromSettlementId: 1 },
  });
  const outcome = await kobo.payout({ verify_id: verified.data.id, amount: naira("1500.50") }, { key: "invoice-2417" });
  const end = await match(outcome, {
    succeeded: async (paid) => paid,
    declined: async (no) => no,
    unknown: (open) => open.follow(),
  });
  return end.outcome === "declined" ? end.reason : end.reference;
}

export function words(outcome: Outcome<Schemas["Purchase"]>): string {
  switch (outcome.outcome) {
    case "succeeded":
      return nairaText(outcome.data.amount);
    case "declined":
      return outcome.reason;
    case "unknown":
      return outcome.key;
    default:
      return forgotten(outcome);
  }
}

export async function read(signal: AbortSignal, reference: string): Promise<void> {
  for await (const purchase of kobo.list("listVtuTransactions", { query: { status: "SUCCESS" } })) console.log(purchase.amount);
  for await (const event of kobo.events(filePlace("./kobo.place"), signal)) {
    if (event.event === "payout.success") console.log(event.data.reference, event.data.amount);
  }
  const { data: keys } = await kobo.call("findCheckpointKey");
  const { data: receipt } = await kobo.call("findReceipt", { path: { reference } });
  console.log((await verifyReceipt(receipt, keys.key)).table);
}

export function hear(headers: Headers, body: string): number {
  return verifyWebhook("whsec_x", headers, body).sequence;
}
