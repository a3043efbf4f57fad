import { ReadTurns, type Wakes } from "@a2a-connect/core/internal";
import type { Clock } from "../clock.ts";

/** What waits in a line comes to its turn, but those that came up to a time are sent away then. */
interface Line {
  waiting: number;
  awayUpTo: number;
}

/**
 * Of each caller and skill one durable executor at a time is read back that is to stop. It asks for a place only then: many that wait for
 * memory would take all of their caller's. Where one gets no place, or its store is silent, those behind it get no further either: of
 * them, those that have waited as long as their grace period leave with it.
 */
export class StopLines {
  readonly #clock: Pick<Clock, "ticks">;
  readonly #wakes: Pick<Wakes, "turn">;
  readonly #turns = new ReadTurns(Number.POSITIVE_INFINITY, { maxOfOne: 1 });
  readonly #lines = new Map<string, Line>();

  /** @param wakes of those that are sent away: tens of thousands may wait in a line */
  constructor(clock: Pick<Clock, "ticks">, wakes: Pick<Wakes, "turn">) {
    this.#clock = clock;
    this.#wakes = wakes;
  }

  /**
   * @param skill where one has no place, its tasks hold up no others
   * @param graceMs how long it waits at least
   * @param readBack resolves when the next one may ask for a place, to whether this one was read
   * @returns whether `readBack` was called; otherwise one before it was not read
   */
  async run(
    { caller, skill }: { readonly caller: string; readonly skill: string | undefined },
    graceMs: number,
    readBack: () => Promise<boolean>,
  ): Promise<boolean> {
    const name = `${skill} ${caller}`;
    const line = this.#lines.get(name) ?? { waiting: 0, awayUpTo: Number.NEGATIVE_INFINITY };
    this.#lines.set(name, line);
    line.waiting += 1;
    const cameAt = this.#clock.ticks();
    try {
      return await this.#turns.run({ share: name }, async () => {
        if (cameAt <= line.awayUpTo) {
          await this.#wakes.turn(caller);
          return false;
        }
        if (!(await readBack())) line.awayUpTo = this.#clock.ticks() - graceMs;
        return true;
      });
    } finally {
      line.waiting -= 1;
      if (line.waiting === 0) this.#lines.delete(name);
    }
  }
}
