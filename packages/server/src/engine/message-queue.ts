import type { QueuedMessage } from "./durable/journal.ts";

/** The messages that a task took while its executor was at work, and which of them gets the next turn. */
export class MessageQueue {
  readonly #waiting = new Map<number, QueuedMessage>();
  #chosen: QueuedMessage | undefined;

  /** Whether no message waits for its turn. */
  get isEmpty(): boolean {
    return this.#waiting.size === 0;
  }

  /** Whether the message of this entry waits. */
  has(sequence: number): boolean {
    return this.#waiting.has(sequence);
  }

  add(queued: QueuedMessage): void {
    this.#waiting.set(queued.sequence, queued);
  }

  /** The turn for a message begins. */
  take(sequence: number): void {
    this.#waiting.delete(sequence);
  }

  /** Chooses the message that has waited longest for the next turn; undefined when none waits, or one is chosen. */
  choose(): QueuedMessage | undefined {
    const [next] = this.#waiting.values();
    if (next === undefined || this.#chosen !== undefined) {
      return undefined;
    }
    this.#chosen = next;
    this.take(next.sequence);
    return next;
  }

  /** The message that was chosen, for the code that starts its turn. */
  takeChosen(): QueuedMessage | undefined {
    const chosen = this.#chosen;
    this.#chosen = undefined;
    return chosen;
  }

  /** Adds the messages that an earlier process queued and no turn took. */
  requeue(queued: readonly QueuedMessage[]): void {
    const all = [...this.#waiting.values(), ...queued].toSorted(
      (one, other) => one.sequence - other.sequence,
    );
    this.#waiting.clear();
    for (const one of all) {
      this.add(one);
    }
  }
}
