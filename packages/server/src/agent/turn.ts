import { type LifecycleReport, partText } from "@a2a-connect/core";
import { type Message, type Task, TaskState } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import {
  type Content,
  createArtifactTool,
  type EventTools,
  eventTools,
  statusOf,
  toParts,
} from "./event-tools.ts";
import type { ReplyEvent, StatusEvent } from "./task-event.ts";

/** How a question is asked. */
export interface QuestionOptions {
  /** How long it waits for its answer before the task is CANCELED; `false`: for ever. Default: the agent's. */
  readonly timeoutMs?: number | false;
}

/** What the engine knows about the message that a turn is for. */
export interface TurnInput {
  readonly message: Message;
  /** The task as it was when the turn began, with its whole history; undefined on a new message. */
  readonly task: Task | undefined;
  readonly taskId: string;
  readonly contextId: string;
  /** The skill this task runs, if the caller or the agent's `route` named one. */
  readonly skill: string | undefined;
  /** Media types the caller wants back; empty: any (requirement A-10). */
  readonly acceptedOutputModes: readonly string[];
  /** Extensions that the caller activated for this request (requirement G-6). */
  readonly extensions: readonly string[];
  /** Who calls, and for which tenant. */
  readonly principal: string;
  readonly tenant: string;
  /** Metadata of the request itself. */
  readonly metadata: JsonObject | undefined;
  /** 1, and one more each time that a crash has made this turn start again (`recovery: "restart"`). */
  readonly attempt: number;
  /** Aborts on cancel, deadline, silence for too long, a lost task or shutdown; `reason` is an Error that says which. */
  readonly signal: AbortSignal;
}

/** One message to answer, and the tools to answer it with. Yield what the methods return. */
export interface Turn extends TurnInput, EventTools {
  /** All text parts of the message, joined without a separator. */
  readonly text: string;
  /** INPUT_REQUIRED: ends the turn; the next message of the caller starts the next one. */
  inputRequired(question: Content, options?: QuestionOptions): StatusEvent;
  /** AUTH_REQUIRED, with words that explain what is needed and where (spec §7.6): ends the turn. */
  authRequired(explanation: Content, options?: QuestionOptions): StatusEvent;
  /** A direct Message, if this is the first thing a new message gives; otherwise the message of COMPLETED. */
  reply(content: Content): ReplyEvent;
}

/**
 * The tools over an input.
 *
 * @param signal makes the signal when it is first looked at
 * @param nextArtifactOrdinal counts the task's unnamed artifacts
 */
export function createTurn(
  input: Omit<TurnInput, "signal">,
  signal: () => AbortSignal,
  nextArtifactOrdinal: () => number,
): Turn {
  return new EngineTurn(input, signal, nextArtifactOrdinal);
}

/** The tools of turns alone; they can be taken off it. */
const turnTools: Pick<Turn, "inputRequired" | "authRequired" | "reply"> = {
  inputRequired: (question, options) => statusOf(TaskState.INPUT_REQUIRED, question, toWait(options)),
  authRequired: (explanation, options) => statusOf(TaskState.AUTH_REQUIRED, explanation, toWait(options)),
  reply: (content) => ({ kind: "reply", parts: toParts(content) }),
};

/** What a question with a time of its own tells about it. */
export function toWait({ timeoutMs }: QuestionOptions = {}): LifecycleReport {
  if (timeoutMs === undefined) {
    return {};
  }
  return { waitSeconds: timeoutMs === false ? "unlimited" : timeoutMs / 1_000 };
}

/** A class for its getter: object literals with one live as long as their hidden classes do. */
class EngineTurn implements Turn {
  readonly message: Message;
  readonly task: Task | undefined;
  readonly taskId: string;
  readonly contextId: string;
  readonly skill: string | undefined;
  readonly acceptedOutputModes: readonly string[];
  readonly extensions: readonly string[];
  readonly principal: string;
  readonly tenant: string;
  readonly metadata: JsonObject | undefined;
  readonly text: string;
  readonly attempt: number;
  readonly artifact: Turn["artifact"];
  readonly working: Turn["working"] = eventTools.working;
  readonly append: Turn["append"] = eventTools.append;
  readonly inputRequired: Turn["inputRequired"] = turnTools.inputRequired;
  readonly authRequired: Turn["authRequired"] = turnTools.authRequired;
  readonly complete: Turn["complete"] = eventTools.complete;
  readonly reply: Turn["reply"] = turnTools.reply;
  readonly fail: Turn["fail"] = eventTools.fail;
  readonly reject: Turn["reject"] = eventTools.reject;
  readonly #signal: () => AbortSignal;

  constructor(
    input: Omit<TurnInput, "signal">,
    signal: () => AbortSignal,
    nextArtifactOrdinal: () => number,
  ) {
    this.message = input.message;
    this.task = input.task;
    this.taskId = input.taskId;
    this.contextId = input.contextId;
    this.skill = input.skill;
    this.acceptedOutputModes = input.acceptedOutputModes;
    this.extensions = input.extensions;
    this.principal = input.principal;
    this.tenant = input.tenant;
    this.metadata = input.metadata;
    this.text = partText(input.message);
    this.attempt = input.attempt;
    this.artifact = createArtifactTool(nextArtifactOrdinal);
    this.#signal = signal;
  }

  get signal(): AbortSignal {
    return this.#signal();
  }
}
