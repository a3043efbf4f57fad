import { nextSlice } from "@a2a-connect/bindings/server";
import type { DurableRun } from "./durable-run.ts";
import { replayResult } from "./durable-wait.ts";
import type { QueuedMessage } from "./journal.ts";
import { isResult } from "./journal-codec.ts";
import type { Wait } from "./waits.ts";

/** The record that the executor has read its nth answer. */
export function answerOp(nth: number): string {
  return `answer#${nth}`;
}

/** The caller's answers to the questions of a durable executor, in order. */
export class DurableAnswers {
  readonly #answers: QueuedMessage[] = [];
  #taken = 0;
  #wait: Wait | undefined;

  /** The answers in the log from before. Some of those given meanwhile may be among them. */
  load(answers: readonly QueuedMessage[]): void {
    const early = this.#answers.splice(0);
    for (const answer of answers) this.#answers.push(answer);
    for (const answer of early) {
      this.give(answer);
    }
  }

  /** The caller has answered. The log may have had the answer already. */
  give(answer: QueuedMessage): void {
    if (!this.#answers.some(({ sequence }) => sequence === answer.sequence)) {
      this.#answers.push(answer);
      this.#wait?.end();
    }
  }

  /**
   * The next answer; waits for it.
   *
   * @param isChecked whether the executor checks it against a schema, for which it may take a hundred times as long as for a small
   *   call; thousands of executors may get their answers at the same moment
   * @throws TurnAbort when the executor is told to stop: then no answer comes
   */
  async next(run: DurableRun, isChecked: boolean): Promise<QueuedMessage> {
    const { journal, waits, share } = run;
    const op = journal.next("answer");
    const known = journal.find(op);
    if (!isResult(known)) {
      await waits.keepBusy(async () => journal.order.caughtUp());
      await this.#arrival(run);
    }
    const over = isResult(known) ? known : journal.conclude({ op, kind: "over" });
    const slice = isChecked ? () => nextSlice(share) : undefined;
    await waits.keepBusy(() => replayResult(run, over, undefined, slice));
    const answer = this.#answers[this.#taken++];
    if (answer === undefined) {
      throw run.diverge("a question was ended without its answer");
    }
    return answer;
  }

  async #arrival({ waits, stopped }: DurableRun): Promise<void> {
    if (this.#answers[this.#taken] !== undefined) {
      return;
    }
    if (stopped !== undefined) {
      throw stopped;
    }
    this.#wait = waits.begin();
    await this.#wait.over;
    this.#wait = undefined;
  }
}
