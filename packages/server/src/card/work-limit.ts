/** Lets only so many pieces of work go on at a time; the others wait, in the order in which they came. */
export class WorkLimit {
  readonly #maxRunning: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  /** @param maxRunning at least 1 */
  constructor(maxRunning: number) {
    this.#maxRunning = maxRunning;
  }

  /** How many wait. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** What `work` comes to, begun when there is room. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running < this.#maxRunning) {
      this.#running += 1;
    } else {
      await new Promise<void>((begin) => this.#waiting.push(begin)); // in the place of one that has ended
    }
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) {
        this.#running -= 1;
      } else {
        next();
      }
    }
  }
}
