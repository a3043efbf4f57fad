import type { Holding, SharedBudget } from "@a2a-connect/core/internal";

/**
 * Counts what code has in memory that ignored its signal, when its task has ended without it: the message and the task that it was
 * called with, and the metadata of the cancel. Otherwise a caller that sends large messages and cancels them would fill the memory
 * for as long as the code runs.
 */
export class AbandonedCode {
  readonly #active: SharedBudget;
  readonly #onEnd: () => void;
  readonly #collected = new FinalizationRegistry<() => void>((end) => end());

  /**
   * @param active counts the tasks that are in memory
   * @param onEnd called when code has returned
   */
  constructor(active: SharedBudget, onEnd: () => void) {
    this.#active = active;
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
}
