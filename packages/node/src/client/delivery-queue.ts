/** Values that arrived and wait to be read, in order, up to a limit. For one reader. */
export class DeliveryQueue<T> implements AsyncIterable<T> {
  readonly #limit: number;
  readonly #waiting: T[] = [];
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get isFull(): boolean {
    return this.#waiting.length >= this.#limit;
  }

  /** @returns whether there was room */
  put(item: T): boolean {
    if (this.isFull || this.#ended) return false;
    this.#waiting.push(item);
    this.#wake?.();
    return true;
  }

  /** No value comes any more; waiting values are dropped. */
  end(): void {
    this.#ended = true;
    this.#waiting.length = 0;
    this.#wake?.();
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    let returned = false;
    return {
      next: async () => {
        while (!this.#ended && !returned) {
          const item = this.#waiting.shift();
          if (item !== undefined) return { done: false, value: item };
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
        return { done: true, value: undefined };
      },
      return: async () => {
        returned = true;
        this.#wake?.();
        return { done: true, value: undefined };
      },
    };
  }
}
