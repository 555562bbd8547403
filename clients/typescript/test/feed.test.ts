import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { type Client, type KoboEvent, KoboError, naira, verifyReceipt, verifyWebhook } from "../src/index.js";
import { filePlace } from "../src/node.js";
import { airtimeCategory, Dev } from "./dev.js";

let dev: Dev;
let client: Client;
let folder: string;

before(async () => {
  dev = await Dev.start();
  client = dev.client();
  folder = await mkdtemp(join(tmpdir(), "kobo-place-"));
});
after(async () => {
  await dev.stop();
  await rm(folder, { recursive: true });
});

async function buy(n: number): Promise<string[]> {
  const serviceCategoryId = await airtimeCategory(client);
  const references: string[] = [];
  for (let i = 0; i < n; i++) {
    const outcome = await client.buyAirtime({ serviceCategoryId, phoneNumber: "08030123410", amount: naira("100.25"), settlementId: dev.credentials.settlement_id });
    assert.equal(outcome.outcome, "succeeded");
    references.push(outcome.outcome === "succeeded" ? outcome.reference : "");
  }
  return references;
}

/** Takes events, and stops while it processes the first that is the last one wanted. */
async function take(path: string, last: (event: KoboEvent) => boolean): Promise<KoboEvent[]> {
  const taken: KoboEvent[] = [];
  for await (const event of client.events(filePlace(path), AbortSignal.timeout(30_000))) {
    taken.push(event);
    if (last(event)) break;
  }
  return taken;
}

test("a consumer goes on where it was, and gets the event again that it had not finished", async () => {
  await buy(3);
  const path = join(folder, "place");
  const first = await take(path, (e) => e.sequence === 2);
  assert.deepEqual(first.map((e) => e.sequence), [1, 2]);
  assert.equal(await readFile(path, "utf8"), "1\n");
  const next = await take(path, (e) => e.event === "vtu.success");
  assert.deepEqual(next.map((e) => e.sequence), next.map((_, i) => i + 2));
  const success = next.at(-1);
  assert.ok(success?.event === "vtu.success");
  assert.equal(success.data.amount, 10025n);
  const found = await client.call("findEvent", { path: { id: success.id } });
  assert.deepEqual(found.data, success);
  await writeFile(path, "nonsense");
  await assert.rejects(take(path, () => true), /does not hold a sequence/);
});

test("a consumer waits for the next event, and ends with its signal", async () => {
  const { data } = await client.call("listEvents", { query: { after: 0, limit: 1000 } });
  let last = data.data.at(-1)!.sequence;
  const place = { load: () => Promise.resolve(last), save: (n: number) => Promise.resolve(void (last = n)) };
  const stop = new AbortController();
  const reading = (async () => {
    for await (const event of client.events(place, stop.signal)) if (event.event === "vtu.success") return event.data.transactionId;
    return undefined;
  })();
  const [reference] = await buy(1);
  assert.equal(await reading, reference);
  const idle = client.events(place, stop.signal);
  for (let more = true; more; ) {
    const next = idle.next().then((n) => n.done !== true);
    stop.abort();
    more = await next;
  }
});

test("a list gives each item once over its pages", async () => {
  await buy(5);
  const all: string[] = [];
  for await (const purchase of client.list("listVtuTransactions", { query: { pageSize: 2 } })) all.push(purchase.transactionId);
  const { data } = await client.call("listVtuTransactions");
  assert.equal(all.length, data.meta.totalItems);
  assert.equal(new Set(all).size, all.length);
  assert.equal(data.data[0]?.amount, 10025n);
});

test("a refused call throws its word", async () => {
  await assert.rejects(client.call("findPayout", { path: { reference: "none" } }), (e: KoboError) => e instanceof KoboError && e.reason === "not_found" && e.status === 400);
});

test("receipts are checked offline, and a changed one is refused", async () => {
  const { data: keys } = await client.call("findCheckpointKey");
  const references = await buy(3);
  for (const reference of references) {
    const { data: receipt } = await client.call("findReceipt", { path: { reference } });
    const proven = await verifyReceipt(receipt, keys.key);
    assert.equal(proven.company, dev.credentials.reference);
    assert.equal(proven.table, "ledger_transfer");
    assert.equal(proven.columns["amount_kobo"], "10025");
    assert.equal(proven.row, BigInt(receipt.index) + 1n);
    const flip = (text: string, at = 10) => text.slice(0, at) + (text[at] === "A" ? "B" : "A") + text.slice(at + 1);
    const changed = {
      "another place": { ...receipt, index: receipt.index - 1 },
      "another content": { ...receipt, leaf: { ...receipt.leaf, content: flip(receipt.leaf.content) } },
      "another hash": { ...receipt, leaf: { ...receipt.leaf, hash: flip(receipt.leaf.hash) } },
      "another proof": { ...receipt, proof: receipt.proof.map((p, i) => (i === 0 ? flip(p) : p)) },
      "a shorter proof": { ...receipt, proof: receipt.proof.slice(1) },
      "another checkpoint": { ...receipt, checkpoint: receipt.checkpoint.replace(/\n\d+\n/, "\n9999\n") },
      "no anchor": { ...receipt, deployment: { ...receipt.deployment, index: receipt.deployment.index + 1 } },
      "withheld": { ...receipt, leaf: { ...receipt.leaf, erased: true } },
    };
    for (const [name, one] of Object.entries(changed)) await assert.rejects(verifyReceipt(one, keys.key), Error, name);
  }
  const { data: receipt } = await client.call("findReceipt", { path: { reference: references[0]! } });
  await assert.rejects(verifyReceipt(receipt, keys.key.replace(/.$/, (c) => (c === "A" ? "B" : "A"))), /not a key of checkpoints/);
});

test("a webhook message is an event only with a right signature", async () => {
  const [secret, old] = ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"];
  const body = '{"id":"e-1","sequence":7,"event":"payout.success","createdAt":"","companyId":"c","environment":"dev","data":{"reference":"p","amount":1500.5,"fee":25}}';
  const now = new Date();
  const headers = { "Webhook-Id": "e-1", "webhook-timestamp": `${Math.floor(now.getTime() / 1000)}`, "webhook-signature": new Webhook(secret).sign("e-1", now, body) };
  for (const given of [headers, new Headers(headers)]) {
    const event = verifyWebhook([old, secret], given, body);
    assert.ok(event.event === "payout.success");
    assert.equal(event.data.amount, 150050n);
  }
  assert.throws(() => verifyWebhook(old, headers, body));
  assert.throws(() => verifyWebhook(secret, headers, body.replace("1500.5", "2500.5")));
  assert.throws(() => verifyWebhook(secret, { ...headers, "webhook-timestamp": "1" }, body));
  assert.throws(() => verifyWebhook([], headers, body));
});
