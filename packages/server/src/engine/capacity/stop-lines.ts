import { ReadTurns } from "@a2a-connect/core/internal";
import type { Clock } from "../clock.ts";

/**
 * Of each caller and skill one durable executor at a time is read back that is to stop. It asks for a place only then: many that wait for
 * memory would take all of their caller's. Where one gets no place, or its store is silent, those behind it get no further either: of
 * them, those that have waited as long as their grace period leave with it.
 */
export class StopLines {
  readonly #clock: Pick<Clock, "ticks">;
  readonly #turns = new ReadTurns(Number.POSITIVE_INFINITY, { maxOfOne: 1 });
  /** Of each line, how those that wait in it are sent away, and since when they wait. */
  readonly #waiting = new Map<string, Map<AbortController, number>>();

  constructor(clock: Pick<Clock, "ticks">) {
    this.#clock = clock;
  }

  /**
   * @param graceMs how long it waits at least
   * @param readBack resolves when the next one may ask for a place, to whether this one was read
   * @returns whether `readBack` was called; otherwise one before it was not read
   */
  async run(line: string, graceMs: number, readBack: () => Promise<boolean>): Promise<boolean> {
    const leave = new AbortController();
    const waiting = this.#waiting.get(line) ?? new Map<AbortController, number>();
    this.#waiting.set(line, waiting.set(leave, this.#clock.ticks()));
    const begin = async () => {
      this.#forget(line, leave);
      if (!(await readBack())) this.#sendAway(line, this.#clock.ticks() - graceMs);
    };
    try {
      await this.#turns.run({ share: line, signal: () => leave.signal }, begin);
    } catch (error) {
      if (!leave.signal.aborted) throw error;
    }
    return !leave.signal.aborted;
  }

  #sendAway(line: string, since: number): void {
    for (const [leave, cameAt] of this.#waiting.get(line) ?? []) {
      if (cameAt > since) return; // they are in the order in which they came
      this.#forget(line, leave);
      leave.abort();
    }
  }

  #forget(line: string, leave: AbortController): void {
    const waiting = this.#waiting.get(line);
    waiting?.delete(leave);
    if (waiting?.size === 0) this.#waiting.delete(line);
  }
}
