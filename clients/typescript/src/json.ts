import { naira, nairaNumber } from "./money.js";

// A text comes first, so that digits inside a text are not taken for a number.
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

type Places = readonly string[] | ((value: never) => readonly string[]);

/**
 * Reads a JSON text. Money at the given places becomes kobo, made from the digits of the text: no
 * amount passes through a floating-point number.
 */
export function decode(text: string, places: Places): unknown {
  const value: unknown = JSON.parse(text);
  const all = typeof places === "function" ? places(value as never) : places;
  if (all.length === 0) return value;
  const digits: unknown = JSON.parse(text.replace(token, (t) => (t.startsWith('"') ? t : `"${t}"`)));
  for (const place of all) convert(value, digits, place.split("/"));
  return value;
}

type Node = Record<string, unknown>;

function convert(value: unknown, digits: unknown, [name = "", ...rest]: string[]): void {
  if (typeof value !== "object" || value === null) return;
  const [at, from] = [value as Node, digits as Node];
  for (const key of name === "*" ? Object.keys(at) : [name]) {
    if (rest.length > 0) convert(at[key], from[key], rest);
    else if (at[key] !== undefined && at[key] !== null) at[key] = naira(from[key] as string);
  }
}

/** Writes JSON. A bigint is an amount in kobo, and becomes a number of naira. */
export function encode(value: unknown): string {
  if (typeof value === "bigint") return nairaNumber(value);
  if (Array.isArray(value)) return `[${value.map((v) => encode(v ?? null)).join()}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).filter(([, v]) => v !== undefined);
    return `{${fields.map(([k, v]) => `${JSON.stringify(k)}:${encode(v)}`).join()}}`;
  }
  return JSON.stringify(value);
}

/** Throws if an amount of a request is not a bigint. A number might mean naira. */
export function checkMoney(value: unknown, places: readonly string[]): void {
  for (const place of places) check(value, place, place.split("/"));
}

function check(value: unknown, place: string, [name, ...rest]: string[]): void {
  if (value === undefined || value === null) return;
  if (name === undefined) {
    if (typeof value !== "bigint") throw new TypeError(`${place} must be a bigint of kobo, such as naira("1500.50")`);
  } else if (typeof value === "object") {
    for (const key of name === "*" ? Object.keys(value) : [name]) check((value as Node)[key], place, rest);
  }
}
