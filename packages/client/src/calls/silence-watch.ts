import { LinkedAbort } from "@a2a-connect/core/internal";
import type { ClientClock } from "../clock.ts";
import { SilenceError } from "../platform.ts";

/**
 * Ends a connection after a time of silence. It uses one timer for each period, not one for each message.
 *
 * On a stream of events only messages break the silence. Keep-alive comments of server-sent events do not, and gRPC has
 * none: they prove that the server lives, not that its events come through. A quiet task costs one GetTask each time.
 */
export class SilenceWatch {
  readonly #abort: LinkedAbort;
  readonly #clock: ClientClock;
  readonly #limitMs: number;
  #lastMs: number;
  #paused = false;

  /** @param signal ends the watch, too, with its own reason */
  constructor(clock: ClientClock, limitMs: number, signal: AbortSignal | undefined) {
    this.#abort = new LinkedAbort(signal);
    this.#clock = clock;
    this.#limitMs = limitMs;
    this.#lastMs = clock.now();
    this.#watch().catch(() => {}); // stopped
  }

  /** Aborts when the watch ends: after silence, by `stop`, or by the signal that it was given. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Whether it has ended after silence. */
  get isSilent(): boolean {
    return this.signal.reason instanceof SilenceError;
  }

  /** A message came, or is waited for: the time begins anew. */
  heard(): void {
    this.#lastMs = this.#clock.now();
    this.#paused = false;
  }

  /** No message is expected until the next `heard`. */
  pause(): void {
    this.#paused = true;
  }

  /** The signal that it was given ends it no more. */
  outliveCaller(): void {
    this.#abort[Symbol.dispose]();
  }

  /** Ends the watch, and the connection. Call it in any case. */
  stop(): void {
    this.#abort.abort(isStopped);
    this.#abort[Symbol.dispose]();
  }

  async #watch(): Promise<void> {
    for (;;) {
      const waited = this.#paused ? 0 : this.#clock.now() - this.#lastMs;
      if (waited >= this.#limitMs) {
        this.#abort.abort(new SilenceError("nothing was heard"));
        return;
      }
      await this.#clock.sleep(this.#limitMs - waited, this.signal);
    }
  }
}

/** An abort without a reason creates one each time, with a stack. */
const isStopped = new Error("the connection is not needed any more");
