import { TaskState } from "@a2a-connect/proto";
import type { DurableTask } from "../../agent/durable-task.ts";
import {
  type Answer,
  type AuthRequest,
  assertAnswerable,
  defaultMaxRepeats,
  questionParts,
  readAnswer,
} from "../../agent/question.ts";
import type { DurableEvent } from "../../agent/task-event.ts";
import { type CallInput, statusOf, TaskTools } from "../../agent/task-tools.ts";
import { toWait } from "../../agent/turn.ts";
import type { UnusedResults } from "../../agent/unused-results.ts";
import type { QueuedMessage } from "./journal.ts";
import type { JournaledTools } from "./journaled-tools.ts";

/** The tools that a durable executor gets. */
export class DurableTools extends TaskTools implements DurableTask {
  readonly ask: DurableTask["ask"];
  readonly askForAuth: DurableTask["askForAuth"];
  readonly step: DurableTask["step"];
  readonly sleep: DurableTask["sleep"];
  readonly now: DurableTask["now"];
  readonly random: DurableTask["random"];
  readonly inbox: DurableTask["inbox"];

  constructor(input: CallInput, journaled: JournaledTools, signal: () => AbortSignal, unused: UnusedResults) {
    let artifacts = 0;
    super(input, signal, () => ++artifacts, unused);
    this.ask = (question) => ask(TaskState.INPUT_REQUIRED, question, this.ask, unused);
    this.askForAuth = (question) => ask(TaskState.AUTH_REQUIRED, question, this.askForAuth, unused);
    this.step = journaled.step;
    this.sleep = journaled.sleep;
    this.now = journaled.now;
    this.random = journaled.random;
    this.inbox = journaled.inbox;
  }
}

type AskingState = typeof TaskState.INPUT_REQUIRED | typeof TaskState.AUTH_REQUIRED;

/** @param tool what the executor's code has called */
function ask(
  state: AskingState,
  asked: string | AuthRequest,
  tool: DurableTask["ask"],
  unused: UnusedResults,
): AsyncGenerator<DurableEvent, Answer, QueuedMessage> {
  const question = askUntilAnswered(state, asked, () => unused.used(question));
  unused.add(
    question,
    'a question was made and not asked: write "yield*" before the call, not "await"',
    tool,
  );
  return question;
}

/**
 * Asks until an answer fits, or too many did not: the execution returns the caller's message or a grant from the `yield`.
 *
 * @param begun called when the executor's code runs it
 */
async function* askUntilAnswered(
  state: AskingState,
  asked: string | AuthRequest,
  begun: () => void,
): AsyncGenerator<DurableEvent, Answer, QueuedMessage> {
  begun();
  const question = typeof asked === "string" ? { text: asked } : asked;
  assertAnswerable(question);
  const { maxRepeats = defaultMaxRepeats } = question;
  let problem: string | undefined;
  for (let repeats = 0; repeats <= maxRepeats; repeats++) {
    const parts = questionParts(question, problem);
    const { message, details }: QueuedMessage = yield {
      kind: "question",
      status: { kind: "status", state, parts, report: toWait(question) },
      isChecked: question.schema !== undefined,
    };
    const answer = readAnswer(question, message, details?.grant);
    if (typeof answer !== "string") {
      return answer;
    }
    problem = answer;
  }
  const words = `No answer to the question fitted, although it was asked ${maxRepeats + 1} times. ${problem}`;
  yield statusOf(TaskState.CANCELED, words, { reason: "answer-invalid" });
  throw new Error("this cannot be: the task has ended");
}
