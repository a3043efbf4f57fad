/**
 * Lets one piece of work at a time begin, and the event loop have a turn before the next. Callers take turns, so that one
 * with much to do delays its own work only.
 */
export class Turns {
  /** What waits, by caller; the caller whose turn is next comes first. */
  readonly #waiting = new Map<object, (() => boolean)[]>();
  #taken = false;

  /**
   * @param begin called when its turn has come, perhaps at once: whether it takes the turn, and will `leave`. Work that is
   *   not wanted any more does not.
   */
  ask(caller: object, begin: () => boolean): void {
    if (!this.#taken) {
      this.#taken = begin();
      return;
    }
    const others = this.#waiting.get(caller);
    if (others === undefined) this.#waiting.set(caller, [begin]);
    else others.push(begin);
  }

  /** The work is done. */
  leave(): void {
    setImmediate(() => this.#next());
  }

  #next(): void {
    this.#taken = false;
    for (const [caller, begins] of this.#waiting) {
      this.#waiting.delete(caller);
      for (let begin = begins.shift(); begin !== undefined; begin = begins.shift()) {
        if (begin()) {
          this.#taken = true;
          if (begins.length > 0) this.#waiting.set(caller, begins); // behind the others
          return;
        }
      }
    }
  }
}
