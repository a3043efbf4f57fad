/** Most steps of a comparison of two cards: some milliseconds. A card that needs more is made to be hard to judge. */
const maxSteps = 1_000_000;

/** What is left of the work that comparing two cards may be. */
export class ComparisonBudget {
  #left = maxSteps;

  /** Charges steps that are about to be taken. */
  spend(steps: number): void {
    this.#left -= steps;
  }

  /** Whether there is nothing left, and the comparison is to be given up. */
  get isExhausted(): boolean {
    return this.#left < 0;
  }
}
