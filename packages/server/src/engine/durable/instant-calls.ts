import { AgentMistake } from "../agent-mistake.ts";
import type { Clock } from "../clock.ts";

/** So many take about a tenth of a second, in which no other code runs. */
export const maxInstantCalls = 50_000;

const instead = {
  now: "call it once before the loop",
  random: "use Math.random() in one task.step around the loop",
  "inbox.poll": "end the loop when it returns undefined, or await task.inbox.take()",
} as const;

/** A tool whose result is remembered, and for which the executor does not wait. */
export type InstantTool = keyof typeof instead;

/** Counts what an executor adds to its journal without a wait in between: such calls return at once, so nothing else can slow them down. */
export class InstantCalls {
  readonly #clock: Pick<Clock, "nextTurn">;
  /** In this turn of the event loop. */
  #count = 0;
  #tooMany: AgentMistake | undefined;

  constructor(clock: Pick<Clock, "nextTurn">) {
    this.#clock = clock;
  }

  /**
   * One more, which no earlier run has made.
   *
   * @throws AgentMistake when there are too many in this turn: the code may make one for each item of a list. Then none is made any more
   */
  add(tool: InstantTool): void {
    if (this.#count === maxInstantCalls) {
      this.#tooMany ??= new AgentMistake(
        `the executor has called task.now, task.random and task.inbox.poll ${maxInstantCalls} times without a wait, and then task.${tool}: ${instead[tool]}`,
      );
    }
    if (this.#tooMany !== undefined) throw this.#tooMany;
    if (this.#count === 0) void this.#clock.nextTurn().then(() => this.#endTurn());
    this.#count += 1;
  }

  #endTurn(): void {
    this.#count = 0;
  }
}
