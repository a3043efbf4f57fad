import { afterMicrotasks, CallerQueue, isAccepting } from "@a2a-connect/core/internal";
import type { Clock } from "./clock.ts";

/** What engines wake, each kind in turns of its own. */
export interface EngineWakes {
  /** Those who read a task, when there is something new. Each formats and writes what it has waited for. */
  readonly readers: Wakes;
  /** Repeats of a request, when the first was decided. Each reads its key, and then the task; or it is the first now. */
  readonly repeats: Wakes;
  /** Reads of tasks and lists that waited for others. Each decodes up to 128 KiB before it has a turn of its own. */
  readonly reads: Wakes;
  /** Executors, at each event that they yield and each step: hundreds may go on at the same moment. */
  readonly executors: Wakes;
}

const known = new WeakMap<object, EngineWakes>();

/** Those of all engines with this clock: they share the event loop, and a caller may have tasks at each. */
export function findWakes(clock: Pick<Clock, "nextTurn" | "ticks">): EngineWakes {
  const wakes = known.get(clock) ?? {
    readers: new Wakes(clock, 256),
    repeats: new Wakes(clock, 64),
    reads: new Wakes(clock, 8),
    executors: new Wakes(clock, 512),
  };
  known.set(clock, wakes);
  return wakes;
}

/** A turn of the event loop in which those that were woken have taken so many milliseconds wakes no more. */
const longTurnMs = 10;

/**
 * Wakes what has waited for the same event, a few in a turn of the event loop: thousands may have waited, and each goes on at once.
 * Callers take turns. None is woken in a turn for new connections alone (`isAccepting`).
 */
export class Wakes {
  readonly #clock: Pick<Clock, "nextTurn" | "ticks">;
  readonly #maxInATurn: number;
  /** What waits for a later turn. */
  readonly #waiting = new CallerQueue<() => void>();
  #woken = 0;
  /** When the first of this turn was woken. */
  #beganAt = 0;
  /** Whether the next turn begins with those that wait. */
  #goesOn = false;

  constructor(clock: Pick<Clock, "nextTurn" | "ticks">, maxInATurn: number) {
    this.#clock = clock;
    this.#maxInATurn = maxInATurn;
  }

  /** Calls them, in this turn or in later ones. @param share whose work it is; undefined: as if it were one caller's */
  wake(sleepers: Iterable<() => void>, share?: string): void {
    for (const sleeper of sleepers) {
      if (this.#mayGoOn()) sleeper();
      else this.#waiting.push(share, sleeper);
    }
    if (!this.#waiting.isEmpty) this.#goOn();
  }

  /** What the caller's work waits for before it goes on; undefined: nothing. */
  turn(share: string | undefined): Promise<void> | undefined {
    if (this.#mayGoOn()) return undefined;
    this.#goOn();
    return new Promise((resolve) => this.#waiting.push(share, resolve));
  }

  /** Whether one more may go on in this turn; then it counts. */
  #mayGoOn(): boolean {
    const may = this.#waiting.isEmpty && this.#hasRoom();
    if (may) this.#count();
    return may;
  }

  #hasRoom(): boolean {
    if (isAccepting()) return false;
    if (this.#woken === 0) return true;
    return this.#woken < this.#maxInATurn && this.#clock.ticks() - this.#beganAt < longTurnMs;
  }

  #count(): void {
    if (this.#woken === 0) this.#beganAt = this.#clock.ticks();
    this.#woken += 1;
    this.#goOn();
  }

  #goOn(): void {
    if (this.#goesOn) return;
    this.#goesOn = true;
    void this.#clock.nextTurn().then(() => this.#beginTurn());
  }

  #beginTurn(): void {
    this.#goesOn = false;
    this.#woken = 0;
    this.#wakeNext();
  }

  #wakeNext(): void {
    if (this.#waiting.isEmpty) return;
    const next = this.#hasRoom() ? this.#waiting.shift() : undefined;
    if (next === undefined) {
      this.#goOn();
      return;
    }
    this.#count();
    next();
    afterMicrotasks(() => this.#wakeNext());
  }
}
