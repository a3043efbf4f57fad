import { CallerQueue, isAccepting } from "@a2a-connect/core/internal";
import type { Clock } from "./clock.ts";

/** What an engine wakes, each kind in turns of its own. */
export interface EngineWakes {
  /** Those who read a task, when there is something new. Each formats and writes what it has waited for. */
  readonly readers: Wakes;
  /** Repeats of a request, when the first was decided. Each reads its key, and then the task; or it is the first now. */
  readonly repeats: Wakes;
  /** Reads of tasks and lists that waited for others. Each decodes up to 128 KiB before it has a turn of its own. */
  readonly reads: Wakes;
  /** Executors, when what they yielded is durable. Each yields up to `maxUncommitted` events at once. */
  readonly executors: Wakes;
}

/** Those of one engine. */
export function createWakes(clock: Pick<Clock, "nextTurn">): EngineWakes {
  return {
    readers: new Wakes(clock, 256),
    repeats: new Wakes(clock, 64),
    reads: new Wakes(clock, 8),
    executors: new Wakes(clock, 8),
  };
}

/**
 * Wakes what has waited for the same event, a few in a turn of the event loop: thousands may have waited, and each goes on at once.
 * Callers take turns. None is woken in a turn for new connections alone (`isAccepting`).
 */
export class Wakes {
  readonly #clock: Pick<Clock, "nextTurn">;
  readonly #maxInATurn: number;
  /** What waits for a later turn. */
  readonly #waiting = new CallerQueue<() => void>();
  #woken = 0;
  /** Whether the next turn begins with those that wait. */
  #goesOn = false;

  constructor(clock: Pick<Clock, "nextTurn">, maxInATurn: number) {
    this.#clock = clock;
    this.#maxInATurn = maxInATurn;
  }

  /** Calls them, in this turn or in later ones. @param share whose work it is; undefined: as if it were one caller's */
  wake(sleepers: Iterable<() => void>, share?: string): void {
    for (const sleeper of sleepers) {
      if (this.#waiting.isEmpty && this.#woken < this.#maxInATurn && !isAccepting()) this.#wakeNow(sleeper);
      else this.#waiting.push(share, sleeper);
    }
    if (!this.#waiting.isEmpty) this.#goOn();
  }

  /** Resolves in this turn or in a later one. */
  turn(share: string | undefined): Promise<void> {
    return new Promise((resolve) => this.wake([resolve], share));
  }

  #wakeNow(sleeper: () => void): void {
    this.#goOn();
    this.#woken += 1;
    sleeper();
  }

  #goOn(): void {
    if (this.#goesOn) return;
    this.#goesOn = true;
    void this.#clock.nextTurn().then(() => this.#beginTurn());
  }

  #beginTurn(): void {
    this.#goesOn = false;
    this.#woken = 0;
    while (this.#woken < this.#maxInATurn && !isAccepting()) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#wakeNow(next);
    }
    this.#goOn();
  }
}
