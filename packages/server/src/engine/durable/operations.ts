import type { Holding } from "@a2a-connect/core/internal";
import { AgentMistake } from "../agent-mistake.ts";
import type { EngineContext } from "../engine-context.ts";
import { operationBytes, operationsPart } from "../memory-weight.ts";

/** So many an executor may have under way also when other tasks of its caller have many: their memory counts. */
const few = 64;

interface LateOperations {
  /** What they have of the caller's part, */
  readonly holding: Holding;
  /** and of memory. */
  readonly memory: Holding;
  readonly over: PromiseWithResolvers<void>;
}

/** Counts the steps, sleeps and takes of the inbox that one executor has under way, for its caller and as memory of its task. */
export class Operations {
  /** What they have of the caller's part. */
  readonly holding: Holding;
  readonly #budget: EngineContext["operations"];
  readonly #maxBytes: number;
  readonly #memory: Holding;
  readonly #over = Promise.withResolvers<void>();
  #hasLeft = false;
  readonly #openLate: (over: Promise<void>, holding: Holding) => Holding;
  /** Those of a `finally` behind the event that has ended the task. */
  #late: LateOperations | undefined;
  /** What else their code still has of the task, which does not count it any more. */
  #keptBytes = 0;
  #tooMany: AgentMistake | undefined;

  /**
   * @param memory of the task
   * @param share the caller; undefined: not known
   * @param openLate counts what goes on behind the end of the task until it is over: it has `holding`, and memory
   */
  constructor(
    { limits, operations }: Pick<EngineContext, "limits" | "operations">,
    memory: Holding,
    share: string | undefined,
    openLate: (over: Promise<void>, holding: Holding) => Holding,
  ) {
    this.#openLate = openLate;
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

  /** One more, behind the event that has ended the task. @throws AgentMistake as `begin` does */
  beginLate(): void {
    this.#tooMany ??= this.#findTooMany(false);
    if (this.#tooMany !== undefined) throw this.#tooMany;
    this.#late ??= this.#beginLate();
    this.#late.holding.grow(operationBytes);
    this.#late.memory.grow(operationBytes);
  }

  /** One of those is over. */
  endLate(): void {
    const late = this.#late;
    late?.holding.grow(-operationBytes);
    late?.memory.grow(-operationBytes);
    if (late?.holding.amount !== 0) return;
    this.#late = undefined;
    late.over.resolve();
  }

  #beginLate(): LateOperations {
    const holding = this.#budget.open(this.holding.share);
    const over = Promise.withResolvers<void>();
    const memory = this.#openLate(over.promise, holding);
    memory.grow(this.#keptBytes);
    return { holding, memory, over };
  }

  /** One is over. */
  end(): void {
    this.holding.grow(-operationBytes);
    if (!this.#hasLeft) this.#memory.grow(-operationBytes);
    else if (this.holding.amount === 0) this.#over.resolve();
  }

  /**
   * The executor leaves its task.
   *
   * @param isCounted whether what its code has of the task counts until it has returned
   * @returns resolves when what it has under way is over; undefined: there is nothing
   */
  leave(isCounted: boolean): Promise<void> | undefined {
    this.#hasLeft = true;
    this.#memory.grow(-this.holding.amount);
    this.#keptBytes = isCounted ? 0 : this.#memory.amount;
    this.#late?.memory.grow(this.#keptBytes);
    return this.holding.amount === 0 ? undefined : this.#over.promise;
  }

  #findTooMany(isRepeated: boolean): AgentMistake | undefined {
    const { share } = this.holding;
    const amount = this.holding.amount + (this.#late?.holding.amount ?? 0);
    if (amount >= this.#maxBytes) {
      return new AgentMistake(
        `the executor has ${this.#maxBytes / operationBytes} steps, sleeps and takes of the inbox under way; no task may have more at a time: begin some of them when others are over`,
      );
    }
    // Only those that have many under way: the others' code waits for what it begins.
    if (isRepeated || amount < few * operationBytes || !this.#budget.isExceeded(share)) return undefined;
    return new AgentMistake(
      "the tasks of this caller have more steps, sleeps and takes of the inbox under way than there is memory for: begin some of them when others are over",
      "capacity",
    );
  }
}
