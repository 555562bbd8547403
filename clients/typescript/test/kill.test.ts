import assert from "node:assert/strict";
import { test } from "node:test";
import { type Client, naira, type Outcome } from "../src/index.js";
import { sleep } from "../src/transport.js";
import { airtimeCategory, balanceOf, Dev, newCard } from "./dev.js";

const kills = Number(process.env["KOBO_KILLS"] ?? "10");

interface Paid {
  reference: string;
  outcome: string;
  debited: bigint;
}

test(`nothing is doubled and nothing lost over ${kills} kills of the server`, async () => {
  const dev = await Dev.start();
  try {
    const client = dev.client({ deadlineMs: 2_000, tryMs: 1_500 });
    const { settlement_id: settlementId, settlement_account_number: accountNumber } = dev.credentials;
    const serviceCategoryId = await airtimeCategory(client);
    const cardId = await newCard(client);
    await dev.sandbox("credit", { accountNumber, amount: 5_000_000 });
    for (const end = Date.now() + 10_000; (await balanceOf(client, settlementId)) < naira("6000000"); await sleep(50)) {
      assert.ok(Date.now() < end, "the credit has not arrived");
    }
    const start = await balanceOf(client, settlementId);

    let stopped = false;
    let unknowns = 0;
    const all: Paid[] = [];
    const finish = async (ordered: Promise<Outcome<object>>, amount: bigint) => {
      let outcome: Outcome<object>;
      try {
        outcome = await ordered;
      } catch {
        return; // there was no token, so nothing has left
      }
      if (outcome.outcome === "unknown") {
        unknowns++;
        outcome = await outcome.follow({ signal: AbortSignal.timeout(120_000) });
      }
      all.push({ reference: outcome.reference ?? "", outcome: outcome.outcome, debited: outcome.outcome === "succeeded" ? amount : 0n });
    };
    const buyer = async (n: number) => {
      for (let i = 0; !stopped; i++) {
        const amount = naira(`${60 + n}.${String(i % 100).padStart(2, "0")}`);
        // The network delivers, loses its answer (02), or delivers later (06).
        const phoneNumber = `080301234${["10", "02", "10", "06"][i % 4]}`;
        await finish(client.buyAirtime({ serviceCategoryId, phoneNumber, amount, settlementId }), amount);
      }
    };
    const funder = async () => {
      for (let i = 0; !stopped; i++) {
        const amount = naira(`${110 + (i % 80)}`);
        await finish(client.fundCard({ cardId, amount }), amount);
      }
    };
    const payer = async () => {
      while (!stopped) {
        const verified = await verify(client, dev).catch(() => undefined);
        if (!verified) continue;
        const amount = naira("1500.50");
        const fee = (await until(() => client.preview("sendPayout", { verify_id: verified, amount }))).total - amount;
        await finish(client.payout({ verify_id: verified, amount }), amount + fee);
      }
    };
    const clock = async () => {
      // The clock makes the requeries of unknown outcomes due.
      while (!stopped) {
        await dev.advance("3m").catch(() => undefined);
        await sleep(500);
      }
    };
    const load = [...[1, 2, 3, 4].map(buyer), funder(), payer()];
    const moving = clock();
    for (let i = 0; i < kills; i++) {
      await sleep(100 + Math.random() * 700);
      await dev.kill();
      await dev.up();
    }
    const done = Promise.all(load);
    const going = setInterval(() => void dev.advance("10m").catch(() => undefined), 500);
    stopped = true;
    await done.finally(() => clearInterval(going));
    await moving;

    const executed = new Map((await dev.executed()).map((e) => [e.reference, e]));
    for (const e of executed.values()) assert.ok(e.executions <= 1, `${e.reference} was executed ${e.executions} times`);
    const succeeded = all.filter((p) => p.outcome === "succeeded");
    assert.equal(new Set(succeeded.map((p) => p.reference)).size, succeeded.length, "each payment has a reference of its own");
    for (const p of succeeded) assert.equal(executed.get(p.reference)?.executions, 1, `${p.reference} succeeded`);
    const known = new Set(succeeded.map((p) => p.reference));
    for (const e of executed.values()) {
      if (e.executions === 1 && e.kind !== "credit") assert.ok(known.has(e.reference), `${e.kind} ${e.reference} was executed, and no caller knows`);
    }
    const debited = succeeded.reduce((sum, p) => sum + p.debited, 0n);
    assert.equal(start - (await balanceOf(client, settlementId)), debited, "the balance fell by what succeeded");
    const { data: book } = await client.call("checkIntegrity");
    assert.ok(book.intact);
    assert.equal(book.inFlight.openAmount, 0n);
    assert.ok(succeeded.length > kills && unknowns > 0, `${succeeded.length} payments, ${unknowns} of them unknown at first`);
    console.log(`${kills} kills: ${all.length} payments, ${succeeded.length} succeeded, ${unknowns} unknown at first`);
  } finally {
    await dev.stop();
  }
});

async function verify(client: Client, dev: Dev): Promise<string> {
  const { pin, settlement_id: fromSettlementId } = dev.credentials;
  const verified = await client.call("validateAccount", { body: { bank_code: "000014", account_number: "0123456710", pin, fromSettlementId } });
  return verified.data.id;
}

/** Repeats a read until the server is there. */
async function until<T>(read: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await read();
    } catch {
      await sleep(50);
    }
  }
}
