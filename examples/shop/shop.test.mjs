// Kills the shop and Kobo while customers order, and compares the books of the providers with the
// orders of the shop. KOBO_BIN is the path of kobo; SHOP_KILLS is the number of kills.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { balanceOf, Dev, freePort } from "../../clients/typescript/build/test/dev.js";

const kills = Number(process.env.SHOP_KILLS ?? "10");
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

class Shop {
  constructor(dev, port) {
    Object.assign(this, { dev, url: `http://127.0.0.1:${port}`, port, journal: join(dev.folder, "shop.journal") });
  }

  async up() {
    const c = this.dev.credentials;
    const env = { ...process.env, KOBO_URL: c.base_url, KOBO_REFERENCE: c.reference, KOBO_API_KEY: c.api_key };
    Object.assign(env, { KOBO_SETTLEMENT_ID: `${c.settlement_id}`, SHOP_PORT: `${this.port}`, SHOP_JOURNAL: this.journal });
    this.child = spawn(process.execPath, [new URL("build/shop.js", import.meta.url).pathname], { env, stdio: "ignore" });
    for (;;) {
      if (await fetch(`${this.url}/orders`).then((r) => r.ok, () => false)) return;
      assert.equal(this.child.exitCode, null, "the shop ended");
      await pause(20);
    }
  }

  async kill() {
    const ended = once(this.child, "exit");
    this.child.kill("SIGKILL");
    await ended;
  }

  /** Sends a form until the shop has taken it, and then once more, as an impatient customer does. */
  async order(form) {
    for (let taken = 0; taken < 2; ) {
      const r = await fetch(`${this.url}/orders`, { method: "POST", body: new URLSearchParams(form), redirect: "manual" }).catch(() => undefined);
      if (r?.status === 303) taken++;
      else if (r) assert.fail(`the shop answered ${r.status}: ${await r.text()}`);
      else await pause(20);
    }
  }

  orders() {
    return fetch(`${this.url}/orders`).then((r) => r.json());
  }
}

test(`no order is charged twice over ${kills} kills of the shop and of Kobo`, async () => {
  const dev = await Dev.start();
  const shop = new Shop(dev, await freePort());
  try {
    const client = dev.client();
    const start = await balanceOf(client, dev.credentials.settlement_id);
    await shop.up();
    const html = await (await fetch(shop.url)).text();
    assert.match(html, /₦1,000,000\.00/);
    const category = /<option value="([^"]+)"/.exec(html)[1];

    let stopped = false;
    let placed = 0;
    const customer = async (n) => {
      for (let i = 0; !stopped; i++) {
        // Now and then the network refuses (01), or its answer is lost (02, 04).
        const phone = `080301234${["10", "10", "02", "10", "01", "04"][i % 6]}`;
        await shop.order({ id: `order-${crypto.randomUUID()}`, phone, category, naira: `${50 + n}.25` });
        placed++;
        await pause(30);
      }
    };
    const customers = [1, 2, 3].map(customer);
    for (let i = 0; i < kills; i++) {
      await pause(100 + Math.random() * 600);
      if (i % 2 === 0) {
        await shop.kill();
        if (i % 4 === 0) await appendFile(shop.journal, '{"ordered":{"id":"order-'); // a line that a crash has cut
        await shop.up();
      } else {
        await dev.kill();
        await dev.up();
      }
    }
    stopped = true;
    await Promise.all(customers);

    for (const end = Date.now() + 120_000; ; ) {
      const open = (await shop.orders()).filter((o) => o.state === "open").length;
      if (open === 0) break;
      assert.ok(Date.now() < end, `${open} orders have no end`);
      await dev.advance("10m");
      await pause(300);
    }
    const orders = await shop.orders();
    assert.equal(orders.length, placed);
    const delivered = orders.filter((o) => o.state === "delivered");
    const executed = (await dev.executed()).filter((e) => e.executions > 0);
    for (const e of executed) assert.equal(e.executions, 1, `${e.reference} was executed ${e.executions} times`);
    assert.deepEqual(executed.map((e) => e.reference).sort(), delivered.map((o) => o.note).sort());
    const charged = delivered.reduce((sum, o) => sum + BigInt(o.naira.replace(".", "")), 0n);
    assert.equal(start - (await balanceOf(client, dev.credentials.settlement_id)), charged);
    assert.ok(delivered.length > kills && orders.some((o) => o.state === "refused"));
    console.log(`${kills} kills: ${orders.length} orders, ${delivered.length} delivered, each charged once`);
  } finally {
    if (shop.child && shop.child.exitCode === null && shop.child.signalCode === null) await shop.kill();
    await dev.stop();
  }
});
