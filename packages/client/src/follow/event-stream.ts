import { type EventIds, eventIdHeader, eventIdsKey } from "@a2a-connect/bindings";
import type { StreamResponse } from "@a2a-connect/proto";
import { type CallOptions, Code, ConnectError, createContextValues } from "@connectrpc/connect";
import type { ClientClock } from "../clock.ts";
import { SilenceError } from "../platform.ts";
import type { NumberedResponse } from "./task-tracker.ts";

/** How one connection is watched. */
export interface EventStreamOptions {
  readonly signal: AbortSignal;
  readonly clock: ClientClock;
  /** Silence that ends it. */
  readonly idleTimeoutMs: number;
}

/**
 * The messages of one connection, numbered: the response's header says the number of the first one, the others count up
 * from it (docs/streams.md). Where server-sent events have ids of their own, those count.
 *
 * @param call opens the connection
 * @throws ConnectError Unavailable after `idleTimeoutMs` of silence; whatever the call throws
 */
export async function* readEventStream(
  call: (options: CallOptions) => AsyncIterable<StreamResponse>,
  { signal, clock, idleTimeoutMs }: EventStreamOptions,
): AsyncGenerator<NumberedResponse, void> {
  const watch = new SilenceWatch(clock, idleTimeoutMs);
  const ids: EventIds = { last: "" };
  const over = new AbortController();
  let next: number | undefined;
  try {
    const messages = call({
      signal: AbortSignal.any([signal, watch.signal, over.signal]),
      contextValues: createContextValues().set(eventIdsKey, ids),
      onHeader: (header) => {
        next = parseId(header.get(eventIdHeader));
        watch.heard();
      },
    });
    for await (const response of messages) {
      watch.pause(); // what the caller takes its time for is no silence
      const id = next === undefined ? undefined : (parseId(ids.last) ?? next);
      yield { response, id };
      next = id === undefined ? undefined : id + 1;
      watch.heard();
    }
  } catch (error) {
    if (watch.signal.aborted && !signal.aborted) {
      throw new ConnectError(silenceText(idleTimeoutMs), Code.Unavailable, undefined, undefined, error);
    }
    throw error;
  } finally {
    watch.stop();
    over.abort(); // Connect's streams know no return(): whoever leaves early has to end the call
  }
}

/** Whether an error is the end of a silent connection. */
export function isSilence(error: unknown): boolean {
  return error instanceof ConnectError && error.rawMessage.startsWith(silencePrefix);
}

const silencePrefix = "nothing was heard for ";

function silenceText(ms: number): string {
  return `${silencePrefix}${ms} ms`;
}

function parseId(value: string | null): number | undefined {
  return value !== null && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}

/** Aborts after a time in which nothing was heard. One timer a period, not one a message. */
class SilenceWatch {
  readonly #controller = new AbortController();
  readonly #stopped = new AbortController();
  readonly #clock: ClientClock;
  readonly #limitMs: number;
  #lastMs: number;
  #paused = false;

  constructor(clock: ClientClock, limitMs: number) {
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#lastMs = clock.now();
    this.#watch().catch(() => {}); // stopped
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  heard(): void {
    this.#lastMs = this.#clock.now();
    this.#paused = false;
  }

  pause(): void {
    this.#paused = true;
  }

  stop(): void {
    this.#stopped.abort();
  }

  async #watch(): Promise<void> {
    for (;;) {
      const waited = this.#paused ? 0 : this.#clock.now() - this.#lastMs;
      if (waited >= this.#limitMs) {
        this.#controller.abort(new SilenceError("nothing was heard"));
        return;
      }
      await this.#clock.sleep(this.#limitMs - waited, this.#stopped.signal);
    }
  }
}
