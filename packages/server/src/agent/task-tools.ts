import { type LifecycleReport, partText, text, type Usage } from "@a2a-connect/core";
import { toJsonValue } from "@a2a-connect/core/internal";
import { type Artifact, ArtifactSchema, type Message, type Part, TaskState } from "@a2a-connect/proto";
import { create, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import type { Value } from "@bufbuild/protobuf/wkt";
import type { ArtifactEvent, StatusEvent } from "./task-event.ts";
import type { UnusedResults } from "./unused-results.ts";

/** The content of a status or reply: plain text, one part, or several. */
export type Content = string | Part | readonly Part[];

/** Progress of the work, beside the text. */
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
  /** Read when the artifact is yielded. */
  readonly data?: JsonValue;
  readonly parts?: readonly Part[];
  readonly metadata?: JsonObject;
  /** Seals the artifact: it gets its size and SHA-256, and nothing may be added or replaced any more. */
  readonly last?: boolean;
  /** Allows the executor to replace a sealed artifact nevertheless. */
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

/** Events that every executor may yield. Yield what the methods return. */
export interface EventTools {
  /** WORKING, with a text about progress. Without a text, and when the task is WORKING already, there is no event. */
  working(content?: Content, progress?: ProgressReport): StatusEvent;
  /** A whole artifact; one of the same id is replaced. */
  artifact(init: ArtifactInit): ArtifactEvent;
  /** A chunk of the artifact with that id. The first one of an execution begins it anew. */
  append(id: string, chunk: Content, options?: AppendOptions): ArtifactEvent;
  /** COMPLETED with a closing message. Returning from the executor does the same without one. */
  complete(content?: Content): StatusEvent;
  /** FAILED: the work was begun and could not be done. */
  fail(why: Content, options?: EndOptions): StatusEvent;
  /** REJECTED: the agent refuses the task. */
  reject(why: Content, options?: EndOptions): StatusEvent;
}

/** Who has sent the message, as the credentials of its call say. */
export interface TaskCaller {
  /** Stable and unique among all callers; `anonymous` for all without credentials. */
  readonly principal: string;
  readonly tenant: string;
  readonly scopes: readonly string[];
  /** The verified claims that the server's gate was asked for; never the credentials themselves. */
  readonly claims: JsonObject;
}

/** What the engine knows about a message, its task and its sender. */
export interface CallInput {
  readonly message: Message;
  readonly taskId: string;
  readonly contextId: string;
  /** The skill of this task, if the caller or the agent's `route` named one. */
  readonly skill: string | undefined;
  /** Media types that the caller accepts; empty: any (requirement A-10). */
  readonly acceptedOutputModes: readonly string[];
  /** Extensions that the caller activated for this request (requirement G-6). */
  readonly extensions: readonly string[];
  /** Who has sent the message. Stored with the task where its code may run again. */
  readonly caller: TaskCaller;
  /** The caller's identity and tenant. */
  readonly principal: string;
  readonly tenant: string;
  /** Metadata of the request itself. */
  readonly metadata: JsonObject | undefined;
}

/** What both kinds of executor get. */
export interface ExecutorInput extends CallInput, EventTools {
  /** All text parts of the message, joined without a separator. */
  readonly text: string;
  /**
   * The first data part of the message as plain JSON; undefined: it has none. Do not change it: it may be read again. It is made when code
   * reads it, which takes milliseconds for thousands of values: read it before you await what hundreds of tasks may await at the same time.
   */
  readonly data: JsonValue | undefined;
  /** Aborts on cancel, deadline, silence for too long, a lost task or shutdown; `reason` is an Error that says which. */
  readonly signal: AbortSignal;
}

/** The tools of one execution. A class because of its getter: object literals with one live as long as their hidden classes do. */
export class TaskTools implements ExecutorInput {
  readonly message: Message;
  readonly taskId: string;
  readonly contextId: string;
  readonly skill: string | undefined;
  readonly acceptedOutputModes: readonly string[];
  readonly extensions: readonly string[];
  readonly caller: TaskCaller;
  readonly principal: string;
  readonly tenant: string;
  readonly metadata: JsonObject | undefined;
  /** The text of the message, as it was made last. */
  #text: WeakRef<{ readonly text: string }> | undefined;
  /** Its first data part; null: it has none. */
  #value: Value | null | undefined;
  /** The JSON of that, as it was made last. */
  #data: WeakRef<JsonObject | JsonValue[]> | undefined;
  readonly artifact: EventTools["artifact"];
  readonly working: EventTools["working"];
  readonly append: EventTools["append"];
  readonly complete: EventTools["complete"];
  readonly fail: EventTools["fail"];
  readonly reject: EventTools["reject"];
  readonly #signal: () => AbortSignal;

  /**
   * @param signal makes the signal when code first reads it
   * @param nextArtifactOrdinal counts the task's unnamed artifacts
   * @param unused gets the events, until they are yielded
   */
  constructor(
    input: CallInput,
    signal: () => AbortSignal,
    nextArtifactOrdinal: () => number,
    unused: UnusedResults,
  ) {
    this.message = input.message;
    this.taskId = input.taskId;
    this.contextId = input.contextId;
    this.skill = input.skill;
    this.acceptedOutputModes = input.acceptedOutputModes;
    this.extensions = input.extensions;
    this.caller = input.caller;
    this.principal = input.principal;
    this.tenant = input.tenant;
    this.metadata = input.metadata;
    this.artifact = unused.events("artifact", createArtifactTool(nextArtifactOrdinal));
    this.working = unused.events("working", eventTools.working);
    this.append = unused.events("append", eventTools.append);
    this.complete = unused.events("complete", eventTools.complete);
    this.fail = unused.events("fail", eventTools.fail);
    this.reject = unused.events("reject", eventTools.reject);
    this.#signal = signal;
  }

  /** Made when code reads it, and not kept: of several parts it takes as much memory as they do. */
  get text(): string {
    const known = this.#text?.deref();
    if (known !== undefined) return known.text;
    const made = { text: partText(this.message) };
    this.#text = new WeakRef(made);
    return made.text;
  }

  /**
   * Made when code reads it: many executors do not. It is kept for as long as code uses it, and to the end of the turn of the event
   * loop: code may read it once for each item of its caller's list.
   */
  get data(): JsonValue | undefined {
    const known = this.#data?.deref();
    if (known !== undefined) return known;
    if (this.#value === undefined) this.#value = findData(this.message);
    if (this.#value === null) return undefined;
    const made = toJsonValue(this.#value);
    if (typeof made === "object" && made !== null) this.#data = new WeakRef(made);
    return made;
  }

  get signal(): AbortSignal {
    return this.#signal();
  }
}

function findData({ parts }: Message): Value | null {
  for (const { content } of parts) {
    if (content.case === "data") return content.value;
  }
  return null;
}

/** The tools that do not need the execution. They work without their object, too. */
export const eventTools: Omit<EventTools, "artifact"> = {
  working: (content = [], progress = {}) => statusOf(TaskState.WORKING, content, toReport(progress)),
  append: (id, chunk, options = {}) => ({
    kind: "artifact",
    artifact: create(ArtifactSchema, { artifactId: id, name: options.name ?? id, parts: toParts(chunk) }),
    mode: options.continue === true ? "continued" : "chunk",
    last: options.last ?? false,
    replaceable: false,
  }),
  complete: (content = []) => statusOf(TaskState.COMPLETED, content),
  fail: (why, { reason = "agent-failed" } = {}) => statusOf(TaskState.FAILED, why, { reason }),
  reject: (why, { reason = "agent-rejected" } = {}) => statusOf(TaskState.REJECTED, why, { reason }),
};

/** @param nextOrdinal counts the task's unnamed artifacts */
export function createArtifactTool(nextOrdinal: () => number): EventTools["artifact"] {
  return (init) => ({
    kind: "artifact",
    artifact: toArtifact(init, nextOrdinal),
    data: init.parts === undefined && init.text === undefined ? init.data : undefined,
    mode: "whole",
    last: init.last ?? false,
    replaceable: init.replaceable ?? false,
  });
}

/** The event of a status. */
export function statusOf(
  state: StatusEvent["state"],
  content: Content,
  report: LifecycleReport = {},
): StatusEvent {
  return { kind: "status", state, parts: toParts(content), report };
}

/**
 * Content as parts.
 *
 * @throws TypeError for a list in which one is missing. Nothing is made of it before: a list with one part at the index 400,000,000 takes
 *   no memory, and its copy takes gigabytes.
 */
export function toParts(content: Content): Part[] {
  if (typeof content === "string") {
    return [text(content)];
  }
  if (!Array.isArray(content)) return [content as Part]; // Array.isArray does not narrow readonly arrays
  const missing = content.findIndex((part) => part === undefined || part === null);
  if (missing >= 0) throw new TypeError(`the list of parts has none at the index ${missing}`);
  return [...content];
}

function toReport({ progress, estimatedCompletion, usage }: ProgressReport): LifecycleReport {
  return {
    ...(progress === undefined ? {} : { progress }),
    ...(estimatedCompletion === undefined ? {} : { estimatedCompletion: estimatedCompletion.toISOString() }),
    ...(usage === undefined ? {} : { usage }),
  };
}

function toArtifact(init: ArtifactInit, nextOrdinal: () => number): Artifact {
  const artifactId = init.id ?? `artifact-${nextOrdinal()}`;
  return create(ArtifactSchema, {
    artifactId,
    ...(init.name === undefined ? {} : { name: init.name }),
    ...(init.description === undefined ? {} : { description: init.description }),
    ...(init.metadata === undefined ? {} : { metadata: init.metadata }),
    parts: toParts(init.parts ?? init.text ?? []),
  });
}
