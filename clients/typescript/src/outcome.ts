import { type Answer, isReason, isSuccess, messageOf, type Reason, tryParse } from "./errors.js";
import type { Exchange } from "./transport.js";

/** The money has moved. */
export interface Succeeded<T> {
  readonly outcome: "succeeded";
  readonly reference: string;
  readonly data: T;
}

/** The request was refused for good: nothing was debited, or the money is back. */
export interface Declined {
  readonly outcome: "declined";
  /** Decide by this word. */
  readonly reason: Reason;
  /** The message for people. It may change. */
  readonly message: string;
  readonly reference: string | undefined;
  readonly requestId: string | undefined;
}

/** Nobody knows yet whether the money has moved. Never send the payment again with a new key: follow it. */
export interface Unknown<T> {
  readonly outcome: "unknown";
  /** The Idempotency-Key. The same call with this key continues the request, also in another process. */
  readonly key: string;
  /** Undefined if no response of Kobo has arrived. */
  readonly reference: string | undefined;
  /**
   * Waits for the true end, however long it takes. Until Kobo has confirmed that it has the request,
   * it repeats the request with the same key. It rejects when the signal ends it, or when Kobo refuses
   * the credentials. The outcome is still unknown then.
   */
  follow(options?: { signal?: AbortSignal | undefined }): Promise<Succeeded<T> | Declined>;
}

/** The outcome of a request that moves money. A program that forgets one of the three does not compile. */
export type Outcome<T> = Succeeded<T> | Declined | Unknown<T>;

/** Calls the function of the outcome that happened. TypeScript demands all three. */
export function match<T, R>(
  outcome: Outcome<T>,
  on: { succeeded: (o: Succeeded<T>) => R; declined: (o: Declined) => R; unknown: (o: Unknown<T>) => R },
): R {
  switch (outcome.outcome) {
    case "succeeded":
      return on.succeeded(outcome);
    case "declined":
      return on.declined(outcome);
    case "unknown":
      return on.unknown(outcome);
    default:
      return forgotten(outcome);
  }
}

/** The default case of a switch over outcomes. It compiles only if the switch has a case for each of them. */
export function forgotten(outcome: never): never {
  throw new TypeError(`unknown outcome ${JSON.stringify(outcome)}`);
}

// These words say that the outcome is open, or do not say what became of the request.
const open = new Set<Reason>([
  "being_confirmed",
  "outcome_unknown",
  "request_in_progress",
  "service_unavailable",
  "internal_error",
  "idempotency_key_used",
  "idempotency_key_mismatch", // an order with this key exists
  "verification_used", // a payout with this verification exists
  "reference_used", // an order with this externalReference exists
  "unstated",
]);

// These words refuse a request before Kobo looks at its key. So they do not say what became of an earlier try.
const early = new Set<Reason>([
  "credentials_missing",
  "token_invalid",
  "refresh_token_invalid",
  "api_key_invalid",
  "api_key_expired",
  "kyb_required",
  "company_deactivated",
  "rate_limited",
  "quota_reached",
  "request_too_large",
  "path_not_found",
  "method_not_allowed",
]);

/** What a response states about a payment. */
export type Verdict<T> =
  | { readonly is: "succeeded"; readonly data: T }
  | { readonly is: "declined"; readonly reason: Reason }
  | { readonly is: "open" };

/**
 * Decides about a payment by status and Kobo-Reason. Everything that is not a definite word of Kobo is
 * open: a 5xx, a redirect, a refusal without a word, a word that this release does not know.
 */
export function verdict<T>(answer: Answer, data: T | undefined, doubt: boolean): Verdict<T> {
  const { status, reason } = answer;
  if (isSuccess(answer)) {
    if (reason === "declined") return { is: "declined", reason };
    const state = (data as { status?: string } | undefined)?.status ?? "SUCCESS";
    // The data of a 202 is an approval that waits.
    return status === 200 && reason === undefined && data !== undefined && state === "SUCCESS" ? { is: "succeeded", data } : { is: "open" };
  }
  if (status < 400 || status >= 500 || !isReason(reason)) return { is: "open" };
  if (open.has(reason) || (doubt && early.has(reason))) return { is: "open" };
  return { is: "declined", reason };
}

/** Returns the reference that a response to a payment names. */
export function referenceOf(data: unknown): string | undefined {
  const d = data as { reference?: unknown; transactionId?: unknown } | null | undefined;
  const reference = d?.reference ?? d?.transactionId;
  return typeof reference === "string" ? reference : undefined;
}

/** Builds a Declined. */
export function declined(answer: Answer, reason: Reason): Declined {
  const body = tryParse(answer.text) as { data?: unknown } | undefined;
  return {
    outcome: "declined",
    reason,
    message: messageOf(answer.text),
    reference: referenceOf(body?.data),
    requestId: answer.requestId,
  };
}

/** Reports whether no try of a request can have been carried out. */
export function neverLeft(exchange: Exchange): boolean {
  return exchange.answer === undefined && !exchange.doubt;
}
