import { json, type LifecycleReport } from "@a2a-connect/core";
import { type Task, TaskState } from "@a2a-connect/proto";
import { type AuthHint, authMember, type Grant, withLink } from "./grant.ts";
import type { ReplyEvent, StatusEvent } from "./task-event.ts";
import {
  type CallInput,
  type Content,
  type ExecutorInput,
  statusOf,
  TaskTools,
  toParts,
} from "./task-tools.ts";
import type { UnusedResults } from "./unused-results.ts";

/** Options of a question. */
export interface QuestionOptions {
  /** How long it waits for its answer before the task is CANCELED; `false`: for ever. Default: the agent's. */
  readonly timeoutMs?: number | false;
}

/** What the engine knows about the message of a turn. */
export interface TurnInput extends CallInput {
  /**
   * The task at the beginning of the turn, with its whole history; undefined for a new message. Its lists are a copy. The messages, parts
   * and metadata in them are the engine's own: read them, but change none.
   */
  readonly task: Task | undefined;
  /** 1, and one more for each time that this turn began again after a crash (`recovery: "restart"`). */
  readonly attempt: number;
  /**
   * What was granted after AUTH_REQUIRED (`AgentServer.grant`): it began this turn, and `message` has no parts. Undefined: a message
   * of the caller did, which by itself authorises nothing.
   */
  readonly grant: Grant | undefined;
}

/** One message to answer, and the tools to answer it. Yield what the methods return. */
export interface Turn extends TurnInput, ExecutorInput {
  /** INPUT_REQUIRED: ends the turn; the next message of the caller starts the next one. */
  inputRequired(question: Content, options?: QuestionOptions): StatusEvent;
  /**
   * AUTH_REQUIRED, with a text that explains what is needed and where (spec §7.6): ends the turn. A grant or the next
   * message of the caller starts the next one.
   */
  authRequired(explanation: Content, options?: QuestionOptions & AuthHint): StatusEvent;
  /** A direct Message, if this is the first event for a new message; otherwise the message of COMPLETED. */
  reply(content: Content): ReplyEvent;
}

/** The tools of turns alone. They work without their object, too. */
const turnTools: Pick<Turn, "inputRequired" | "authRequired" | "reply"> = {
  inputRequired: (question, options) => statusOf(TaskState.INPUT_REQUIRED, question, toWait(options)),
  authRequired: (explanation, options = {}) => {
    const parts = withLink(toParts(explanation), options);
    const hint = authMember(options);
    const content = "auth" in hint ? [...parts, json(hint)] : parts;
    return statusOf(TaskState.AUTH_REQUIRED, content, toWait(options));
  },
  reply: (content) => ({ kind: "reply", parts: toParts(content) }),
};

/** The report of a question that has a waiting time of its own. */
export function toWait({ timeoutMs }: QuestionOptions = {}): LifecycleReport {
  if (timeoutMs === undefined) {
    return {};
  }
  if (timeoutMs !== false && !(timeoutMs >= 0 && Number.isFinite(timeoutMs))) {
    throw new Error(`timeoutMs is a number of milliseconds or false, not ${timeoutMs}`);
  }
  return { waitSeconds: timeoutMs === false ? "unlimited" : timeoutMs / 1_000 };
}

/** The tools of one turn. */
export class EngineTurn extends TaskTools implements Turn {
  readonly task: Task | undefined;
  readonly attempt: number;
  readonly grant: Grant | undefined;
  readonly inputRequired: Turn["inputRequired"];
  readonly authRequired: Turn["authRequired"];
  readonly reply: Turn["reply"];
  readonly #share: string | undefined;

  /** @param share see `shareOf` */
  constructor(
    input: TurnInput,
    signal: () => AbortSignal,
    nextArtifactOrdinal: () => number,
    unused: UnusedResults,
    share: string | undefined,
  ) {
    super(input, signal, nextArtifactOrdinal, unused);
    this.#share = share;
    this.task = input.task;
    this.attempt = input.attempt;
    this.grant = input.grant;
    this.inputRequired = unused.events("inputRequired", turnTools.inputRequired);
    this.authRequired = unused.events("authRequired", turnTools.authRequired);
    this.reply = unused.events("reply", turnTools.reply);
  }

  /** The caller whose turns its work takes: those without credentials are told apart by their networks. */
  static shareOf(turn: Turn): string | undefined {
    return #share in turn ? turn.#share : undefined;
  }
}
