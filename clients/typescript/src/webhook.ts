import { Webhook } from "standardwebhooks";
import { placesInEvent } from "./client.js";
import { decode } from "./json.js";
import type { KoboEvent } from "./types.js";

/**
 * Verifies a webhook message, and returns its event. It throws if the signature is not of one of the
 * secrets, or if the message is older than five minutes. Give both secrets during a rotation, and the
 * body exactly as it came.
 */
export function verifyWebhook(secrets: string | readonly string[], headers: Headers | Record<string, string | string[] | undefined>, body: string): KoboEvent {
  const given = headers instanceof Headers ? [...headers] : Object.entries(headers);
  const flat: Record<string, string> = {};
  for (const [name, value] of given) if (typeof value === "string") flat[name.toLowerCase()] = value;
  let failure: unknown = new TypeError("there is no webhook secret");
  for (const secret of [secrets].flat()) {
    try {
      new Webhook(secret).verify(body, flat);
    } catch (error) {
      failure = error;
      continue;
    }
    return decode(body, (event: KoboEvent) => placesInEvent(event, "")) as KoboEvent;
  }
  throw failure;
}
