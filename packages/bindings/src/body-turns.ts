import { afterTurn } from "@a2a-connect/core/internal";

/** Up to here a body is small: it waits for no large one, neither to be decompressed nor to become a message. */
export const smallBodyBytes: number = 64 * 1024;

/** A turn that was granted. */
export interface BodyTurn {
  /** The work is done. @returns what resolves when everything else that waits for the event loop has had its turn */
  leave(): Promise<void>;
}

/**
 * Called when its turn has come, perhaps at once: whether it takes the turn, and will `leave`. Work that is not wanted any more
 * does not.
 */
export type Begin = (turn: BodyTurn) => boolean;

/**
 * The turns in which messages are made of bodies. A message takes many times the memory of its body: of the large ones one is made
 * at a time, of the small ones as many as have 64 KiB together, and the event loop has a turn before more are. Callers take
 * turns, so that one with many bodies delays its own only.
 */
export class BodyTurns {
  readonly #small = new WorkTurns(smallBodyBytes);
  readonly #large = new WorkTurns(0);

  /**
   * @param caller its address; undefined: not known
   * @param length bytes of the body
   */
  ask(caller: string | undefined, length: number, begin: Begin): void {
    (length <= smallBodyBytes ? this.#small : this.#large).ask(caller, length, begin);
  }
}

interface Waiting {
  readonly bytes: number;
  readonly begin: Begin;
}

class WorkTurns {
  readonly #maxBytes: number;
  /** What waits, by caller; the caller whose turn is next comes first. */
  readonly #waiting = new Map<string | undefined, Waiting[]>();
  /** Of the work that has begun, until the turn of the event loop after it was done. */
  #bytes = 0;
  #begun = 0;

  /** @param maxBytes the work that has begun has no more bytes together; a single piece may have more */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  ask(caller: string | undefined, bytes: number, begin: Begin): void {
    if (this.#waiting.size === 0 && this.#hasRoom(bytes)) {
      this.#begin(bytes, begin);
      return;
    }
    const others = this.#waiting.get(caller);
    if (others === undefined) this.#waiting.set(caller, [{ bytes, begin }]);
    else others.push({ bytes, begin });
  }

  #hasRoom(bytes: number): boolean {
    return this.#begun === 0 || this.#bytes + bytes <= this.#maxBytes;
  }

  #begin(bytes: number, begin: Begin): boolean {
    const leave = (): Promise<void> =>
      new Promise((resolve) => {
        afterTurn(() => {
          this.#bytes -= bytes;
          this.#begun -= 1;
          this.#next();
          resolve();
        });
      });
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
