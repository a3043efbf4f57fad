import type { Holding, SharedBudget } from "@a2a-connect/core/internal";
import type { Clock } from "../clock.ts";

/**
 * Counts what code has in memory that goes on when its turn or its task has ended, since it ignored its signal, or cleans up: the
 * message and the task that it was called with, and the metadata of the cancel. Otherwise a caller that sends large messages would
 * fill the memory for as long as the code runs.
 */
export class AbandonedCode {
  readonly #active: SharedBudget;
  readonly #clock: Pick<Clock, "nextTurn">;
  readonly #onEnd: () => void;
  /** What was told to return in this turn of the event loop. */
  readonly #leaving: { readonly isOver: boolean; readonly countOn: () => void }[] = [];
  readonly #collected = new FinalizationRegistry<() => void>((end) => end());

  /**
   * @param active counts the tasks that are in memory
   * @param onEnd called when code has returned
   */
  constructor(active: SharedBudget, clock: Pick<Clock, "nextTurn">, onEnd: () => void) {
    this.#active = active;
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  /**
   * Counts until the code has returned. Code that waits for what never comes is collected, and then it has nothing any more.
   *
   * @param code its iterator
   * @param returned settles when it has returned
   * @param share whose task it was
   * @param kept what it has of another budget; undefined: nothing
   * @returns what counts: it may grow
   */
  count(
    code: object,
    returned: Promise<unknown>,
    share: string | undefined,
    bytes: number,
    kept?: Holding,
  ): Holding {
    const holding = this.#active.open(share, false);
    holding.grow(bytes);
    const end = () => {
      holding.end();
      kept?.end();
      this.#collected.unregister(holding); // code may have one after the other
      this.#onEnd();
    };
    this.#collected.register(code, end, holding);
    returned.then(end, end);
    return holding;
  }

  /** The same of code that was told to return, unless it has done so at the end of this turn of the event loop, as most has. */
  countUnlessOver({ code, returned, share, weigh, onError }: LeavingCode): void {
    const one = { isOver: false, countOn: () => this.count(code, over, share, weigh()) };
    const end = () => {
      one.isOver = true;
    };
    const over = returned.then(end, (error) => {
      end();
      onError(error);
    });
    this.#leaving.push(one);
    if (this.#leaving.length === 1) void this.#clock.nextTurn().then(() => this.#countLeaving());
  }

  #countLeaving(): void {
    for (const { isOver, countOn } of this.#leaving.splice(0)) {
      if (!isOver) countOn();
    }
  }
}

/** Code that was told to return. */
export interface LeavingCode {
  /** Its iterator. */
  readonly code: object;
  /** Settles when it has returned. */
  readonly returned: Promise<unknown>;
  /** Whose turn it was. */
  readonly share: string | undefined;
  /** How much it has. */
  readonly weigh: () => number;
  /** Called when it has failed instead. */
  readonly onError: (error: unknown) => void;
}
