import { type Answer, ConnectionError } from "./errors.js";
import { type Operation, table } from "./operations.gen.js";
import type { Tokens } from "./tokens.js";

/** A request that can be sent again as it is. */
export interface Order {
  readonly operation: Operation;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

/** The result of all tries of a request. */
export interface Exchange {
  /** The last response. Undefined if the last try had none. */
  readonly answer: Answer | undefined;
  /** Why the last try had no response. */
  readonly failure: Error | undefined;
  /** An earlier or the last try may have been carried out without a response that says so. */
  readonly doubt: boolean;
}

// After these words the same request, with the same key, may succeed later.
const temporary = new Set(["rate_limited", "request_in_progress", "outcome_unknown", "service_unavailable", "internal_error"]);

// These give tokens, however often they are asked. The other open operation, claimKey, works once.
const exchanges: readonly Operation[] = [table.generateToken, table.refreshAccessToken];

const firstPause = 200;
const longestPause = 5_000;

export class Transport {
  readonly #fetch: typeof fetch;
  readonly #tryMs: number;
  tokens: Tokens | undefined;

  constructor(fetcher: typeof fetch, tryMs: number) {
    this.#fetch = fetcher;
    this.#tryMs = tryMs;
  }

  /**
   * Sends a request until it has a lasting response or the deadline is near. It repeats only what is
   * safe to repeat: reads, deletions, requests with an Idempotency-Key, and exchanges of tokens.
   */
  async exchange(order: Order, deadlineMs: number, signal?: AbortSignal): Promise<Exchange> {
    const end = Date.now() + deadlineMs;
    const repeatable = order.operation.method !== "POST" || order.operation.keyed || exchanges.includes(order.operation);
    let doubt = false;
    let refused: string | undefined;
    for (let n = 0; ; n++) {
      let answer: Answer | undefined;
      let failure: Error | undefined;
      let token: string | undefined;
      if (signal?.aborted) return { answer, failure: new ConnectionError("the call was ended", { cause: signal.reason }), doubt };
      try {
        token = order.operation.open ? undefined : await during(this.tokens!.get(refused), end - Date.now(), signal);
      } catch (error) {
        return { answer: undefined, failure: error as Error, doubt };
      }
      try {
        answer = await this.#once(order, token, Math.min(this.#tryMs, end - Date.now()), signal);
        doubt ||= answer.status >= 500 || answer.reason === "request_in_progress" || answer.reason === "outcome_unknown";
      } catch (error) {
        failure = error as Error;
        doubt = true;
      }
      const last = { answer, failure, doubt };
      if (signal?.aborted) return last;
      if (answer?.reason === "token_invalid" && refused === undefined) {
        refused = token;
        continue;
      }
      if (!(repeatable ? mayPass(answer) : answer?.reason === "rate_limited")) return last;
      const pause = answer?.retryAfter === undefined ? backoff(n) : answer.retryAfter * 1000;
      if (Date.now() + pause >= end) return last;
      try {
        await sleep(pause, signal);
      } catch {
        return last;
      }
    }
  }

  async #once(order: Order, token: string | undefined, ms: number, signal?: AbortSignal): Promise<Answer> {
    const timeout = AbortSignal.timeout(Math.max(1, ms));
    const headers = { ...order.headers, ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }) };
    try {
      const response = await this.#fetch(order.url, {
        method: order.operation.method,
        headers,
        // A redirect would carry the token, or the money, to another place. It is an answer like any other.
        redirect: "manual",
        signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
        ...(order.body === undefined ? {} : { body: order.body }),
      });
      const text = await response.text();
      return {
        status: response.status,
        reason: response.headers.get("Kobo-Reason") ?? undefined,
        requestId: response.headers.get("X-Request-Id") ?? undefined,
        retryAfter: seconds(response.headers.get("Retry-After")),
        text,
      };
    } catch (error) {
      throw new ConnectionError(`${order.operation.method} ${order.operation.path}: no response`, { cause: error });
    }
  }
}

/** Reports whether the same request may have another response later. */
export function mayPass(answer: Pick<Answer, "status" | "reason"> | undefined): boolean {
  if (answer === undefined || answer.status >= 500) return true;
  return answer.reason === undefined ? answer.status === 429 : temporary.has(answer.reason);
}

function seconds(header: string | null): number | undefined {
  return header !== null && /^\d{1,9}$/.test(header) ? Number(header) : undefined;
}

/** Returns the milliseconds to wait after the nth failure: twice as long each time, with a random part. */
export function backoff(n: number): number {
  return Math.min(firstPause * 2 ** n, longestPause) * (0.5 + Math.random() / 2);
}

/** Waits, or rejects when the signal ends it. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** Waits for work that others share. The end of this wait does not end the work. */
export async function during<T>(work: Promise<T>, ms: number, signal?: AbortSignal): Promise<T> {
  const over = new AbortController();
  const wait = signal ? AbortSignal.any([signal, over.signal]) : over.signal;
  const late = sleep(Math.max(1, ms), wait).then(() => {
    throw new ConnectionError("the time is over");
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort();
    late.catch(() => undefined);
  }
}
