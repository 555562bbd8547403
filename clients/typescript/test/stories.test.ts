import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type Client, KoboError, naira, type Outcome } from "../src/index.js";
import { airtimeCategory, balanceOf, Dev, newCard } from "./dev.js";

let dev: Dev;
let client: Client;
let settlementId: number;

before(async () => {
  dev = await Dev.start();
  client = dev.client();
  settlementId = dev.credentials.settlement_id;
});
after(() => dev.stop());

// What each story of the sandbox is at once, and at its true end (docs/sandbox.md).
const stories: Record<string, ["succeeded" | "declined" | "unknown", "succeeded" | "declined"]> = {
  "01": ["declined", "declined"],
  "02": ["unknown", "succeeded"],
  "03": ["unknown", "declined"],
  "04": ["unknown", "succeeded"],
  "05": ["unknown", "declined"],
  "06": ["unknown", "succeeded"],
  "07": ["unknown", "declined"],
  "10": ["succeeded", "succeeded"],
};

/** Orders one payment of each story, moves the clock, and compares the ends with the money that has left. */
async function play(pay: (story: string, key: string) => Promise<Outcome<object>>, cost: (story: string) => bigint): Promise<void> {
  const start = await balanceOf(client, settlementId);
  const orders = await Promise.all(
    Object.entries(stories).map(async ([story, [first, last]]) => ({ story, first, last, outcome: await pay(story, `story-${crypto.randomUUID()}`) })),
  );
  for (const { story, first, outcome } of orders) assert.equal(outcome.outcome, first, `story ${story} at once`);
  const ends = orders.map(({ outcome }) => (outcome.outcome === "unknown" ? outcome.follow({ signal: AbortSignal.timeout(60_000) }) : outcome));
  await dev.advance("1h");
  let paid = 0n;
  for (const [i, { story, last }] of orders.entries()) {
    const end = await ends[i]!;
    assert.equal(end.outcome, last, `story ${story} in the end`);
    if (end.outcome === "declined") {
      assert.equal(end.reason, "declined", `story ${story}`);
      assert.ok(end.reference, `story ${story}: declined without its reference`);
    } else paid += cost(story);
  }
  assert.equal(start - (await balanceOf(client, settlementId)), paid, "the money that has left");
}

test("every story of a payout ends as it is told", async () => {
  const amounts = new Map<string, bigint>();
  await play(
    async (story, key) => {
      const verified = await client.call("validateAccount", {
        body: { bank_code: "000014", account_number: `01234567${story}`, pin: dev.credentials.pin, fromSettlementId: settlementId },
      });
      const order = { verify_id: verified.data.id, amount: naira("1500.50") };
      amounts.set(story, (await client.preview("sendPayout", order)).total);
      return client.payout(order, { key });
    },
    (story) => amounts.get(story)!,
  );
});

test("every story of airtime ends as it is told", async () => {
  const serviceCategoryId = await airtimeCategory(client);
  await play(
    (story, key) => client.buyAirtime({ serviceCategoryId, phoneNumber: `080301234${story}`, amount: naira("100.00"), settlementId }, { key }),
    () => naira("100"),
  );
});

test("every story of a card funding ends as it is told", async () => {
  const cardId = await newCard(client);
  await play(
    (story, key) => client.fundCard({ cardId, amount: naira(`10${story}`) }, { key }),
    (story) => naira(`10${story}`),
  );
});

test("the same key pays once, and gives the same outcome", async () => {
  const serviceCategoryId = await airtimeCategory(client);
  const start = await balanceOf(client, settlementId);
  const order = { serviceCategoryId, phoneNumber: "08030123410", amount: naira("75.25"), settlementId };
  const key = `twice-${crypto.randomUUID()}`;
  const [one, two] = await Promise.all([client.buyAirtime(order, { key }), client.buyAirtime(order, { key })]);
  assert.deepEqual(two, one);
  assert.equal(start - (await balanceOf(client, settlementId)), naira("75.25"));
  const other = await client.buyAirtime({ ...order, amount: naira("80") }, { key });
  assert.equal(other.outcome, "unknown"); // the first order has this key, and it has paid
  await assert.rejects(async () => other.outcome === "unknown" && other.follow(), (e: unknown) => e instanceof KoboError && e.reason === "idempotency_key_mismatch");
});

test("a refusal says why, and the money stays", async () => {
  const serviceCategoryId = await airtimeCategory(client);
  const start = await balanceOf(client, settlementId);
  const outcome = await client.buyAirtime({ serviceCategoryId, phoneNumber: "08030123410", amount: naira("49999999"), settlementId });
  assert.equal(outcome.outcome === "declined" && outcome.reason, "insufficient_balance");
  assert.equal(await balanceOf(client, settlementId), start);
});
