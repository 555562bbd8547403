// Uses the packed client as a stranger would, on any runtime: a lost answer is followed to its end,
// and its receipt is checked. The first argument is the file of credentials of a running `kobo dev`.
import { readFile } from "node:fs/promises";
import process from "node:process";
import { Client, match, naira, verifyReceipt } from "@kobo-waas/client";

const { base_url: baseUrl, reference, api_key: apiKey, settlement_id: settlementId } = JSON.parse(await readFile(process.argv[2], "utf8"));
const kobo = new Client({ baseUrl, reference, apiKey });
const { data: keys } = await kobo.call("findCheckpointKey");
const { data: services } = await kobo.call("listServices");
const { serviceId } = services.find((s) => s.serviceName === "Airtime");
const { data: categories } = await kobo.call("listServiceCategories", { path: { serviceId } });
const order = { serviceCategoryId: categories[0].serviceCategoryId, phoneNumber: "08030000002", amount: naira("100.25"), settlementId };
const outcome = await kobo.buyAirtime(order);
if (outcome.outcome !== "unknown") throw new Error(`the answer is not lost: ${outcome.outcome}`);
const waiting = outcome.follow({ signal: AbortSignal.timeout(60_000) });
await fetch(`${baseUrl}/sandbox/clock`, { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"advance":"1m"}' });
const end = await match(await waiting, { succeeded: (o) => o, declined: (o) => o, unknown: (o) => o });
if (end.outcome !== "succeeded" || end.data.amount !== 10025n) throw new Error(`the end is ${end.outcome}`);
const { data: receipt } = await kobo.call("findReceipt", { path: { reference: end.reference } });
const proven = await verifyReceipt(receipt, keys.key);
if (proven.columns.amount_kobo !== "10025") throw new Error("the receipt is about another amount");
console.log(`the packed client works on ${globalThis.Deno ? "Deno" : globalThis.Bun ? "Bun" : `Node ${process.version}`}`);
