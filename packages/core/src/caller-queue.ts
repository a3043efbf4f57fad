/** What waits for its turn, by caller. Callers take turns, so that one with much to do delays its own work only. */
export class CallerQueue<Waiting> {
  /** The caller whose turn is next comes first. */
  readonly #waiting = new Map<unknown, Waiting[]>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** @param caller whose work it is: an object, a name, or undefined when that is not known */
  push(caller: unknown, waiting: Waiting): void {
    const others = this.#waiting.get(caller);
    if (others === undefined) this.#waiting.set(caller, [waiting]);
    else others.push(waiting);
  }

  /** Takes what has waited longest of the caller whose turn is next; undefined when nothing waits. */
  shift(): Waiting | undefined {
    for (const [caller, waiting] of this.#waiting) {
      this.#waiting.delete(caller);
      const first = waiting.shift();
      if (waiting.length > 0) this.#waiting.set(caller, waiting); // behind the others
      return first;
    }
    return undefined;
  }
}

/** How many elements hold, of a list in which those that hold come first. */
export function countFirst<Element>(list: readonly Element[], holds: (element: Element) => boolean): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const element = list[middle];
    if (element !== undefined && holds(element)) low = middle + 1;
    else high = middle;
  }
  return low;
}
