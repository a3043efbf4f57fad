import { afterTurn } from "@a2a-connect/core/internal";

/** Up to here a body is small: it waits for no large one, neither to be decompressed nor to become a message. */
export const smallBodyBytes: number = 64 * 1024;

/** A turn that was granted. */
export interface BodyTurn {
  /** The work is done. @returns what resolves when everything else that waits for the event loop has had its turn */
  leave(): Promise<void>;
}

/** Called when its turn has come, perhaps at once. */
export type Begin = (turn: BodyTurn) => void;

/**
 * Callers of which one large body each becomes a message at a time. The slices of that wait for other work, so that it takes a second
 * in a busy process: no other caller waits for it.
 */
const maxLargeCallers = 4;

/**
 * The turns in which messages are made of bodies. A message takes many times the memory of its body: of the large ones one of each
 * caller is made at a time, of the small ones as many as have 64 KiB together, and the event loop has a turn before more are. Callers
 * take turns, so that one with many bodies delays its own only.
 */
export class BodyTurns {
  readonly #small = new Turns(smallBodyBytes, smallBodyBytes);
  readonly #large = new Turns(maxLargeCallers, 1);

  /**
   * @param caller its address; undefined: not known
   * @param length bytes of the body
   * @returns call it when the turn is not wanted any more: then a body that waits leaves the line
   */
  ask(caller: string | undefined, length: number, begin: Begin): () => void {
    return length <= smallBodyBytes
      ? this.#small.ask(caller, length, begin)
      : this.#large.ask(caller, 1, begin);
  }
}

interface Waiting {
  readonly size: number;
  readonly begin: Begin;
}

/** Lets so much begin at a time, until the turn of the event loop after it was done. */
class Turns {
  readonly #max: number;
  readonly #maxOfOne: number;
  #begun = 0;
  readonly #begunOf = new Map<string | undefined, number>();
  /** What waits, by caller; the caller whose turn is next comes first. */
  readonly #waiting = new Map<string | undefined, Set<Waiting>>();

  constructor(max: number, maxOfOne: number) {
    this.#max = max;
    this.#maxOfOne = maxOfOne;
  }

  ask(caller: string | undefined, size: number, begin: Begin): () => void {
    const one: Waiting = { size, begin };
    const waiting = this.#waiting.get(caller) ?? new Set();
    this.#waiting.set(caller, waiting.add(one));
    this.#next();
    return () => this.#leave(caller, one);
  }

  #leave(caller: string | undefined, one: Waiting): void {
    const waiting = this.#waiting.get(caller);
    waiting?.delete(one);
    if (waiting?.size === 0) this.#waiting.delete(caller);
  }

  #next(): void {
    for (const [caller, waiting] of this.#waiting) {
      const [first] = waiting;
      if (first === undefined || this.#begun + first.size > this.#max) return;
      if (this.#countOf(caller) + first.size > this.#maxOfOne) continue;
      this.#waiting.delete(caller);
      waiting.delete(first);
      if (waiting.size > 0) this.#waiting.set(caller, waiting); // behind the others
      this.#begin(caller, first);
    }
  }

  #begin(caller: string | undefined, { size, begin }: Waiting): void {
    this.#count(caller, size);
    const end = (): void => {
      this.#count(caller, -size);
      this.#next();
    };
    begin({
      leave: () =>
        new Promise((resolve) => {
          afterTurn(() => {
            end();
            resolve();
          });
        }),
    });
  }

  #countOf(caller: string | undefined): number {
    return this.#begunOf.get(caller) ?? 0;
  }

  #count(caller: string | undefined, change: number): void {
    this.#begun += change;
    const own = this.#countOf(caller) + change;
    if (own > 0) this.#begunOf.set(caller, own);
    else this.#begunOf.delete(caller);
  }
}
