import { CallerQueue } from "../caller-queue.ts";
import { afterMicrotasks, isAccepting } from "./waiting.ts";

/** The turns of the event loop. */
export interface TurnClock {
  /** Resolves at the end of this turn. */
  nextTurn(): Promise<void>;
  /** Milliseconds since a moment of its own. */
  ticks(): number;
}

/** A turn of the event loop in which those that were woken have taken so many milliseconds wakes no more. */
const longTurnMs = 10;

/**
 * So many, and this part of those of a turn, go on before the clock is looked at again: none of them works before the code that wakes
 * them, or that asks, has ended.
 */
const [fewUnseen, unseenPart] = [8, 16];

/**
 * Wakes what has waited for the same event, a few in a turn of the event loop: thousands may have waited, and each goes on at once.
 * Callers take turns. None is woken in a turn for new connections alone (`isAccepting`).
 */
export class Wakes {
  readonly #clock: TurnClock;
  readonly #maxInATurn: number;
  readonly #maxUnseen: number;
  /** What waits for a later turn. */
  readonly #waiting = new CallerQueue<() => void>();
  #woken = 0;
  /** How many of them have gone on since the clock was looked at after their work. */
  #unseen = 0;
  /** Whether that is looked at soon, and the next one is woken then. */
  #looks = false;
  /** When the first of this turn was woken. */
  #beganAt = 0;
  /** Whether the next turn begins with those that wait. */
  #goesOn = false;

  constructor(clock: TurnClock, maxInATurn: number) {
    this.#clock = clock;
    this.#maxInATurn = maxInATurn;
    this.#maxUnseen = Math.max(fewUnseen, maxInATurn / unseenPart);
  }

  /** Calls them, in this turn or in later ones. @param share whose work it is; undefined: as if it were one caller's */
  wake(sleepers: Iterable<() => void>, share?: string): void {
    for (const sleeper of sleepers) {
      if (this.#mayGoOn()) sleeper();
      else this.#waiting.push(share, sleeper);
    }
    if (!this.#waiting.isEmpty) this.#wakeSoon();
  }

  /** What the caller's work waits for before it goes on; undefined: nothing. */
  turn(share: string | undefined): Promise<void> | undefined {
    if (this.#mayGoOn()) return undefined;
    this.#wakeSoon();
    return new Promise((resolve) => this.#waiting.push(share, resolve));
  }

  /** Whether one more may go on in this turn; then it counts. */
  #mayGoOn(): boolean {
    const may = this.#waiting.isEmpty && this.#unseen < this.#maxUnseen && this.#hasRoom();
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
    this.#unseen += 1;
    this.#goOn();
  }

  /** In this turn, when those that have gone on have worked, or in the next. */
  #wakeSoon(): void {
    if (this.#hasRoom()) this.#look();
    else this.#goOn();
  }

  #look(): void {
    if (this.#looks) return;
    this.#looks = true;
    afterMicrotasks(() => {
      this.#looks = false;
      this.#wakeNext();
    });
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
    this.#unseen = 0;
    if (this.#waiting.isEmpty) return;
    const next = this.#hasRoom() ? this.#waiting.shift() : undefined;
    if (next === undefined) {
      this.#goOn();
      return;
    }
    this.#count();
    next();
    this.#look();
  }
}
