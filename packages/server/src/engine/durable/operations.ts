import type { Holding } from "@a2a-connect/core/internal";
import { AgentMistake } from "../agent-mistake.ts";
import type { EngineContext } from "../engine-context.ts";
import { operationBytes, operationsPart } from "../memory-weight.ts";

/** So many an executor may have under way also when other tasks of its caller have many: their memory counts. */
const few = 64;

/** Counts the steps, sleeps and takes of the inbox that one executor has under way, for its caller and as memory of its task. */
export class Operations {
  /** What they have of the caller's part. */
  readonly holding: Holding;
  readonly #budget: EngineContext["operations"];
  readonly #maxBytes: number;
  readonly #memory: Holding;
  readonly #over = Promise.withResolvers<void>();
  #hasLeft = false;
  /** Those of a `finally` behind the event that has ended the task. */
  #late = 0;
  #tooMany: AgentMistake | undefined;

  /** @param memory of the task @param share the caller; undefined: not known */
  constructor(
    { limits, operations }: Pick<EngineContext, "limits" | "operations">,
    memory: Holding,
    share: string | undefined,
  ) {
    this.#budget = operations;
    this.#maxBytes = Math.floor((limits.maxTaskBytes * operationsPart) / operationBytes) * operationBytes;
    this.#memory = memory;
    this.holding = operations.open(share);
  }

  /**
   * One more.
   *
   * @param isRepeated whether an earlier run may have begun it: then the caller had room for it
   * @throws AgentMistake when no task, or none of this caller, may have more: the code may want one for each item of a list
   */
  begin(isRepeated: boolean): void {
    this.#tooMany ??= this.#findTooMany(isRepeated);
    if (this.#tooMany !== undefined) throw this.#tooMany;
    this.holding.grow(operationBytes);
    this.#memory.grow(operationBytes);
  }

  /** Whether it was refused: nothing more begins. */
  get hasTooMany(): boolean {
    return this.#tooMany !== undefined;
  }

  /** One more, behind the event that has ended the task. It counts for no caller. @throws AgentMistake when no task may have more */
  beginLate(): void {
    if (this.#late >= this.#maxBytes / operationBytes) this.#tooMany ??= this.#tooManyOfTask();
    if (this.#tooMany !== undefined) throw this.#tooMany;
    this.#late += 1;
  }

  /** One of those is over. */
  endLate(): void {
    this.#late -= 1;
  }

  /** One is over. */
  end(): void {
    this.holding.grow(-operationBytes);
    if (!this.#hasLeft) this.#memory.grow(-operationBytes);
    else if (this.holding.amount === 0) this.#over.resolve();
  }

  /** The executor leaves its task. @returns resolves when what it has under way is over; undefined: there is nothing */
  leave(): Promise<void> | undefined {
    this.#hasLeft = true;
    this.#memory.grow(-this.holding.amount);
    return this.holding.amount === 0 ? undefined : this.#over.promise;
  }

  #findTooMany(isRepeated: boolean): AgentMistake | undefined {
    const { amount, share } = this.holding;
    if (amount >= this.#maxBytes) return this.#tooManyOfTask();
    // Only those that have many under way: the others' code waits for what it begins.
    if (isRepeated || amount < few * operationBytes || !this.#budget.isExceeded(share)) return undefined;
    return new AgentMistake(
      "the tasks of this caller have more steps, sleeps and takes of the inbox under way than there is memory for: begin some of them when others are over",
      "capacity",
    );
  }

  #tooManyOfTask(): AgentMistake {
    return new AgentMistake(
      `the executor has ${this.#maxBytes / operationBytes} steps, sleeps and takes of the inbox under way; no task may have more at a time: begin some of them when others are over`,
    );
  }
}
