import type { Clock } from "../clock.ts";

/** Something an executor waits for. */
export interface Wait {
  /** Resolves when it is over and there is a place to go on in; rejects with what `cut` says. */
  readonly over: Promise<void>;
  /** When it is over by itself (milliseconds since 1970). */
  readonly until: number | undefined;
  /** It is over. */
  end(): void;
  /** It is over, and what waits gets an error. */
  cut(error: Error): void;
}

/** What the owner of some waits is told. */
export interface WaitsOptions {
  readonly clock: Pick<Clock, "nextTurn">;
  /** Nothing is left to do but wait: the place can be given back. */
  readonly onIdle: () => void;
  /** A wait is over, and there is no place to go on in: ask for one. */
  readonly onReady: () => void;
}

/**
 * What an executor that may be dropped waits for, and whether it does anything else. It has a place among the running
 * executions as long as it is busy; a wait that is over while it has none goes on when it has one again.
 */
export class Waits {
  readonly #options: WaitsOptions;
  readonly #open = new Set<Wait>();
  readonly #ready: (() => void)[] = [];
  #busy = 0;
  #hasPlace = false;
  #looking = false;

  constructor(options: WaitsOptions) {
    this.#options = options;
  }

  /** There is a place now: what was over meanwhile goes on. */
  enter(): void {
    this.#hasPlace = true;
    for (const goOn of this.#ready.splice(0)) {
      goOn();
    }
    this.#lookSoon();
  }

  /** Resolves when there is a place to go on in. */
  place(): Promise<void> | undefined {
    if (this.#hasPlace) {
      return undefined;
    }
    return new Promise((resolve) => {
      this.#ready.push(resolve);
      this.#options.onReady();
    });
  }

  /** Does something that is no waiting; it begins when there is a place. */
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

  /** Begins to wait. */
  begin(until?: number): Wait {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {}); // it may be cut before anybody looks
    const finish = (goOn: () => void) => {
      if (this.#open.delete(wait)) {
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
    this.#lookSoon();
    return wait;
  }

  /** Cuts off what is waited for. */
  cutAll(error: Error): void {
    for (const wait of [...this.#open]) {
      wait.cut(error);
    }
  }

  /** The earliest time at which a wait is over by itself. */
  get nextAt(): number | undefined {
    const times = [...this.#open].flatMap(({ until }) => (until === undefined ? [] : [until]));
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Ends the waits whose time has come. */
  wake(now: number): void {
    for (const wait of [...this.#open]) {
      if (wait.until !== undefined && wait.until <= now) {
        wait.end();
      }
    }
  }

  /** After this turn, because an executor that begins to wait may begin something else right away. */
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
