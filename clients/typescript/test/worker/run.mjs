// Runs the client as a worker would: in a context that has the globals of the web and nothing of Node. It pays one
// payout, verifies one webhook, and prints both. Run it with node --experimental-vm-modules.
import { readFileSync } from "node:fs";
import { createRequire, isBuiltin } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import vm from "node:vm";

const [entry, baseUrl] = process.argv.slice(2);
const web = [
  "fetch", "Request", "Response", "Headers", "FormData", "Blob", "URL", "URLSearchParams", "AbortController", "AbortSignal", "TextEncoder",
  "TextDecoder", "ReadableStream", "TransformStream", "WritableStream", "crypto", "structuredClone", "setTimeout", "clearTimeout", "setInterval",
  "clearInterval", "queueMicrotask", "console", "DOMException", "Event", "EventTarget", "atob", "btoa", "performance",
];
// One realm for both sides, as in a worker: a TypeError of fetch is a TypeError of the client.
const shared = ["Error", "TypeError", "RangeError", "SyntaxError", "Uint8Array", "ArrayBuffer", "Promise", "Object", "Array", "Date", "Map", "Set"];
const context = vm.createContext(Object.fromEntries([...web, ...shared].map((name) => [name, globalThis[name]])));
for (const name of ["process", "Buffer", "require", "global", "setImmediate"]) {
  if (vm.runInContext(`typeof ${name}`, context) !== "undefined") throw new Error(`the context has ${name}`);
}

function refuse(specifier, from) {
  if (isBuiltin(specifier)) throw new Error(`${from} imports ${specifier}, which a worker has not`);
}

// A bundler puts the dependencies, which are CommonJS, into the worker's file.
const scripts = new Map();
function load(file) {
  if (!scripts.has(file)) {
    const module = { exports: {} };
    scripts.set(file, module);
    const find = createRequire(file);
    const body = vm.runInContext(`(function (module, exports, require) {${readFileSync(file, "utf8")}\n})`, context, { filename: file });
    body(module, module.exports, (specifier) => {
      refuse(specifier, file);
      return load(find.resolve(specifier));
    });
  }
  return scripts.get(file).exports;
}

const modules = new Map();
function link(specifier, from) {
  refuse(specifier, from.identifier);
  const url = specifier.startsWith(".") ? new URL(specifier, from.identifier).href : `package:${specifier}`;
  if (!modules.has(url)) modules.set(url, specifier.startsWith(".") ? text(url) : dependency(specifier, from));
  return modules.get(url);
}

const text = (url) => new vm.SourceTextModule(readFileSync(fileURLToPath(url), "utf8"), { context, identifier: url });

function dependency(specifier, from) {
  const exports = load(createRequire(from.identifier).resolve(specifier));
  const names = Object.keys(exports);
  return new vm.SyntheticModule(names, function () {
    for (const name of names) this.setExport(name, exports[name]);
  }, { context });
}

const main = text(pathToFileURL(entry).href);
await main.link(link);
await main.evaluate();
const { Client, naira, nairaText, verifyWebhook } = main.namespace;

const client = new Client({ baseUrl, reference: "company", apiKey: "key" });
const outcome = await client.payout({ verify_id: "v-1", amount: naira("1500.50") });

const secret = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
const { Webhook } = load(createRequire(pathToFileURL(entry)).resolve("standardwebhooks"));
const body = '{"id":"e-1","sequence":1,"event":"payout.success","data":{"reference":"v-1","amount":1500.5}}';
const at = new Date();
const headers = { "webhook-id": "e-1", "webhook-timestamp": String(Math.floor(at.getTime() / 1000)), "webhook-signature": new Webhook(secret).sign("e-1", at, body) };
const event = verifyWebhook(secret, headers, body);

console.log(JSON.stringify({ outcome: outcome.outcome, amount: nairaText(outcome.data.amount), event: event.event, told: nairaText(event.data.amount), files: modules.size + scripts.size }));
