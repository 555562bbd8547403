export { Client, type Options } from "./client.js";
export { ConnectionError, isReason, KoboError, type Reason } from "./errors.js";
export type { Place } from "./feed.js";
export { type Kobo, naira, nairaText } from "./money.js";
export { type Declined, forgotten, match, type Outcome, type Succeeded, type Unknown } from "./outcome.js";
export { type Proven, verifyReceipt } from "./receipt.js";
export type {
  Arguments,
  EventKind,
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
  Schemas,
} from "./types.js";
export { verifyWebhook } from "./webhook.js";
