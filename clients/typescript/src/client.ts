import { ConnectionError, isSuccess, KoboError } from "./errors.js";
import { Feed, readEvents, type Place } from "./feed.js";
import { checkMoney, decode, encode } from "./json.js";
import { eventMoney, type Operation, table } from "./operations.gen.js";
import { Payments } from "./payments.js";
import type { Outcome } from "./outcome.js";
import { Tokens } from "./tokens.js";
import { backoff, type Exchange, type Order, sleep, Transport } from "./transport.js";
import type {
  Arguments,
  ItemOf,
  KeyedOptions,
  KoboEvent,
  ListOperation,
  MoneyData,
  MoneyOperation,
  OperationName,
  OrderOf,
  PlainOperation,
  PreviewOf,
  ReplyOf,
} from "./types.js";

export interface Options {
  /** The address of Kobo, such as https://api.example.com. */
  baseUrl: string;
  /** The company's reference. */
  reference: string;
  /** The company's API key. It belongs on a server, and never in a browser. */
  apiKey: string;
  /** The most milliseconds for one call with all its tries. Default 60,000. */
  deadlineMs?: number;
  /** The most milliseconds for one try. Default 40,000. */
  tryMs?: number;
  /** The function that sends requests. Default: the global fetch. */
  fetch?: typeof fetch;
}

/** What can be given to an operation, as the core sees it. */
export interface Given extends KeyedOptions {
  path?: object | undefined;
  query?: object | undefined;
  header?: Record<string, string> | undefined;
  body?: unknown;
}

/** Client calls Kobo for one company. */
export class Client {
  readonly #base: string;
  readonly #deadlineMs: number;
  readonly #tryMs: number;
  readonly #transport: Transport;
  readonly #payments: Payments;

  constructor(options: Options) {
    this.#base = options.baseUrl.replace(/\/+$/, "");
    this.#deadlineMs = options.deadlineMs ?? 60_000;
    this.#tryMs = options.tryMs ?? 40_000;
    this.#transport = new Transport(options.fetch ?? ((...a) => fetch(...a)), this.#tryMs);
    const { reference, apiKey } = options;
    this.#transport.tokens = new Tokens({
      generate: () => this.#call("generateToken", { path: { reference }, header: { "x-api-key": apiKey } }),
      refresh: (refreshToken) => this.#call("refreshAccessToken", { body: { refreshToken } }),
    });
    this.#payments = new Payments({
      send: (operation, given) => this.#send(operation, given),
      find: (operation, path, signal) => this.#send(operation, { path, signal }),
      feed: new Feed((after, wait, limit, signal) => this.#feed(after, wait, limit, signal)),
    });
  }

  /**
   * Calls an operation of the contract, and returns the body of its response. It throws a KoboError
   * for every response that is not a success. A 202 is a success that waits for a second person of the
   * company: the data of the body is the approval. Money in requests and responses is a bigint of kobo.
   */
  call<O extends PlainOperation>(
    operation: O,
    ...[given]: object extends Arguments<O> ? [given?: Arguments<O>] : [given: Arguments<O>]
  ): Promise<ReplyOf<O>> {
    return this.#call(operation, (given ?? {}) as Given);
  }

  /**
   * Iterates over all items of a list, newest first. An item that moves to the next page meanwhile comes once.
   * If an item leaves the list meanwhile, because its outcome is known or because it has not the status of the
   * filter any more, the older ones move to earlier pages, and one of these may be skipped.
   */
  async *list<O extends ListOperation>(
    operation: O,
    ...[given]: object extends Arguments<O> ? [given?: Arguments<O>] : [given: Arguments<O>]
  ): AsyncGenerator<ItemOf<O>, void, undefined> {
    const rest = (given ?? {}) as Given;
    let before = new Set<string>();
    for (let page = 1; ; page++) {
      const query = { pageSize: 100, ...rest.query, page };
      const { data } = (await this.#call(operation, { ...rest, query })) as { data: { data: unknown[]; meta: { hasNextPage: boolean } } };
      const now = new Set<string>();
      for (const item of data.data) {
        const id = encode(item);
        now.add(id);
        if (!before.has(id)) yield item as ItemOf<O>;
      }
      if (!data.meta.hasNextPage) return;
      before = now;
    }
  }

  /** Sends a payout to an account that `validateAccount` has validated. */
  payout(order: OrderOf<"sendPayout">, options?: KeyedOptions): Promise<Outcome<MoneyData["sendPayout"]>> {
    return this.#payments.pay("sendPayout", order, options);
  }

  /** Funds a card. */
  fundCard(order: OrderOf<"fundCard">, options?: KeyedOptions): Promise<Outcome<MoneyData["fundCard"]>> {
    return this.#payments.pay("fundCard", order, options);
  }

  /** Buys airtime. */
  buyAirtime(order: OrderOf<"purchaseAirtime">, options?: KeyedOptions): Promise<Outcome<MoneyData["purchaseAirtime"]>> {
    return this.#payments.pay("purchaseAirtime", order, options);
  }

  /** Buys a data bundle. */
  buyData(order: OrderOf<"purchaseData">, options?: KeyedOptions): Promise<Outcome<MoneyData["purchaseData"]>> {
    return this.#payments.pay("purchaseData", order, options);
  }

  /** Buys a TV package. */
  buyTV(order: OrderOf<"purchaseCableTV">, options?: KeyedOptions): Promise<Outcome<MoneyData["purchaseCableTV"]>> {
    return this.#payments.pay("purchaseCableTV", order, options);
  }

  /** Pays a power company. */
  buyPower(order: OrderOf<"purchaseUtility">, options?: KeyedOptions): Promise<Outcome<MoneyData["purchaseUtility"]>> {
    return this.#payments.pay("purchaseUtility", order, options);
  }

  /** Returns what a payment would do and cost. Nothing is written, and no provider is asked. */
  async preview<O extends MoneyOperation>(operation: O, order: OrderOf<O>, options?: KeyedOptions): Promise<PreviewOf<O>> {
    const body = this.#payments.bodyOf(operation, order, options?.key ?? crypto.randomUUID());
    const reply = await this.#call(operation, { ...options, body, query: { dry_run: true } });
    return (reply as { data: unknown }).data as PreviewOf<O>;
  }

  /**
   * Iterates over the company's events in their order, and waits for new ones, until the signal ends
   * it. The next event is asked for when the last one is processed: then the place is saved. After a
   * crash the event that was being processed comes again.
   */
  events(place: Place, signal?: AbortSignal): AsyncGenerator<KoboEvent, void, undefined> {
    return readEvents((after, wait, limit, s) => this.#feed(after, wait, limit, s), place, signal);
  }

  async #feed(after: number, longest: number, limit: number, signal?: AbortSignal) {
    // A long poll must end before its try and its call do.
    const wait = Math.min(longest, Math.floor(Math.min(this.#tryMs, this.#deadlineMs) / 2000));
    const reply = await this.#call("listEvents", { query: { after, wait, limit }, signal });
    const page = (reply as { data: { data: KoboEvent[]; hasMore: boolean } }).data;
    // Kobo does not wait for less than a second. So the client waits, and does not ask again at once.
    if (longest > 0 && wait === 0 && page.data.length === 0) await sleep(backoff(2), signal);
    return page;
  }

  async #call<O extends OperationName>(operation: O, given: Given): Promise<ReplyOf<O>> {
    const { exchange, value } = await this.#send(operation, given);
    const { answer, failure } = exchange;
    if (answer === undefined) {
      given.signal?.throwIfAborted();
      throw failure;
    }
    if (!isSuccess(answer)) throw new KoboError(answer);
    if (value === undefined) throw new ConnectionError(`${operation}: the response is not the contract's`);
    return value as ReplyOf<O>;
  }

  /** Sends a request, and reads its response. The value is undefined if that is not JSON of a success. */
  async #send(operation: OperationName, given: Given): Promise<{ exchange: Exchange; value: unknown }> {
    const order = this.#order(operation, given);
    const exchange = await this.#transport.exchange(order, given.deadlineMs ?? this.#deadlineMs, given.signal);
    if (!exchange.answer || !isSuccess(exchange.answer)) return { exchange, value: undefined };
    try {
      return { exchange, value: decode(exchange.answer.text, placesOf(operation)) };
    } catch {
      return { exchange, value: undefined };
    }
  }

  #order(name: OperationName, given: Given): Order {
    const operation: Operation = table[name];
    checkMoney(given.body, operation.in);
    const headers: Record<string, string> = { Accept: "application/json", ...given.header };
    if (given.body !== undefined) headers["Content-Type"] = "application/json";
    if (given.key !== undefined && !keyShape.test(given.key)) {
      throw new TypeError("key must be 1 to 255 printable ASCII characters, without a space at its ends");
    }
    if (operation.keyed) headers["Idempotency-Key"] = given.key ?? crypto.randomUUID();
    const path = operation.path.replace(/\{(\w+)\}/g, (_, key: string) => segment((given.path as Record<string, unknown>)?.[key], key));
    const query = new URLSearchParams();
    for (const [key, value] of Object.entries(given.query ?? {})) {
      if (value !== undefined && value !== null) query.set(key, String(value));
    }
    return {
      operation,
      url: this.#base + path + (query.size > 0 ? `?${query}` : ""),
      headers,
      body: given.body === undefined ? undefined : encode(given.body),
    };
  }
}

// Kobo takes no other character, and a header loses the spaces at its ends.
const keyShape = /^[!-~]([ -~]{0,253}[!-~])?$/;

// segment writes a value as one segment of a path. A dot segment would name another path.
function segment(value: unknown, key: string): string {
  const text = value === undefined || value === null ? "" : String(value);
  if (text === "" || text === "." || text === "..") throw new TypeError(`${key} is missing`);
  return encodeURIComponent(text);
}

type Places = readonly string[] | ((value: never) => readonly string[]);

// Where the money of an event is depends on its kind.
function placesOf(operation: OperationName): Places {
  if (operation === "findEvent") return (body: { data: KoboEvent }) => placesInEvent(body.data, "data/");
  if (operation !== "listEvents") return table[operation].out;
  return (body: { data: { data: KoboEvent[] } }) => body.data.data.flatMap((event, i) => placesInEvent(event, `data/data/${i}/`));
}

/** Returns the places of money in an event. */
export function placesInEvent(event: KoboEvent, at: string): string[] {
  return (eventMoney[event.event] ?? []).map((place) => `${at}data/${place}`);
}
