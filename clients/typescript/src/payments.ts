import { KoboError, tryParse } from "./errors.js";
import type { Feed } from "./feed.js";
import { type Declined, declined, neverLeft, type Outcome, referenceOf, type Succeeded, type Unknown, verdict } from "./outcome.js";
import { type Exchange, backoff, mayPass, sleep } from "./transport.js";
import type { Given } from "./client.js";
import type { KeyedOptions, MoneyData, MoneyOperation, OperationName, OrderOf } from "./types.js";

/** What payments need from the client. */
export interface Sender {
  send(operation: OperationName, given: Given): Promise<{ exchange: Exchange; value: unknown }>;
  find(operation: OperationName, path: object, signal: AbortSignal | undefined): Promise<{ exchange: Exchange; value: unknown }>;
  feed: Feed;
}

// Where the present state of a payment is.
const states = {
  sendPayout: (reference: string) => ["findPayout", { reference }] as const,
  fundCard: (reference: string) => ["findCardTransaction", { reference }] as const,
  purchaseAirtime: (transactionId: string) => ["findVtuTransaction", { transactionId }] as const,
  purchaseData: (transactionId: string) => ["findVtuTransaction", { transactionId }] as const,
  purchaseCableTV: (transactionId: string) => ["findVtuTransaction", { transactionId }] as const,
  purchaseUtility: (transactionId: string) => ["findVtuTransaction", { transactionId }] as const,
} satisfies Record<MoneyOperation, (reference: string) => readonly [OperationName, object]>;

/** Payments sends requests that move money, and follows them to their true end. */
export class Payments {
  readonly #client: Sender;

  constructor(client: Sender) {
    this.#client = client;
  }

  /** Returns the body of a request. A purchase has its key in the body too. */
  bodyOf<O extends MoneyOperation>(operation: O, order: OrderOf<O>, key: string): object {
    return operation.startsWith("purchase") ? { ...order, idempotencyKey: key } : order;
  }

  /**
   * Sends a request that moves money. It throws only if no try of it can have left: then this call has
   * moved nothing.
   */
  async pay<O extends MoneyOperation>(operation: O, order: OrderOf<O>, options: KeyedOptions = {}): Promise<Outcome<MoneyData[O]>> {
    const key = options.key ?? crypto.randomUUID();
    // The request of a later repetition is the request of now, whatever the caller does with the object.
    const body = structuredClone(this.bodyOf(operation, order, key));
    const { exchange, value } = await this.#client.send(operation, { ...options, key, body });
    if (neverLeft(exchange)) {
      options.signal?.throwIfAborted();
      throw exchange.failure;
    }
    // With the caller's own key, an earlier process may have sent the request.
    const doubt = exchange.doubt || options.key !== undefined;
    return this.#outcome(operation, body, key, { ...exchange, doubt }, (value as { data?: MoneyData[O] } | undefined)?.data);
  }

  #outcome<O extends MoneyOperation>(operation: O, body: object, key: string, exchange: Exchange, data: MoneyData[O] | undefined): Outcome<MoneyData[O]> {
    const { answer, doubt } = exchange;
    const found = answer && verdict(answer, data, doubt);
    if (found?.is === "succeeded") return { outcome: "succeeded", reference: referenceOf(found.data) ?? "", data: found.data };
    if (answer && found?.is === "declined") return declined(answer, found.reason);
    const refused = tryParse(answer?.text ?? "") as { data?: unknown } | undefined;
    // A verification pays once, and the payout has its ID.
    const earlier = answer?.reason === "verification_used" ? (body as { verify_id?: string }).verify_id : undefined;
    return this.#unknown(operation, body, key, earlier ?? referenceOf(data ?? refused?.data));
  }

  #unknown<O extends MoneyOperation>(operation: O, body: object, key: string, reference: string | undefined): Unknown<MoneyData[O]> {
    return {
      outcome: "unknown",
      key,
      reference,
      follow: ({ signal } = {}) => this.#follow(operation, body, key, reference, signal),
    };
  }

  async #follow<O extends MoneyOperation>(
    operation: O,
    body: object,
    key: string,
    reference: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<Succeeded<MoneyData[O]> | Declined> {
    for (let n = 0; reference === undefined; n++) {
      const { exchange, value } = await this.#client.send(operation, { key, body, signal });
      signal?.throwIfAborted();
      // An earlier call may have left, so a refusal that came before the look at the key is not its end.
      const doubtful = { ...exchange, doubt: true };
      const now = this.#outcome(operation, body, key, doubtful, (value as { data?: MoneyData[O] } | undefined)?.data);
      if (now.outcome !== "unknown") return now;
      if (now.reference === undefined) {
        refuseLasting(exchange);
        const { retryAfter } = exchange.answer ?? (exchange.failure as Partial<KoboError> | undefined) ?? {};
        await sleep(retryAfter === undefined ? backoff(n) : Math.min(retryAfter, 60) * 1000, signal);
      }
      reference = now.reference;
    }
    return this.#end(operation, reference, signal);
  }

  /** Waits until a payment that Kobo knows is over. An event about it ends each wait. */
  async #end<O extends MoneyOperation>(operation: O, reference: string, signal: AbortSignal | undefined): Promise<Succeeded<MoneyData[O]> | Declined> {
    const watch = await this.#client.feed.watch(reference, signal);
    try {
      for (;;) {
        signal?.throwIfAborted();
        const [find, path] = states[operation](reference);
        const { exchange, value } = await this.#client.find(find, path, signal);
        signal?.throwIfAborted();
        const { answer } = exchange;
        if (answer?.status === 200) {
          const data = (value as { data?: MoneyData[O] } | undefined)?.data;
          const found = verdict(answer, data, false);
          if (found.is === "succeeded") return { outcome: "succeeded", reference, data: found.data };
          if (found.is === "declined") return { ...declined(answer, found.reason), message: failureOf(data), reference };
        }
        refuseLasting(exchange);
        await watch.next(signal);
      }
    } finally {
      watch.close();
    }
  }
}

// refuseLasting throws if Kobo refuses to show the outcome, for example because the API key is revoked.
// A refusal of a new access token is the failure of the exchange, and may pass too.
function refuseLasting({ answer, failure }: Exchange): void {
  if (failure instanceof KoboError && !mayPass(failure)) throw failure;
  if (answer && answer.status >= 300 && answer.status < 500 && answer.status !== 429 && answer.reason !== "request_in_progress") {
    if (answer.reason !== "being_confirmed" && answer.reason !== "outcome_unknown") throw new KoboError(answer);
  }
}

// failureOf returns the provider's message of a payment without success.
function failureOf(data: unknown): string {
  const d = data as { failureReason?: string | null; message?: string | null } | undefined;
  return d?.failureReason ?? d?.message ?? "";
}
