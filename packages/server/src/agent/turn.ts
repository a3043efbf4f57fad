import { json, type LifecycleReport, partText, text, type Usage } from "@a2a-connect/core";
import {
  type Artifact,
  ArtifactSchema,
  type Message,
  type Part,
  type Task,
  TaskState,
} from "@a2a-connect/proto";
import { create, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import type { ArtifactEvent, ReplyEvent, StatusEvent } from "./turn-event.ts";

/** What a status or reply says: plain text, one part, or several. */
export type Content = string | Part | readonly Part[];

/** How far the work is, beside the words. */
export interface ProgressReport {
  /** From 0 to 1. */
  readonly progress?: number;
  readonly estimatedCompletion?: Date;
  readonly usage?: Usage;
}

/** A whole artifact: its content as `text`, `data` or `parts` (exactly one of them). */
export interface ArtifactInit {
  /** Default: `artifact-<ordinal>`, counted within the task. */
  readonly id?: string;
  readonly name?: string;
  readonly description?: string;
  readonly text?: string;
  readonly data?: JsonValue;
  readonly parts?: readonly Part[];
  readonly metadata?: JsonObject;
  /** Seals the artifact: it gets its size and SHA-256, and nothing may be added or replaced any more. */
  readonly last?: boolean;
  /** Lets a sealed artifact be replaced nevertheless. */
  readonly replaceable?: boolean;
}

/** Options of one chunk. */
export interface AppendOptions {
  /** Shown name, set with the first chunk. Default: the id. */
  readonly name?: string;
  /** Extends an artifact of an earlier turn instead of beginning it anew. */
  readonly continue?: boolean;
  /** Marks the final chunk and seals the artifact. */
  readonly last?: boolean;
}

/** Why a task ends without a result. */
export interface EndOptions {
  /** Machine-readable; goes into the status message's metadata. Default `agent-failed` or `agent-rejected`. */
  readonly reason?: string;
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
  /** Aborts on cancel, deadline, silence for too long, a lost task or shutdown; `reason` is an Error that says which. */
  readonly signal: AbortSignal;
}

/** One message to answer, and the tools to answer it with. Yield what the methods return. */
export interface Turn extends TurnInput {
  /** All text parts of the message, joined without a separator. */
  readonly text: string;
  /** WORKING, with a word about progress. Without any, nothing happens when the task is WORKING already. */
  working(content?: Content, progress?: ProgressReport): StatusEvent;
  /** A whole artifact; one of the same id is replaced. */
  artifact(init: ArtifactInit): ArtifactEvent;
  /** A chunk of the artifact with that id. The first one in this turn begins it anew. */
  append(id: string, chunk: Content, options?: AppendOptions): ArtifactEvent;
  /** INPUT_REQUIRED: ends the turn; the next message of the caller starts the next one. */
  inputRequired(question: Content): StatusEvent;
  /** AUTH_REQUIRED, with words that explain what is needed and where (spec §7.6): ends the turn. */
  authRequired(explanation: Content): StatusEvent;
  /** COMPLETED with a closing message. Returning from the executor does the same without one. */
  complete(content?: Content): StatusEvent;
  /** A direct Message, if this is the first thing a new message gives; otherwise the message of COMPLETED. */
  reply(content: Content): ReplyEvent;
  /** FAILED: the work was begun and could not be done. */
  fail(why: Content, options?: EndOptions): StatusEvent;
  /** REJECTED: the agent will not do it. */
  reject(why: Content, options?: EndOptions): StatusEvent;
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

/** The tools that need nothing of the turn; they can be taken off it. */
const tools: Omit<Turn, keyof TurnInput | "text" | "artifact"> = {
  working: (content = [], progress = {}) => status(TaskState.WORKING, content, toReport(progress)),
  append: (id, chunk, options = {}) => ({
    kind: "artifact",
    artifact: create(ArtifactSchema, { artifactId: id, name: options.name ?? id, parts: toParts(chunk) }),
    mode: options.continue === true ? "continued" : "chunk",
    last: options.last ?? false,
    replaceable: false,
  }),
  inputRequired: (question) => status(TaskState.INPUT_REQUIRED, question),
  authRequired: (explanation) => status(TaskState.AUTH_REQUIRED, explanation),
  complete: (content = []) => status(TaskState.COMPLETED, content),
  reply: (content) => ({ kind: "reply", parts: toParts(content) }),
  fail: (why, { reason = "agent-failed" } = {}) => status(TaskState.FAILED, why, { reason }),
  reject: (why, { reason = "agent-rejected" } = {}) => status(TaskState.REJECTED, why, { reason }),
};

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
  readonly artifact: Turn["artifact"];
  readonly working: Turn["working"] = tools.working;
  readonly append: Turn["append"] = tools.append;
  readonly inputRequired: Turn["inputRequired"] = tools.inputRequired;
  readonly authRequired: Turn["authRequired"] = tools.authRequired;
  readonly complete: Turn["complete"] = tools.complete;
  readonly reply: Turn["reply"] = tools.reply;
  readonly fail: Turn["fail"] = tools.fail;
  readonly reject: Turn["reject"] = tools.reject;
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
    this.artifact = (init) => ({
      kind: "artifact",
      artifact: toArtifact(init, nextArtifactOrdinal),
      mode: "whole",
      last: init.last ?? false,
      replaceable: init.replaceable ?? false,
    });
    this.#signal = signal;
  }

  get signal(): AbortSignal {
    return this.#signal();
  }
}

function status(state: StatusEvent["state"], content: Content, report: LifecycleReport = {}): StatusEvent {
  return { kind: "status", state, parts: toParts(content), report };
}

function toReport({ progress, estimatedCompletion, usage }: ProgressReport): LifecycleReport {
  return {
    ...(progress === undefined ? {} : { progress }),
    ...(estimatedCompletion === undefined ? {} : { estimatedCompletion: estimatedCompletion.toISOString() }),
    ...(usage === undefined ? {} : { usage }),
  };
}

function toArtifact(init: ArtifactInit, nextArtifactOrdinal: () => number): Artifact {
  const artifactId = init.id ?? `artifact-${nextArtifactOrdinal()}`;
  return create(ArtifactSchema, {
    artifactId,
    ...(init.name === undefined ? {} : { name: init.name }),
    ...(init.description === undefined ? {} : { description: init.description }),
    ...(init.metadata === undefined ? {} : { metadata: init.metadata }),
    parts: artifactParts(init),
  });
}

function artifactParts({ text: words, data, parts }: ArtifactInit): Part[] {
  if (parts !== undefined) {
    return [...parts];
  }
  if (words !== undefined) {
    return [text(words)];
  }
  return data === undefined ? [] : [json(data)];
}

function toParts(content: Content): Part[] {
  if (typeof content === "string") {
    return [text(content)];
  }
  return Array.isArray(content) ? [...content] : [content as Part]; // Array.isArray does not narrow readonly arrays
}
