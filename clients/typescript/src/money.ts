/**
 * An amount of Nigerian money in kobo, its smallest unit. 100 kobo are one naira. It is a bigint, so
 * arithmetic is exact, and TypeScript refuses to mix it with a number.
 */
export type Kobo = bigint;

/** Reads naira in decimal digits, such as "1500", "1500.5" or "1500.50". More than two decimals are an error. */
export function naira(text: string): Kobo {
  const parts = /^(-?)(\d+)(?:\.(\d{1,2})0*)?$/.exec(text);
  if (!parts) throw new RangeError(`${JSON.stringify(text)} is not an amount in naira`);
  const [, sign, whole = "", cents = ""] = parts;
  const kobo = BigInt(whole + cents.padEnd(2, "0"));
  return sign ? -kobo : kobo;
}

/** Writes an amount as naira with two decimals, such as "1500.00". */
export function nairaText(kobo: Kobo): string {
  const digits = (kobo < 0n ? -kobo : kobo).toString().padStart(3, "0");
  return `${kobo < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

/** Writes an amount as the JSON number of naira that Kobo expects: whole naira have no fraction. */
export function nairaNumber(kobo: Kobo): string {
  return nairaText(kobo).replace(/\.00$/, "");
}
