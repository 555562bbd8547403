import type { Schemas } from "./types.js";

/** What a receipt proves. */
export interface Proven {
  /** The name of the deployment that signed. */
  deployment: string;
  company: string;
  /** The number of the row in the company's tree, from 1. */
  row: bigint;
  /** The number of rows in the tree. */
  size: bigint;
  signedAt: string;
  /** The table of the row. Undefined if Kobo withholds the content, because a person was erased from the row. */
  table: string | undefined;
  /** The columns of the row with their values. */
  columns: Record<string, string>;
}

/**
 * Checks a receipt without a server, and returns what it proves. The key is that of `findCheckpointKey`,
 * stored when you began: a receipt proves nothing to a reader who takes the key from the same source.
 */
export async function verifyReceipt(receipt: Schemas["Receipt"], key: string): Promise<Proven> {
  const verifier = await parseKey(key);
  const deployment = await openNote(receipt.deployment.checkpoint, verifier);
  const own = await openNote(receipt.checkpoint, verifier);
  const prefix = `${verifier.name}/`;
  if (deployment.origin !== verifier.name || !own.origin.startsWith(prefix)) {
    throw new Error("the checkpoints are not of the key's deployment");
  }
  const anchor = await leafHash(utf8(own.text));
  await included(receipt.deployment.index, deployment, anchor, receipt.deployment.proof, "the deployment's tree does not contain the checkpoint");
  const leaf = fromBase64(receipt.leaf.hash);
  await included(receipt.index, own, leaf, receipt.proof, "the company's tree does not contain the row");
  const company = own.origin.slice(prefix.length);
  const proven = { deployment: verifier.name, company, row: BigInt(receipt.index) + 1n, size: own.size, signedAt: own.at };
  if (receipt.leaf.erased) {
    if (receipt.leaf.salt !== "" || receipt.leaf.content !== "") throw new Error("an erased row has no content");
    return { ...proven, table: undefined, columns: {} };
  }
  return { ...proven, ...(await rowOf(receipt.leaf, leaf, company, proven.row)) };
}

interface Verifier {
  name: string;
  hash: Uint8Array;
  key: CryptoKey;
}

interface Note {
  text: string;
  origin: string;
  size: bigint;
  root: Uint8Array;
  at: string;
}

const ed25519 = 1;

/** Reads a key in the format of signed notes: name, hash and key, with a plus sign between. */
async function parseKey(text: string): Promise<Verifier> {
  const parts = /^([^+\s]+)\+([0-9a-f]{8})\+(.+)$/.exec(text);
  const [, name = "", hash = "", key = ""] = parts ?? [];
  const bytes = parts ? fromBase64(key) : new Uint8Array();
  if (bytes.length !== 33 || bytes[0] !== ed25519) throw new Error("this is not a key of checkpoints");
  const expected = (await sha256(utf8(`${name}\n`), bytes)).slice(0, 4);
  if (hex(expected) !== hash) throw new Error("this is not a key of checkpoints: its hash is wrong");
  return { name, hash: expected, key: await crypto.subtle.importKey("raw", bytes.slice(1), { name: "Ed25519" }, false, ["verify"]) };
}

/** Verifies a signed note, and reads the checkpoint in it. */
async function openNote(note: string, by: Verifier): Promise<Note> {
  const end = note.lastIndexOf("\n\n") + 1;
  const text = note.slice(0, end);
  const [origin, size = "", root = "", at = "", ...more] = text.split("\n");
  if (end === 0 || !note.endsWith("\n") || !origin || !/^(0|[1-9]\d{0,18})$/.test(size) || !at || more.length !== 1) {
    throw new Error("this is not a checkpoint");
  }
  if (!(await signed(note.slice(end + 1), text, by))) throw new Error("the checkpoint has no signature of the key");
  return { text, origin, size: BigInt(size), root: fromBase64(root), at };
}

async function signed(signatures: string, text: string, by: Verifier): Promise<boolean> {
  for (const line of signatures.split("\n")) {
    const [, name, base64 = ""] = /^\u2014 (\S+) (\S+)$/.exec(line) ?? [];
    if (name !== by.name) continue;
    const bytes = fromBase64(base64);
    if (hex(bytes.slice(0, 4)) !== hex(by.hash)) continue; // the signature of another key
    return crypto.subtle.verify({ name: "Ed25519" }, by.key, bytes.slice(4), utf8(text));
  }
  return false;
}

/** Checks an inclusion proof (RFC 6962, section 2.1.1). */
async function included(at: number, tree: Note, leaf: Uint8Array, proof: readonly string[], message: string): Promise<void> {
  if (!Number.isSafeInteger(at) || at < 0 || BigInt(at) >= tree.size) throw new Error(message);
  let index = BigInt(at);
  let last = tree.size - 1n;
  let hash = leaf;
  for (const sibling of proof.map(fromBase64)) {
    if (last === 0n || sibling.length !== 32) throw new Error(message);
    if (index % 2n === 1n || index === last) {
      hash = await nodeHash(sibling, hash);
      while (index % 2n === 0n && index !== 0n) [index, last] = [index >> 1n, last >> 1n];
    } else {
      hash = await nodeHash(hash, sibling);
    }
    [index, last] = [index >> 1n, last >> 1n];
  }
  if (last !== 0n || hex(hash) !== hex(tree.root)) throw new Error(message);
}

/** Reads the columns of a row, and checks that the row has the hash, the company and the number. */
async function rowOf(leaf: Schemas["ReceiptLeaf"], hash: Uint8Array, company: string, row: bigint) {
  const content = fromBase64(leaf.content);
  // The salt has a fixed length, so the data of a leaf can be divided in one way only.
  if (leaf.salt.length !== 22 || hex(await leafHash(join(utf8(leaf.salt), content))) !== hex(hash)) {
    throw new Error("the row has other content than its hash");
  }
  const [table, ...texts] = textsIn(content);
  if (table === undefined || texts.length % 2 !== 0) throw new Error("the content is not that of a row");
  const columns: Record<string, string> = {};
  for (let i = 0; i < texts.length; i += 2) columns[texts[i]!] = texts[i + 1]!;
  if ((columns["company_id"] ?? company) !== company || (columns["leaf"] ?? `${row}`) !== `${row}`) {
    throw new Error("the row is of another place in the tree");
  }
  return { table, columns };
}

// textsIn reads texts that each stand after their length, a base-128 number as in Protocol Buffers.
function textsIn(content: Uint8Array): string[] {
  const texts: string[] = [];
  for (let at = 0; at < content.length; ) {
    let [length, unit] = [0, 1];
    for (let more = true; more; unit *= 128) {
      const byte = content[at++] ?? Number.NaN;
      length += (byte % 128) * unit;
      more = byte >= 128;
    }
    if (!(length <= content.length - at)) throw new Error("a text is longer than the content");
    texts.push(new TextDecoder("utf-8", { ignoreBOM: true }).decode(content.subarray(at, at + length)));
    at += length;
  }
  return texts;
}

const leafHash = (data: Uint8Array) => sha256(Uint8Array.of(0), data);
const nodeHash = (left: Uint8Array, right: Uint8Array) => sha256(Uint8Array.of(1), left, right);
const utf8 = (text: string) => new TextEncoder().encode(text);
const hex = (bytes: Uint8Array) => Array.from(bytes, (b) => b.toString(16).padStart(2, "0")).join("");

async function sha256(...parts: Uint8Array[]) {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", join(...parts)));
}

function join(...parts: Uint8Array[]) {
  const all = new Uint8Array(parts.reduce((n, p) => n + p.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

// fromBase64 refuses a text that is not exactly what its bytes encode to.
function fromBase64(text: string) {
  let binary: string | undefined;
  try {
    binary = atob(text);
  } catch {
    binary = undefined;
  }
  if (binary === undefined || btoa(binary) !== text) throw new Error("this is not base64");
  return Uint8Array.from(binary, (c) => c.charCodeAt(0));
}
