/** What waits for its turn, by caller. Callers take turns, so that one with much to do delays its own work only. */
export class CallerQueue<Waiting> {
  /** The caller whose turn is next comes first. */
  readonly #waiting = new Map<unknown, Line<Waiting>>();

  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** @param caller whose work it is: an object, a name, or undefined when that is not known */
  push(caller: unknown, waiting: Waiting): void {
    const line = this.#waiting.get(caller);
    if (line === undefined) this.#waiting.set(caller, { all: [waiting], gone: 0 });
    else line.all.push(waiting);
  }

  /** Takes what has waited longest of the caller whose turn is next; undefined when nothing waits. */
  shift(): Waiting | undefined {
    for (const [caller, line] of this.#waiting) {
      this.#waiting.delete(caller);
      const first = takeFirst(line);
      if (line.gone < line.all.length) this.#waiting.set(caller, line); // behind the others
      return first;
    }
    return undefined;
  }
}

/** What waits of one caller. `Array.prototype.shift` would move all that is left of a long list. */
interface Line<Waiting> {
  all: (Waiting | undefined)[];
  /** How many at the beginning were taken. */
  gone: number;
}

function takeFirst<Waiting>(line: Line<Waiting>): Waiting | undefined {
  const first = line.all[line.gone];
  line.all[line.gone++] = undefined;
  // The list is made shorter when as many were taken as are left: each is moved once, on average.
  if (line.gone * 2 >= line.all.length) {
    line.all = line.all.slice(line.gone);
    line.gone = 0;
  }
  return first;
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
