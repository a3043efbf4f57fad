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
 * The turns in which messages are made of bodies. A message takes many times the memory of its body: of the large ones one of each
 * caller is made at a time, of the small ones as many as have 64 KiB together, and the event loop has a turn before more are. Callers
 * take turns, so that one with many bodies delays its own only.
 */
export class BodyTurns {
  readonly #small = new SmallTurns();
  readonly #large = new LargeTurns();

  /**
   * @param caller its address; undefined: not known
   * @param length bytes of the body
   */
  ask(caller: string | undefined, length: number, begin: Begin): void {
    if (length <= smallBodyBytes) this.#small.ask(caller, length, begin);
    else this.#large.ask(caller, begin);
  }
}

interface Waiting {
  readonly bytes: number;
  readonly begin: Begin;
}

class SmallTurns {
  /** What waits, by caller; the caller whose turn is next comes first. */
  readonly #waiting = new Map<string | undefined, Waiting[]>();
  /** Of the bodies that have begun, until the turn of the event loop after they were done. */
  #bytes = 0;

  ask(caller: string | undefined, bytes: number, begin: Begin): void {
    if (this.#waiting.size === 0 && this.#hasRoom(bytes)) {
      this.#begin(bytes, begin);
      return;
    }
    push(this.#waiting, caller, { bytes, begin });
  }

  #hasRoom(bytes: number): boolean {
    return this.#bytes + bytes <= smallBodyBytes;
  }

  #begin(bytes: number, begin: Begin): boolean {
    const turn = turnUntil(() => {
      this.#bytes -= bytes;
      this.#next();
    });
    if (!begin(turn)) return false;
    this.#bytes += bytes;
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

/**
 * Callers of which one large body each becomes a message at a time. The slices of that wait for other work, so that it takes a second
 * in a busy process: no other caller waits for it.
 */
const maxLargeCallers = 4;

class LargeTurns {
  readonly #waiting = new Map<string | undefined, Begin[]>();
  readonly #busy = new Set<string | undefined>();

  ask(caller: string | undefined, begin: Begin): void {
    push(this.#waiting, caller, begin);
    this.#next();
  }

  #next(): void {
    for (const [caller, begins] of this.#waiting) {
      if (this.#busy.size >= maxLargeCallers) return;
      if (this.#busy.has(caller)) continue;
      this.#waiting.delete(caller);
      const turn = turnUntil(() => {
        this.#busy.delete(caller);
        this.#next();
      });
      for (let begin = begins.shift(); begin !== undefined; begin = begins.shift()) {
        if (!begin(turn)) continue;
        this.#busy.add(caller);
        break;
      }
      if (begins.length > 0) this.#waiting.set(caller, begins); // behind the others
    }
  }
}

/** @param end called after the turn of the event loop in which it was left */
function turnUntil(end: () => void): BodyTurn {
  return {
    leave: () =>
      new Promise((resolve) => {
        afterTurn(() => {
          end();
          resolve();
        });
      }),
  };
}

function push<Work>(waiting: Map<string | undefined, Work[]>, caller: string | undefined, work: Work): void {
  const others = waiting.get(caller);
  if (others === undefined) waiting.set(caller, [work]);
  else others.push(work);
}
