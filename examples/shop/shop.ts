// A shop that sells airtime from a Kobo wallet. It survives kill -9 of itself and of Kobo at any
// moment, and charges no order twice. Three rules do that:
//
//  1. The page names the order before it is sent. So a form that is sent twice is one order.
//  2. The order is on the disk before Kobo hears of it. So the shop never forgets what it asked for.
//  3. The name of the order is the Idempotency-Key. So a repeated request is the same purchase.
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, truncateSync, writeSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { dirname } from "node:path";
import { Client, type Kobo, match, naira, nairaText } from "@kobo-waas/client";

const env = (name: string, otherwise?: string): string => {
  const value = process.env[name] ?? otherwise;
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
};

// ---- State: a journal. Each line is one fact, and is on the disk before the shop acts on it.

interface Order {
  id: string;
  phone: string;
  category: string;
  naira: string;
  at: string;
  state: "open" | "delivered" | "refused";
  note: string;
}

type Fact = { ordered: Omit<Order, "state" | "note"> } | { ended: string; state: Order["state"]; note: string };

class Journal {
  readonly orders = new Map<string, Order>();
  readonly #file: number;

  constructor(path: string) {
    const text = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
    // A crash may have cut the last line. Nothing was done because of a line that was not whole.
    const whole = text.lastIndexOf("\n") + 1;
    for (const line of text.subarray(0, whole).toString().split("\n")) if (line) this.#apply(JSON.parse(line) as Fact);
    if (whole < text.length) truncateSync(path, whole);
    this.#file = openSync(path, "a");
    fsyncSync(this.#file);
    const folder = openSync(dirname(path), "r");
    fsyncSync(folder);
    closeSync(folder);
  }

  write(fact: Fact): void {
    writeSync(this.#file, `${JSON.stringify(fact)}\n`);
    fsyncSync(this.#file);
    this.#apply(fact);
  }

  #apply(fact: Fact): void {
    if ("ordered" in fact) {
      this.orders.set(fact.ordered.id, { ...fact.ordered, state: "open", note: "" });
      return;
    }
    const order = this.orders.get(fact.ended);
    if (order) Object.assign(order, { state: fact.state, note: fact.note });
  }
}

const settlementId = Number(env("KOBO_SETTLEMENT_ID"));
const kobo = new Client({ baseUrl: env("KOBO_URL"), reference: env("KOBO_REFERENCE"), apiKey: env("KOBO_API_KEY"), deadlineMs: 10_000 });
const journal = new Journal(env("SHOP_JOURNAL", "./shop.journal"));

// ---- Business

/** Brings an order to its end, however often Kobo or the shop stops on the way. */
async function deliver(order: Order): Promise<void> {
  const end = (state: Order["state"], note: string) => journal.write({ ended: order.id, state, note });
  for (;;) {
    try {
      const outcome = await kobo.buyAirtime(
        { serviceCategoryId: order.category, phoneNumber: order.phone, amount: naira(order.naira), settlementId },
        { key: order.id },
      );
      const last = await match(outcome, {
        succeeded: async (o) => o,
        declined: async (o) => o,
        unknown: (o) => o.follow(),
      });
      return last.outcome === "succeeded" ? end("delivered", last.reference) : end("refused", last.message || last.reason);
    } catch (error) {
      console.error(`order ${order.id} waits: ${String(error)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

function place(form: URLSearchParams): string | undefined {
  const [id, phone, category, amount] = ["id", "phone", "category", "naira"].map((name) => form.get(name)?.trim() ?? "");
  if (!/^order-[0-9a-f-]{36}$/.test(id!)) return "This form is not from this shop.";
  if (journal.orders.has(id!)) return undefined; // the form was sent twice
  if (!/^\d{11}$/.test(phone!)) return "The phone number must have 11 digits.";
  let kobos: Kobo;
  try {
    kobos = naira(amount!);
  } catch {
    return "The amount must be in naira, such as 500 or 500.50.";
  }
  if (kobos < naira("50") || kobos > naira("50000")) return "The amount must be from ₦50 to ₦50,000.";
  if (!category) return "Choose a network.";
  journal.write({ ordered: { id: id!, phone: phone!, category, naira: nairaText(kobos), at: new Date().toISOString() } });
  void deliver(journal.orders.get(id!)!);
  return undefined;
}

let networks: { id: string; name: string }[] = [];

async function networkList(): Promise<typeof networks> {
  if (networks.length > 0) return networks;
  const services = await kobo.call("listServices", { deadlineMs: 3_000 });
  const airtime = services.data.find((s) => s.serviceName === "Airtime");
  if (!airtime) return [];
  const categories = await kobo.call("listServiceCategories", { path: { serviceId: airtime.serviceId }, deadlineMs: 3_000 });
  networks = categories.data.map((c) => ({ id: c.serviceCategoryId, name: c.serviceCategoryName }));
  return networks;
}

async function balance(): Promise<string> {
  const accounts = await kobo.call("listSettlementAccounts", { deadlineMs: 3_000 });
  const account = accounts.data.find((a) => a.id === settlementId);
  return account ? money(nairaText(account.balance)) : "unknown";
}

// ---- Page

const money = (text: string) => `₦${text.replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ",")}`;
const html = (text: string) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
const words = { open: "On its way", delivered: "Delivered", refused: "Not sold, not charged" };

const style = `
:root{color-scheme:light dark;--ink:#16211c;--soft:#56655d;--paper:#f4f7f5;--card:#fff;--line:#d7e0da;--brand:#0b6b3a;--on:#fff;--bad:#a3261b}
@media(prefers-color-scheme:dark){:root{--ink:#e8efe9;--soft:#9fb0a6;--paper:#101613;--card:#18211c;--line:#2b3831;--brand:#4fd08b;--on:#06230f;--bad:#ff9d8f}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:40rem;margin:auto;padding:1rem}section{background:var(--card);border:1px solid var(--line);border-radius:12px;padding:1rem;margin:0 0 1rem}
h1{font-size:1.1rem;margin:0 0 1rem}h2{font-size:1rem;margin:0 0 .75rem}.balance{font-size:2rem;font-weight:700;font-variant-numeric:tabular-nums;margin:0}
.soft{color:var(--soft);margin:0;font-size:.9rem}form{display:grid;gap:.75rem}@media(min-width:34rem){form{grid-template-columns:1fr 1fr}button{grid-column:1/-1}}
label{display:grid;gap:.25rem;font-size:.9rem;color:var(--soft)}input,select,button{font:inherit;padding:.65rem .75rem;border-radius:8px;border:1px solid var(--line);background:var(--paper);color:var(--ink);width:100%;min-width:0}
button{background:var(--brand);color:var(--on);border:0;font-weight:600;cursor:pointer}:focus-visible{outline:3px solid var(--brand);outline-offset:2px}
ul{list-style:none;margin:0;padding:0}li{display:flex;flex-wrap:wrap;gap:.25rem 1rem;justify-content:space-between;padding:.6rem 0;border-top:1px solid var(--line)}li:first-child{border:0}
.delivered{color:var(--brand)}.refused,.problem{color:var(--bad)}b{font-variant-numeric:tabular-nums}`;

async function page(problem?: string): Promise<string> {
  const [wallet, list] = await Promise.all([balance().catch(() => undefined), networkList().catch(() => [])]);
  const orders = [...journal.orders.values()].reverse().slice(0, 20);
  const waiting = orders.some((o) => o.state === "open") || wallet === undefined;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
${waiting && !problem ? '<meta http-equiv="refresh" content="3">' : ""}<title>Airtime shop</title><style>${style}</style><main><h1>Airtime shop</h1>
<section><p class="soft">Wallet</p><p class="balance">${wallet ? html(wallet) : "…"}</p>${wallet ? "" : '<p class="soft">The wallet cannot be reached. Orders wait, and nothing is lost.</p>'}</section>
<section><h2>Buy airtime</h2>${problem ? `<p class="problem" role="alert">${html(problem)}</p>` : ""}<form method="post" action="/orders">
<input type="hidden" name="id" value="order-${crypto.randomUUID()}">
<label>Network<select name="category" required>${list.map((n) => `<option value="${html(n.id)}">${html(n.name)}</option>`).join("")}</select></label>
<label>Phone number<input name="phone" inputmode="numeric" pattern="[0-9]{11}" maxlength="11" placeholder="08030000010" autocomplete="tel" required></label>
<label>Amount in naira<input name="naira" inputmode="decimal" pattern="[0-9]+(\\.[0-9]{1,2})?" placeholder="500" required></label><button>Buy</button></form></section>
<section><h2>Orders</h2>${orders.length === 0 ? '<p class="soft">No orders yet.</p>' : ""}<ul>${orders
    .map((o) => `<li><span>${html(o.phone)}<br><span class="soft">${html(o.at.slice(0, 16).replace("T", " "))}</span></span><span><b>${html(money(o.naira))}</b><br><span class="${o.state}">${words[o.state]}</span></span></li>`)
    .join("")}</ul></section></main></html>`;
}

function send(to: ServerResponse, status: number, body: string, headers: Record<string, string> = {}): void {
  to.writeHead(status, {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "Cache-Control": "no-store",
    ...headers,
  });
  to.end(body);
}

async function read(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) if ((text += chunk).length > 4096) throw new Error("the form is too large");
  return text;
}

async function answer(request: IncomingMessage, to: ServerResponse): Promise<void> {
  const { method, url } = request;
  if (method === "GET" && url === "/") return send(to, 200, await page());
  if (method === "GET" && url === "/orders") return send(to, 200, JSON.stringify([...journal.orders.values()]), { "Content-Type": "application/json" });
  if (method === "POST" && url === "/orders") {
    // Another site may not order in the name of a visitor.
    if (!["same-origin", "none", undefined].includes(request.headers["sec-fetch-site"] as string | undefined)) return send(to, 403, "");
    const problem = place(new URLSearchParams(await read(request)));
    return problem ? send(to, 400, await page(problem)) : send(to, 303, "", { Location: "/" });
  }
  return send(to, 404, "");
}

for (const order of journal.orders.values()) if (order.state === "open") void deliver(order);

createServer((request, to) => {
  answer(request, to).catch((error: unknown) => {
    console.error(error);
    if (!to.headersSent) send(to, 500, "The shop has an error. Your order is safe: load the page again.");
  });
}).listen(Number(env("SHOP_PORT", "8090")), "127.0.0.1", () => console.log(`the shop is at http://127.0.0.1:${env("SHOP_PORT", "8090")}/`));
