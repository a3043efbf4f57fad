import type { Clock } from "../clock.ts";

/** Something for which an executor waits. */
export interface Wait {
  /** Resolves when the wait is over and there is a slot to go on in; rejects with the error of `cut`. */
  readonly over: Promise<void>;
  /** When the wait ends by itself (milliseconds since 1970). */
  readonly until: number | undefined;
  /** Ends the wait. */
  end(): void;
  /** Ends the wait with an error. */
  cut(error: Error): void;
}

/** Options of an executor's waits. */
export interface WaitsOptions {
  readonly clock: Pick<Clock, "nextTurn">;
  /** Called when the executor only waits: its slot can be given back. */
  readonly onIdle: () => void;
  /** Called when a wait is over and there is no slot to go on in: ask for one. */
  readonly onReady: () => void;
}

/**
 * The waits of an executor that may be dropped, and whether the executor does other work. It holds a running slot as
 * long as it works. When a wait ends without a slot, the executor goes on as soon as it has a slot again.
 */
export class Waits {
  readonly #options: WaitsOptions;
  readonly #open = new Set<Wait>();
  readonly #ready: (() => void)[] = [];
  /** When the next wait ends by itself, and how many end then; undefined: not known. An executor may have thousands. */
  #next: { readonly at: number; waits: number } | undefined;
  #busy = 0;
  #hasPlace = false;
  #looking = false;

  constructor(options: WaitsOptions) {
    this.#options = options;
  }

  /** There is a slot now: waits that ended meanwhile go on. */
  enter(): void {
    this.#hasPlace = true;
    for (const goOn of this.#ready.splice(0)) {
      goOn();
    }
    this.#lookSoon();
  }

  /** Resolves when there is a slot to go on in. */
  place(): Promise<void> | undefined {
    if (this.#hasPlace) {
      return undefined;
    }
    return new Promise((resolve) => {
      this.#ready.push(resolve);
      this.#options.onReady();
    });
  }

  /** Does work that is not waiting; it begins when there is a slot. */
  async keepBusy<Result>(work: () => Promise<Result>): Promise<Result> {
    await this.place();
    this.#busy++;
    try {
      return await work();
    } finally {
      this.#busy--;
      this.#lookSoon();
    }
  }

  /** How much work there is that is not waiting. */
  get busy(): number {
    return this.#busy;
  }

  /** Begins a wait. */
  begin(until?: number): Wait {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {}); // it may be cut before code awaits it
    const finish = (goOn: () => void) => {
      if (this.#open.delete(wait)) {
        this.#forgetTime(until);
        this.#ready.push(goOn);
        if (this.#hasPlace) {
          this.enter();
        } else {
          this.#options.onReady();
        }
      }
    };
    const wait: Wait = {
      over: promise,
      until,
      end: () => finish(resolve),
      cut: (error) => finish(() => reject(error)),
    };
    this.#open.add(wait);
    this.#noteTime(until);
    this.#lookSoon();
    return wait;
  }

  #noteTime(until: number | undefined): void {
    const next = this.#next;
    if (until === undefined || next === undefined || until > next.at) return;
    if (until === next.at) next.waits += 1;
    else this.#next = { at: until, waits: 1 };
  }

  #forgetTime(until: number | undefined): void {
    const next = this.#next;
    if (next === undefined || until !== next.at) return;
    next.waits -= 1;
    if (next.waits === 0) this.#next = undefined;
  }

  /** Cuts all waits off. */
  cutAll(error: Error): void {
    for (const wait of [...this.#open]) {
      wait.cut(error);
    }
  }

  /** The executor has gone: nothing waits any more, also not for a slot. */
  close(error: Error): void {
    this.cutAll(error);
    this.enter();
  }

  /** The earliest time at which a wait ends by itself. */
  get nextAt(): number | undefined {
    this.#next ??= this.#findNext();
    return this.#next.at === Number.POSITIVE_INFINITY ? undefined : this.#next.at;
  }

  #findNext() {
    let next = { at: Number.POSITIVE_INFINITY, waits: 0 };
    for (const { until = Number.POSITIVE_INFINITY } of this.#open) {
      if (until < next.at) next = { at: until, waits: 1 };
      else if (until === next.at) next.waits += 1;
    }
    return next;
  }

  /** Ends the waits whose time has come. */
  wake(now: number): void {
    for (const wait of [...this.#open]) {
      if (wait.until !== undefined && wait.until <= now) {
        wait.end();
      }
    }
  }

  /**
   * Looks in the next turn of the event loop, because an executor that begins to wait may begin other work right away.
   */
  #lookSoon(): void {
    if (this.#looking || this.#open.size === 0) {
      return;
    }
    this.#looking = true;
    void this.#options.clock.nextTurn().then(() => {
      this.#looking = false;
      if (this.#hasPlace && this.#busy === 0 && this.#open.size > 0 && this.#ready.length === 0) {
        this.#hasPlace = false;
        this.#options.onIdle();
      }
    });
  }
}
