// A first integration: it receives webhooks, pays out while the bank's answer gets lost, and follows the payout
// to its true end. The guide "A first integration in TypeScript" shows the parts between the snippet comments.
// snippet start
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import { Client, match, naira, nairaText, verifyWebhook } from "@kobo-waas/client";

const given = JSON.parse(readFileSync("kobo.json", "utf8"));
const kobo = new Client({ baseUrl: given.base_url, reference: given.reference, apiKey: given.api_key });
// end snippet

// snippet receive
let secret = "";
const seen = new Set<string>(); // in your program: a table with the id as its key

const receiver = createServer(async (request, response) => {
  try {
    const event = verifyWebhook(secret, request.headers, await text(request));
    if (!seen.has(event.id)) console.log("webhook:", event.event);
    seen.add(event.id);
    response.writeHead(204).end();
  } catch {
    response.writeHead(400).end();
  }
});
await new Promise<void>((ready) => receiver.listen(0, "127.0.0.1", ready));
const { port } = receiver.address() as { port: number };
const endpoint = await kobo.call("createWebhook", {
  body: { url: `http://127.0.0.1:${port}/hooks/kobo`, events: ["payout.pending", "payout.success", "payout.failed"] },
});
secret = endpoint.data.secret!;
// end snippet

// snippet pay
const payee = { bank_code: "000014", account_number: "0123456702" }; // 02: the bank pays, and its answer is lost
const verified = await kobo.call("validateAccount", { body: { ...payee, pin: given.pin, fromSettlementId: given.settlement_id } });
console.log("payee:", verified.data.account_name);

const order = { verify_id: verified.data.id, amount: naira("1500.50"), narration: "Invoice 2417" };
const outcome = await kobo.payout(order, { key: "invoice-2417" }); // in your program: store order and key before
console.log("first answer:", outcome.outcome);
// end snippet

// snippet follow
const end = await match(outcome, {
  succeeded: async (paid) => paid,
  declined: async (no) => no,
  unknown: (open) => open.follow(),
});
console.log("true end:", end.outcome);

const accounts = await kobo.call("listSettlementAccounts");
console.log("balance:", nairaText(accounts.data[0]!.balance));
// end snippet

// The last webhook may come a moment after the feed has told the end.
while (seen.size < 2) await new Promise((resolve) => setTimeout(resolve, 50));
receiver.close();
receiver.closeAllConnections();
