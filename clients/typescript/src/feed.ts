import { KoboError } from "./errors.js";
import { referenceOf } from "./outcome.js";
import { backoff, during, sleep } from "./transport.js";
import type { KoboEvent } from "./types.js";

/** Asks for the events after a sequence, and waits so many seconds for one. */
export type Ask = (after: number, wait: number, limit: number, signal?: AbortSignal) => Promise<{ data: KoboEvent[]; hasMore: boolean }>;

/**
 * Where a consumer of events is. A place in the consumer's own database can be stored in the
 * transaction of the event's effect: then the effect happens exactly once.
 */
export interface Place {
  /** Returns the sequence of the last event that was processed, or undefined before the first. */
  load(): Promise<number | undefined>;
  /** Stores the sequence of an event that was processed. */
  save(sequence: number): Promise<void>;
}

const waitSeconds = 25;
const pageSize = 1000;
// A follower that gets no events looks at its payment this often.
const lookMs = 30_000;

/** See Client.events. */
export async function* readEvents(ask: Ask, place: Place, signal?: AbortSignal): AsyncGenerator<KoboEvent, void, undefined> {
  let last = (await place.load()) ?? 0;
  for (let failures = 0; ; ) {
    let page: KoboEvent[];
    try {
      page = (await ask(last, waitSeconds, pageSize, signal)).data;
      failures = 0;
    } catch (error) {
      if (signal?.aborted) return;
      // What Kobo refuses for good is the caller's to solve; everything else passes.
      if (error instanceof KoboError && error.status < 500 && error.status !== 429) throw error;
      await sleep(backoff(failures++), signal).catch(() => undefined);
      continue;
    }
    for (const event of page) {
      if (signal?.aborted) return;
      if (event.sequence <= last) continue; // it was processed
      if (event.sequence !== last + 1) throw new Error(`event ${event.sequence} follows ${last}: events are missing`);
      yield event;
      last = event.sequence;
      await place.save(last);
    }
    if (signal?.aborted) return;
  }
}

/** A watch of the events about one reference. */
export interface Watch {
  /** Waits for an event about the reference that came after the watch began or after the last `next`, at most 30 s. */
  next(signal?: AbortSignal): Promise<void>;
  close(): void;
}

interface Watcher {
  reference: string;
  seen: boolean;
  wake: () => void;
}

/** Feed tells followers of payments about events. All of them share one long poll, which ends with the last of them. */
export class Feed {
  readonly #ask: Ask;
  readonly #watchers = new Set<Watcher>();
  #cursor: number | undefined;
  #stop: AbortController | undefined;
  #ready: Promise<void> | undefined;

  constructor(ask: Ask) {
    this.#ask = ask;
  }

  /** Begins a watch. Every event that is written after watch returns wakes it. */
  async watch(reference: string, signal?: AbortSignal): Promise<Watch> {
    const watcher: Watcher = { reference, seen: false, wake: () => undefined };
    this.#watchers.add(watcher);
    const close = () => {
      this.#watchers.delete(watcher);
      if (this.#watchers.size === 0) this.#stop?.abort();
    };
    if (this.#stop === undefined || this.#stop.signal.aborted) {
      const stop = (this.#stop = new AbortController()).signal;
      this.#ready = this.#aim(stop).then(() => undefined, () => undefined);
      void this.#ready.then(() => this.#poll(stop));
    }
    try {
      await during(this.#ready!, lookMs, signal);
    } catch (error) {
      if (signal?.aborted) {
        close();
        throw error;
      }
    }
    return {
      close,
      next: async (own = signal) => {
        const ended = new AbortController();
        watcher.wake = () => ended.abort();
        if (watcher.seen) ended.abort();
        await sleep(lookMs, own ? AbortSignal.any([own, ended.signal]) : ended.signal).catch(() => own?.throwIfAborted());
        watcher.seen = false;
      },
    };
  }

  async #poll(stop: AbortSignal): Promise<void> {
    for (let failures = 0; !stop.aborted; ) {
      try {
        const after = await this.#aim(stop);
        const { data } = await this.#ask(after, waitSeconds, pageSize, stop);
        failures = 0;
        this.#cursor = data.at(-1)?.sequence ?? after;
        for (const event of data) this.#tell(referenceOf(event.data));
      } catch (error) {
        if (error instanceof KoboError && error.reason === "events_archived") this.#cursor = undefined;
        // A follower looks at its payment from time to time. So it needs no event, and throws the error that lasts.
        await sleep(backoff(failures++), stop).catch(() => undefined);
      }
    }
  }

  async #aim(stop: AbortSignal): Promise<number> {
    return (this.#cursor ??= await this.#head(stop));
  }

  #tell(reference: string | undefined): void {
    for (const watcher of this.#watchers) {
      if (watcher.reference !== reference) continue;
      watcher.seen = true;
      watcher.wake();
    }
  }

  /** Finds the sequence of the newest event by doubling and halving, because no operation shows it. */
  async #head(stop: AbortSignal): Promise<number> {
    let [low, high] = [0, 1];
    while (await this.#beyond(high, stop)) [low, high] = [high, high * 2];
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (await this.#beyond(middle, stop)) low = middle;
      else high = middle;
    }
    return high;
  }

  /** Reports whether there is an event after a sequence. Archived events are events. */
  async #beyond(sequence: number, stop: AbortSignal): Promise<boolean> {
    try {
      return (await this.#ask(sequence, 0, 1, stop)).data.length > 0;
    } catch (error) {
      if (error instanceof KoboError && error.reason === "events_archived") return true;
      throw error;
    }
  }
}
