// These programs forget the unknown. The test demands that tsc refuses each of the marked lines, and no other.
import type { Client, Outcome, Schemas } from "../../src/index.js";
import { forgotten, match, naira } from "../../src/index.js";

type Paid = Outcome<Schemas["Purchase"]>;

export function noCase(outcome: Paid): string {
  switch (outcome.outcome) {
    case "succeeded":
      return outcome.data.transactionId;
    case "declined":
      return outcome.reason;
    default:
      return forgotten(outcome); // refused: TS2345
  }
}

export function noEnd(outcome: Paid): string { // refused: TS2366
  switch (outcome.outcome) {
    case "succeeded":
      return outcome.data.transactionId;
    case "declined":
      return outcome.reason;
  }
}

export function elseIsNo(outcome: Paid): string {
  return outcome.outcome === "succeeded" ? outcome.data.transactionId : outcome.reason; // refused: TS2339
}

export function takesItAsPaid(outcome: Paid): string {
  return outcome.data.transactionId; // refused: TS2339
}

export function noFunction(outcome: Paid): string {
  return match(outcome, { succeeded: (o) => o.data.transactionId, declined: (o) => o.reason }); // refused: TS2345
}

export function plainCall(client: Client): unknown {
  return client.call("sendPayout", { body: { verify_id: "x", amount: naira("1") } }); // refused: TS2345
}

export function floatMoney(client: Client): unknown {
  return client.payout({ verify_id: "x", amount: 10.5 }); // refused: TS2322
}

export function complete(outcome: Paid): string {
  switch (outcome.outcome) {
    case "succeeded":
      return outcome.data.transactionId;
    case "declined":
      return outcome.reason;
    case "unknown":
      return outcome.key;
    default:
      return forgotten(outcome);
  }
}
