// Writes src/contract.gen.ts and src/operations.gen.ts from the contract: the types, and for each
// operation its method, its path and the places of money in its bodies.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";
import ts from "typescript";
import { parse } from "yaml";

const contract = new URL("../../../internal/api/openapi.yaml", import.meta.url);
const source = new URL("../src/", import.meta.url);
const banner = "// Written by scripts/generate.mjs from internal/api/openapi.yaml. Do not edit.\n\n";

const kobo = ts.factory.createTypeReferenceNode("Kobo");
const nothing = ts.factory.createLiteralTypeNode(ts.factory.createNull());
const typesOf = (schema) => [schema.type ?? []].flat();

// Money is marked in the contract by its Go type. A test of the server holds that every amount is marked.
// A percentage may have this Go type too, because the server writes hundredths of a percent as it writes kobo.
const isMoney = (schema) => /^money\./.test(schema["x-go-type"] ?? "") && schema["x-percent"] !== true;

function transform(schema) {
  if (isMoney(schema)) {
    return typesOf(schema).includes("null") ? ts.factory.createUnionTypeNode([kobo, nothing]) : kobo;
  }
  // Raw JSON, such as the data of an event of any kind.
  if (schema["x-go-type"] === "json.RawMessage" && typesOf(schema).includes("object")) {
    const object = ts.factory.createKeywordTypeNode(ts.SyntaxKind.ObjectKeyword);
    return typesOf(schema).includes("null") ? ts.factory.createUnionTypeNode([object, nothing]) : object;
  }
  return undefined;
}

const document = parse(await readFile(contract, "utf8"), { merge: true, maxAliasCount: -1 });
const resolve = (node) => (node?.$ref ? { ...node.$ref.split("/").slice(1).reduce((at, key) => at[key], document), ...node } : node);

// moneyIn lists the places of money in a schema: the names on the way, and * for each element of an array.
function moneyIn(node, at = []) {
  const schema = resolve(node) ?? {};
  if (isMoney(schema)) return [at.join("/")];
  const found = ["allOf", "oneOf", "anyOf"].flatMap((key) => schema[key] ?? []).flatMap((part) => moneyIn(part, at));
  for (const [name, property] of Object.entries(schema.properties ?? {})) found.push(...moneyIn(property, [...at, name]));
  if (schema.items) found.push(...moneyIn(schema.items, [...at, "*"]));
  return [...new Set(found)];
}

// The successes of an operation. A 202 is an approval that waits, and nothing has happened yet.
const successes = (operation) => Object.entries(operation.responses).filter(([status]) => status.startsWith("2"));

// The types of refusals and of headers are left out: a client decides by Kobo-Reason.
function slim({ webhooks, ...rest }) {
  const paths = structuredClone(rest.paths);
  for (const item of Object.values(paths)) {
    for (const operation of Object.values(item)) {
      operation.responses = Object.fromEntries(successes(operation).map(([status, { headers, ...success }]) => [status, success]));
    }
  }
  const { responses, headers, ...components } = rest.components;
  return { ...rest, paths, components, webhooks };
}

const jsonOf = (body) => resolve(body)?.content?.["application/json"]?.schema;

const operations = {};
for (const [path, item] of Object.entries(document.paths)) {
  if (!path.startsWith("/api/v1/")) continue;
  for (const [method, operation] of Object.entries(item)) {
    operations[operation.operationId] = {
      method: method.toUpperCase(),
      path,
      open: operation.security?.length === 0,
      keyed: (operation.parameters ?? []).some((p) => resolve(p).name === "Idempotency-Key"),
      in: moneyIn(jsonOf(operation.requestBody)),
      out: [...new Set(successes(operation).flatMap(([, response]) => moneyIn(jsonOf(response))))],
    };
  }
}

const events = {};
for (const [kind, item] of Object.entries(document.webhooks)) {
  const [, own] = jsonOf(item.post.requestBody).allOf;
  events[kind] = moneyIn(own.properties.data);
}

const reasons = document.components.headers.Reason.schema.enum;
const lines = (object) => Object.entries(object).map(([k, v]) => `  ${JSON.stringify(k)}: ${JSON.stringify(v)},\n`).join("");

await writeFile(
  new URL("contract.gen.ts", source),
  `${banner}import type { Kobo } from "./money.js";\n\n${astToString(
    await openapiTS(structuredClone(slim(document)), { transform, defaultNonNullable: false, alphabetize: false }),
  )}`,
);
await writeFile(
  new URL("operations.gen.ts", source),
  `${banner}export interface Operation {
  readonly method: string;
  readonly path: string;
  /** The operation needs no access token. */
  readonly open: boolean;
  /** The operation takes an Idempotency-Key. */
  readonly keyed: boolean;
  /** The places of money in the request. */
  readonly in: readonly string[];
  /** The places of money in the response. */
  readonly out: readonly string[];
}

export const table = {
${lines(operations)}} satisfies Record<string, Operation>;

/** The places of money in the data of an event, by its kind. */
export const eventMoney: Record<string, readonly string[]> = {
${lines(events)}};

/** The words of the header Kobo-Reason. */
export const reasons = ${JSON.stringify(reasons, null, 2)} as const;
`,
);
