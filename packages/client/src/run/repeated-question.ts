import { partText } from "@a2a-connect/core";
import { formatMessage } from "@a2a-connect/core/internal";
import { PartSchema, type StreamResponse, type Task, TaskState } from "@a2a-connect/proto";
import type { InputMessage } from "../call-options.ts";
import { QuestionRepeatedError } from "../errors.ts";

/** How often one answer may be refused. */
const maxRefusals = 2;

/** Notices that a question comes again and again although it was answered. Programs would answer it for ever. */
export class RepeatedQuestion {
  readonly #maxRepeats: number;
  #question: string | undefined;
  #repeats = 0;
  /** How often each answer to the question was refused. */
  readonly #refusals = new Map<string, number>();
  #answer = "";

  /** @throws RangeError when `maxRepeats` is negative or no number */
  constructor(maxRepeats = 5) {
    if (!(maxRepeats >= 0)) {
      throw new RangeError(`maxRepeats must be 0 or more, or Infinity for no limit, and is ${maxRepeats}`);
    }
    this.#maxRepeats = maxRepeats;
  }

  /** An event came. After work on the task, a question is a new one. */
  note({ payload }: StreamResponse): void {
    const { state, message } = (payload.case === "statusUpdate" && payload.value.status) || {};
    if (payload.case === "artifactUpdate" || (state === TaskState.WORKING && message !== undefined)) {
      this.#question = undefined;
    }
  }

  /** A question came. @throws QuestionRepeatedError when it came too often */
  ask(task: Task): void {
    const words = task.status?.message === undefined ? "" : partText(task.status.message);
    if (!this.#isKnown(words)) {
      this.#question = words;
      this.#repeats = 0;
      this.#refusals.clear();
      return;
    }
    this.#repeats += 1;
    const refusals = (this.#refusals.get(this.#answer) ?? 0) + 1;
    this.#refusals.set(this.#answer, refusals);
    if (refusals >= maxRefusals || this.#repeats > this.#maxRepeats) {
      throw new QuestionRepeatedError(task, words, this.#answer, this.#repeats);
    }
  }

  /** It was answered so; without a message when the credentials are somewhere else. */
  answered(message?: InputMessage): void {
    const parts = message?.parts ?? "";
    this.#answer =
      typeof parts === "string"
        ? parts
        : JSON.stringify(parts.map((part) => formatMessage(PartSchema, part)));
  }

  /** Agents put a sentence before a repeated question that says why the answer did not fit. */
  #isKnown(words: string): boolean {
    const known = this.#question;
    return known === words || (known !== undefined && known !== "" && words.endsWith(known));
  }
}
