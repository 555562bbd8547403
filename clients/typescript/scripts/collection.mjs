// Writes the collection for Postman and Bruno from the contract: one request for each operation, with the
// example of the contract as its body. Bruno imports the same file.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { parse } from "yaml";

const contract = new URL("../../../internal/api/openapi.yaml", import.meta.url);
const target = new URL("../../collection/kobo.postman_collection.json", import.meta.url);
const document = parse(await readFile(contract, "utf8"), { merge: true, maxAliasCount: -1 });
const resolve = (node) => (node?.$ref ? node.$ref.split("/").slice(1).reduce((at, key) => at[key], document) : node);
const brief = (text) => (text ?? "").trim();

function bodyOf(operation) {
  const json = resolve(operation.requestBody)?.content?.["application/json"];
  if (!json) return undefined;
  const example = json.example ?? Object.values(json.examples ?? {})[0]?.value ?? {};
  return { mode: "raw", raw: JSON.stringify(example, null, 2), options: { raw: { language: "json" } } };
}

function headersOf(operation, parameters) {
  const headers = parameters
    .filter((p) => p.in === "header")
    .map((p) => ({ key: p.name, value: p.name === "Idempotency-Key" ? "{{$guid}}" : "{{api_key}}", description: brief(p.description) }));
  return operation.requestBody ? [...headers, { key: "Content-Type", value: "application/json" }] : headers;
}

function requestOf(path, method, operation) {
  const parameters = (operation.parameters ?? []).map(resolve);
  const query = parameters
    .filter((p) => p.in === "query")
    .map((p) => ({ key: p.name, value: String(p.example ?? p.schema?.default ?? ""), description: brief(p.description), disabled: !p.required }));
  const variable = parameters
    .filter((p) => p.in === "path")
    .map((p) => ({ key: p.name, value: operation.operationId === "generateToken" ? "{{reference}}" : String(p.example ?? ""), description: brief(p.description) }));
  const segments = path.slice(1).replace(/\{(\w+)\}/g, ":$1").split("/");
  return {
    method: method.toUpperCase(),
    description: brief(operation.description),
    ...(operation.security?.length === 0 ? { auth: { type: "noauth" } } : {}),
    header: headersOf(operation, parameters),
    ...(bodyOf(operation) ? { body: bodyOf(operation) } : {}),
    url: { raw: `{{base_url}}/${segments.join("/")}`, host: ["{{base_url}}"], path: segments, ...(query.length ? { query } : {}), ...(variable.length ? { variable } : {}) },
  };
}

// The tokens of a response are what the other requests send.
const keepToken = [{ listen: "test", script: { type: "text/javascript", exec: ['pm.collectionVariables.set("access_token", pm.response.json().accessToken);'] } }];

const folders = new Map();
for (const [path, item] of Object.entries(document.paths)) {
  for (const [method, operation] of Object.entries(item)) {
    const [tag = "Other"] = operation.tags ?? [];
    if (!folders.has(tag)) folders.set(tag, []);
    const event = ["generateToken", "refreshAccessToken"].includes(operation.operationId) ? { event: keepToken } : {};
    folders.get(tag).push({ name: operation.summary, ...event, request: requestOf(path, method, operation) });
  }
}

await mkdir(new URL(".", target), { recursive: true });
await writeFile(
  target,
  `${JSON.stringify(
    {
      info: {
        name: "Kobo",
        description: "Set base_url, reference and api_key, and send “Get tokens for an API key” first.",
        schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
      },
      auth: { type: "bearer", bearer: [{ key: "token", value: "{{access_token}}", type: "string" }] },
      variable: [
        { key: "base_url", value: "http://127.0.0.1:8080" },
        ...["reference", "api_key", "access_token"].map((key) => ({ key, value: "" })),
      ],
      item: [...folders].map(([name, item]) => ({ name, item })),
    },
    null,
    1,
  )}\n`,
);
