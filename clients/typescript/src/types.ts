import type { components, operations, webhooks } from "./contract.gen.js";
import type { table } from "./operations.gen.js";

/** The objects of the contract, by name. */
export type Schemas = components["schemas"];

/** The name of an operation of the contract (operationId). */
export type OperationName = keyof typeof table & keyof operations;

type Parameters<O extends OperationName> = operations[O]["parameters"];
type PathOf<O extends OperationName> = Parameters<O> extends { path: infer P } ? { path: P } : { path?: undefined };
type QueryOf<O extends OperationName> = Parameters<O> extends { query: infer Q }
  ? { query: Q }
  : Parameters<O> extends { query?: infer Q }
    ? { query?: Exclude<Q, undefined> }
    : { query?: undefined };

/** The body of a request. */
export type BodyOf<O extends OperationName> = operations[O] extends {
  requestBody: { content: { "application/json": infer B } };
}
  ? B
  : never;

/**
 * The body of a successful response. If an operation can wait for a second person of the company, the
 * body may also be that of the 202: its data is the approval that waits, and nothing has happened yet.
 */
export type ReplyOf<O extends OperationName> = BodiesOf<operations[O]["responses"]>;

type BodiesOf<R> = { [S in keyof R]: R[S] extends { content: { "application/json": infer B } } ? B : never }[keyof R];

export interface CallOptions {
  /** Ends the call. The request may have been carried out. */
  signal?: AbortSignal | undefined;
  /** The most milliseconds for the call with all its tries. */
  deadlineMs?: number | undefined;
}

export interface KeyedOptions extends CallOptions {
  /**
   * The Idempotency-Key: 4 to 250 printable ASCII characters, without a space at its ends. Store it before
   * the call: after a crash the same key continues the same request. Without it, the client makes one. A
   * key that Kobo cannot take is a TypeError, and nothing is sent.
   */
  key?: string | undefined;
}

export type Arguments<O extends OperationName> = PathOf<O> &
  QueryOf<O> &
  ([BodyOf<O>] extends [never] ? { body?: undefined } : { body: BodyOf<O> }) &
  KeyedOptions;

/** The operations that move money. They have methods of their own, which return an Outcome. */
export type MoneyOperation =
  | "sendPayout"
  | "fundCard"
  | "purchaseAirtime"
  | "purchaseData"
  | "purchaseCableTV"
  | "purchaseUtility";

/** The operations of `call`. */
export type PlainOperation = Exclude<OperationName, MoneyOperation | "generateToken" | "refreshAccessToken">;

/** The operations whose response is one page of a list. */
export type ListOperation = {
  [O in PlainOperation]: ReplyOf<O> extends { data: { data: unknown[]; meta: Schemas["ListMeta"] } } ? O : never;
}[PlainOperation];

export type ItemOf<O extends ListOperation> = ReplyOf<O> extends { data: { data: (infer T)[] } } ? T : never;

/** What an operation of `MoneyOperation` shows of itself at once. */
export interface MoneyData {
  sendPayout: Schemas["SentPayout"] | Schemas["Payout"];
  fundCard: Schemas["CardReference"] | Schemas["CardFunding"];
  purchaseAirtime: Schemas["Purchase"] | Schemas["VtuTransaction"];
  purchaseData: Schemas["Purchase"] | Schemas["VtuTransaction"];
  purchaseCableTV: Schemas["Purchase"] | Schemas["VtuTransaction"];
  purchaseUtility: Schemas["PowerPurchase"] | Schemas["VtuTransaction"];
}

/** What a dry run foresees. */
export type PreviewOf<O extends MoneyOperation> = Schemas[O extends "sendPayout" | "fundCard"
  ? "PayoutPreview"
  : "PurchasePreview"];

/** The body of a money request. The client sets the idempotencyKey of a purchase. */
export type OrderOf<O extends MoneyOperation> = Omit<BodyOf<O>, "idempotencyKey">;

/** The kind of an event. */
export type EventKind = keyof webhooks;

type EventOf<K extends EventKind> = webhooks[K]["post"] extends {
  requestBody?: { content: { "application/json": infer E } };
}
  ? E
  : never;

/** An event. Its kind, `event`, decides the type of its `data`. */
export type KoboEvent = { [K in EventKind]: EventOf<K> & { event: K } }[EventKind];
