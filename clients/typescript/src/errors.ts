import { reasons } from "./operations.gen.js";

/** Why Kobo refused a request: a word of the header Kobo-Reason. Programs decide by it, and never by the message. */
export type Reason = (typeof reasons)[number];

const known = new Set<string>(reasons);

/** Reports whether this release of the client knows a word. */
export function isReason(word: string | undefined): word is Reason {
  return word !== undefined && known.has(word);
}

/** A response, as far as it matters to decide about it. */
export interface Answer {
  readonly status: number;
  /** The header Kobo-Reason. A response that is not Kobo's has none. */
  readonly reason: string | undefined;
  readonly requestId: string | undefined;
  /** The seconds of Retry-After. */
  readonly retryAfter: number | undefined;
  readonly text: string;
}

/** Reports whether a response is a success. */
export function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

/** A response that is not a success. */
export class KoboError extends Error {
  override readonly name = "KoboError";
  readonly status: number;
  /** Undefined if the response is not Kobo's, but for example a proxy's. */
  readonly reason: Reason | undefined;
  readonly requestId: string | undefined;
  readonly retryAfter: number | undefined;
  /** The body, as it came. */
  readonly body: string;

  constructor(answer: Answer) {
    super(`Kobo answered ${answer.status}${answer.reason ? ` ${answer.reason}` : ""}: ${messageOf(answer.text)}`);
    this.status = answer.status;
    this.reason = isReason(answer.reason) ? answer.reason : undefined;
    this.requestId = answer.requestId;
    this.retryAfter = answer.retryAfter;
    this.body = answer.text;
  }
}

/** No response came: the connection failed, or the time was over. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
}

/** Returns the message of an error body of any of Kobo's shapes, for people to read. */
export function messageOf(text: string): string {
  const body = tryParse(text) as { message?: unknown; error?: unknown; details?: unknown } | undefined;
  const message = body?.message ?? body?.error;
  if (typeof message !== "string") return text.slice(0, 200);
  return Array.isArray(body?.details) ? `${message}: ${body.details.join("; ")}` : message.trim();
}

export function tryParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
