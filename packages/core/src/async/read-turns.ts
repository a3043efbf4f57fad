import { Code, ConnectError } from "@connectrpc/connect";

/** For which call something is read. */
export interface Reader {
  /** The name of the caller; undefined: not known. */
  readonly share: string | undefined;
  /** Gives the call's signal, which aborts when the caller has gone; undefined: the call always waits. */
  readonly signal?: (() => AbortSignal) | undefined;
}

interface Waiting {
  readonly begin: () => void;
}

/** Turns of the event loop, by caller. */
interface Pace {
  turn(share: string | undefined): Promise<void>;
}

/**
 * Lets few reads run at a time: of the store, because each keeps what it reads in memory before a budget can count it; of
 * the resolver, because it asks for few names at a time. Half of the places at most are for one caller. Callers that wait take turns, and a call whose caller has gone reads nothing.
 */
export class ReadTurns {
  readonly #max: number;
  readonly #pace: Pace | undefined;
  #running = 0;
  readonly #runningOf = new Map<string | undefined, number>();
  /** What waits, by caller; whose turn is next comes first. */
  readonly #waiting = new Map<string | undefined, Set<Waiting>>();

  /**
   * @param max reads that run at a time: an even number
   * @param pace what a read that had to wait has a turn of. A store in memory answers at once: without turns thousands would run one
   *   after the other, and nothing in between. Undefined: each read waits for something outside
   */
  constructor(max: number, pace?: Pace) {
    this.#max = max;
    this.#pace = pace;
  }

  /** @throws ConnectError why the signal of a call that waited aborted; what `read` throws */
  async run<Result>(reader: Reader, read: () => Promise<Result>): Promise<Result> {
    const mustWait = !this.#hasPlace(reader.share);
    if (mustWait) await this.#turn(reader);
    else this.#begin(reader.share);
    try {
      if (mustWait) await this.#pace?.turn(reader.share);
      return await read();
    } finally {
      this.#end(reader.share);
    }
  }

  #hasPlace(share: string | undefined): boolean {
    const own = share === undefined ? 0 : (this.#runningOf.get(share) ?? 0);
    return this.#running < this.#max && own < this.#max / 2;
  }

  #begin(share: string | undefined): void {
    this.#running += 1;
    this.#runningOf.set(share, (this.#runningOf.get(share) ?? 0) + 1);
  }

  #end(share: string | undefined): void {
    this.#running -= 1;
    const own = (this.#runningOf.get(share) ?? 0) - 1;
    if (own > 0) this.#runningOf.set(share, own);
    else this.#runningOf.delete(share);
    for (const [next, waiting] of this.#waiting) {
      const [first] = waiting;
      if (first === undefined || !this.#hasPlace(next)) continue;
      this.#forget(next, first);
      if (waiting.size > 0) {
        this.#waiting.delete(next); // behind the others
        this.#waiting.set(next, waiting);
      }
      this.#begin(next);
      first.begin();
      return;
    }
  }

  #forget(share: string | undefined, one: Waiting): void {
    const waiting = this.#waiting.get(share);
    waiting?.delete(one);
    if (waiting?.size === 0) this.#waiting.delete(share);
  }

  #turn({ share, signal: signalOf }: Reader): Promise<void> {
    const signal = signalOf?.();
    return new Promise((resolve, reject) => {
      const gone = (): void => {
        this.#forget(share, one);
        const { reason } = signal ?? {};
        reject(
          reason instanceof ConnectError ? reason : new ConnectError("the call was canceled", Code.Canceled),
        );
      };
      const one: Waiting = {
        begin: () => {
          signal?.removeEventListener("abort", gone);
          resolve();
        },
      };
      const waiting = this.#waiting.get(share) ?? new Set();
      this.#waiting.set(share, waiting.add(one));
      if (signal?.aborted === true) gone();
      else signal?.addEventListener("abort", gone, { once: true });
    });
  }
}
