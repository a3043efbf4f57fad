import { setImmediate } from "node:timers";
/** A turn that was granted. */
export interface BodyTurn {
  /** The work is done. */
  leave(): void;
}

/**
 * Called when its turn has come, perhaps at once: whether it takes the turn, and will `leave`. Work that is not wanted any more
 * does not.
 */
export type Begin = (turn: BodyTurn) => boolean;

interface Waiting {
  readonly bytes: number;
  readonly begin: Begin;
}

/**
 * Lets a little work at a time begin, and the event loop have a turn before more does. Callers take turns, so that one with much to
 * do delays its own work only.
 */
export class BodyTurns {
  /** Bytes of one piece of work that waits here. */
  readonly maxBytes: number;
  /** What waits, by caller; the caller whose turn is next comes first. */
  readonly #waiting = new Map<string, Waiting[]>();
  /** Of the work that has begun, until the turn of the event loop after it was done. */
  #bytes = 0;
  #begun = 0;

  /** @param maxBytes the work that has begun has no more bytes together; a single piece may have more */
  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
  }

  /**
   * @param caller its address
   * @param bytes how much work it is
   */
  ask(caller: string, bytes: number, begin: Begin): void {
    if (this.#waiting.size === 0 && this.#hasRoom(bytes)) {
      this.#begin(bytes, begin);
      return;
    }
    const others = this.#waiting.get(caller);
    if (others === undefined) this.#waiting.set(caller, [{ bytes, begin }]);
    else others.push({ bytes, begin });
  }

  #hasRoom(bytes: number): boolean {
    return this.#begun === 0 || this.#bytes + bytes <= this.maxBytes;
  }

  #begin(bytes: number, begin: Begin): boolean {
    const leave = (): void => {
      setImmediate(() => {
        this.#bytes -= bytes;
        this.#begun -= 1;
        this.#next();
      });
    };
    if (!begin({ leave })) return false;
    this.#bytes += bytes;
    this.#begun += 1;
    return true;
  }

  #next(): void {
    for (const [caller, works] of this.#waiting) {
      const [first] = works;
      if (first !== undefined && !this.#hasRoom(first.bytes)) return;
      this.#waiting.delete(caller);
      for (let work = works.shift(); work !== undefined; work = works.shift()) {
        if (this.#begin(work.bytes, work.begin)) break;
      }
      if (works.length > 0) this.#waiting.set(caller, works); // behind the others
    }
  }
}
