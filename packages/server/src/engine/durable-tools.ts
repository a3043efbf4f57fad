import { partText } from "@a2a-connect/core";
import { type Message, TaskState } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import type { DurableInput, DurableTask } from "../agent/durable-task.ts";
import { createArtifactTool, eventTools } from "../agent/event-tools.ts";
import { type Answer, type Question, questionParts, readAnswer } from "../agent/question.ts";
import type { DurableEvent } from "../agent/task-event.ts";
import { toWait } from "../agent/turn.ts";
import type { JournaledTools } from "./journaled-tools.ts";

/** What a durable executor is given. */
export class DurableTools implements DurableTask {
  readonly message: Message;
  readonly taskId: string;
  readonly contextId: string;
  readonly skill: string | undefined;
  readonly acceptedOutputModes: readonly string[];
  readonly extensions: readonly string[];
  readonly principal: string;
  readonly tenant: string;
  readonly metadata: JsonObject | undefined;
  readonly text: string;
  readonly artifact: DurableTask["artifact"];
  readonly working: DurableTask["working"] = eventTools.working;
  readonly append: DurableTask["append"] = eventTools.append;
  readonly complete: DurableTask["complete"] = eventTools.complete;
  readonly fail: DurableTask["fail"] = eventTools.fail;
  readonly reject: DurableTask["reject"] = eventTools.reject;
  readonly ask: DurableTask["ask"] = (question) => ask(TaskState.INPUT_REQUIRED, question);
  readonly askForAuth: DurableTask["askForAuth"] = (question) => ask(TaskState.AUTH_REQUIRED, question);
  readonly step: DurableTask["step"];
  readonly sleep: DurableTask["sleep"];
  readonly now: DurableTask["now"];
  readonly random: DurableTask["random"];
  readonly inbox: DurableTask["inbox"];
  readonly #signal: () => AbortSignal;

  constructor(input: DurableInput, journaled: JournaledTools, signal: () => AbortSignal) {
    let artifacts = 0;
    this.message = input.message;
    this.taskId = input.taskId;
    this.contextId = input.contextId;
    this.skill = input.skill;
    this.acceptedOutputModes = input.acceptedOutputModes;
    this.extensions = input.extensions;
    this.principal = input.principal;
    this.tenant = input.tenant;
    this.metadata = input.metadata;
    this.text = partText(input.message);
    this.artifact = createArtifactTool(() => ++artifacts);
    this.step = journaled.step;
    this.sleep = journaled.sleep;
    this.now = journaled.now;
    this.random = journaled.random;
    this.inbox = journaled.inbox;
    this.#signal = signal;
  }

  get signal(): AbortSignal {
    return this.#signal();
  }
}

/** Asks until an answer fits: whoever runs the executor gives the caller's message back at the `yield`. */
async function* ask(
  state: typeof TaskState.INPUT_REQUIRED | typeof TaskState.AUTH_REQUIRED,
  asked: string | Question,
): AsyncGenerator<DurableEvent, Answer, Message> {
  const question = typeof asked === "string" ? { text: asked } : asked;
  let problem: string | undefined;
  for (;;) {
    const parts = questionParts(question, problem);
    const answer = readAnswer(
      question,
      yield { kind: "question", status: { kind: "status", state, parts, report: toWait(question) } },
    );
    if (typeof answer !== "string") {
      return answer;
    }
    problem = answer;
  }
}
