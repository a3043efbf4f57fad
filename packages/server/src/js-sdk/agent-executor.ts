import { nextSlice } from "@a2a-connect/bindings/server";
import { fromJsonValue, isLarge, KnownValues, toJsonValue } from "@a2a-connect/core/internal";
import {
  type Artifact,
  ArtifactSchema,
  type Message,
  type Part,
  PartSchema,
  type Task,
  TaskState,
} from "@a2a-connect/proto";
import { create, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { TurnExecutor } from "../agent/agent-definition.ts";
import type { StatusEvent, TurnEvent } from "../agent/task-event.ts";
import { EngineTurn, type Turn } from "../agent/turn.ts";
import { EventBus } from "./event-bus.ts";
import type { SdkArtifact, SdkEvent, SdkMessage, SdkPart, SdkStatus, SdkTask } from "./sdk-types.ts";

/**
 * An `AgentExecutor` of `@a2a-js/sdk` 1.x, by its form alone. Its parameters have classes with private members, which no other
 * package can name.
 */
export interface SdkAgentExecutor {
  readonly execute: (requestContext: never, eventBus: never) => Promise<void>;
  readonly cancelTask: (taskId: string, eventBus: never) => Promise<void>;
}

/**
 * Runs an agent that was written for `@a2a-js/sdk` 1.x, unchanged (docs/migrate.md). A published task that says nothing new is no
 * event, and an executor that returns without a terminal state has completed its task.
 */
export function fromAgentExecutor(executor: SdkAgentExecutor): TurnExecutor {
  return async function* execute(turn) {
    const known = new Set(turn.task?.artifacts.map(({ artifactId }) => artifactId));
    const bus = new EventBus((event: SdkEvent) => convert(event, turn, known));
    const given = bus as never; // it has all that their interface asks for
    // These two are asynchronous, so that what the executor throws at once is its failure, too.
    const cancel = async (): Promise<void> => {
      try {
        await executor.cancelTask(turn.taskId, given);
      } catch (error) {
        bus.end(error);
      }
    };
    turn.signal.addEventListener("abort", cancel, { once: true });
    const run = async (): Promise<void> => {
      const context = await toRequestContext(turn);
      if (!turn.signal.aborted) await executor.execute(context as never, given);
    };
    run().then(
      () => bus.end(),
      (error: unknown) => bus.end(error),
    );
    try {
      for await (const { events, convertData } of bus.events()) {
        if (convertData !== undefined) {
          await nextSlice(EngineTurn.shareOf(turn)); // hundreds may have published theirs at the same moment
          convertData();
        }
        yield* events;
      }
    } finally {
      turn.signal.removeEventListener("abort", cancel);
    }
  };
}

/** A message or an artifact of which this is more is converted in a slice of its own, in bytes of its encoding; */
const largeBytes = 16 * 1024;

/** of others so many at a time. */
const maxInASlice = 16;

/** Resolves when the slice of the event loop begins in which this is converted; undefined: now. */
type SliceFor = (next: Message | Artifact) => Promise<void> | undefined;

function createSlices(caller: string | undefined): SliceFor {
  let converted = 0;
  return (next) => {
    converted += 1;
    if (converted <= maxInASlice && !isLarge(next, largeBytes)) return undefined;
    converted = 0;
    return nextSlice(caller);
  };
}

/** What their executors read, in the form of their `RequestContext`. A task with much data takes long, and other calls run in between. */
async function toRequestContext(turn: Turn): Promise<object> {
  const { message, task, taskId, contextId, tenant, caller, extensions, metadata } = turn;
  const sliceFor = createSlices(EngineTurn.shareOf(turn));
  await sliceFor(message);
  const userMessage = toSdkMessage(message, { taskId, contextId });
  const activated = new Set<string>();
  return {
    taskId,
    contextId,
    userMessage,
    task: task && (await toSdkTask(task, sliceFor)),
    referenceTasks: undefined,
    request: {
      tenant,
      message: userMessage,
      configuration: { acceptedOutputModes: [...turn.acceptedOutputModes], returnImmediately: false },
      metadata,
    },
    context: {
      tenant,
      user: { isAuthenticated: caller.principal !== "anonymous", userName: caller.principal },
      requestedVersion: "1.0",
      requestedExtensions: new Set(extensions),
      activatedExtensions: activated,
      addActivatedExtension: (uri: string) => activated.add(uri),
      state: new Map<string, unknown>(),
    },
  };
}

/** A part whose content is data that has not been converted yet. */
interface WaitingData {
  readonly part: Part;
  readonly value: unknown;
}

/** What was published. */
interface Converted {
  readonly events: readonly TurnEvent[];
  /** Converts their data, if there is much of it; undefined: they are complete. */
  readonly convertData?: () => void;
}

/** Data in an event of which this is more is converted in a slice of its own, in bytes of its encoding. */
const longBytes = 4 * 1024;

/** An executor may use the objects that it has published for its next event, so all but long data is taken from them at once. */
function convert(event: SdkEvent, turn: Turn, known: ReadonlySet<string>): Converted {
  try {
    const waiting: WaitingData[] = [];
    const events = [...toEvents(event, turn, known, waiting)];
    if (waiting.length === 0) return { events };
    const convertData = (): void => fill(waiting);
    const values = waiting.map(({ value }) => value);
    if (isLarge(values as never, longBytes)) return { events, convertData }; // any object can be weighed
    convertData();
    return { events };
  } catch (error) {
    const fail = (): never => {
      throw error;
    };
    return { events: [], convertData: fail }; // what was published before is taken first
  }
}

/** Each part may have data with the same list of its caller's. */
function fill(waiting: readonly WaitingData[]): void {
  const known = new KnownValues();
  for (const { part, value } of waiting) {
    part.content = { case: "data", value: fromJsonValue(value as JsonValue, known) }; // throws for what is no JSON
  }
}

/**
 * @param known the ids of the artifacts that the task had before the turn
 * @param waiting gets the parts with data
 */
function* toEvents(
  event: SdkEvent,
  turn: Turn,
  known: ReadonlySet<string>,
  waiting: WaitingData[],
): Generator<TurnEvent> {
  switch (event.kind) {
    case "message":
      yield { kind: "reply", parts: fromSdkParts(event.data.parts, waiting) };
      return;
    case "statusUpdate":
      yield* toStatus(event.data.status, waiting);
      return;
    case "artifactUpdate": {
      const { artifact, append = false, lastChunk = false } = event.data;
      if (artifact !== undefined)
        yield toArtifact(artifact, append ? "continued" : "whole", lastChunk, waiting);
      return;
    }
    case "task": {
      const { artifacts = [], status } = event.data;
      for (const artifact of artifacts) {
        if (!known.has(artifact.artifactId)) yield toArtifact(artifact, "whole", false, waiting);
      }
      if (turn.task === undefined && status?.state === TaskState.SUBMITTED) {
        yield { kind: "status", state: TaskState.WORKING, parts: [], report: {} }; // callers learn of the task now
      } else if (status?.state !== turn.task?.status?.state) yield* toStatus(status, waiting);
    }
  }
}

function* toStatus(status: SdkStatus | undefined, waiting: WaitingData[]): Generator<StatusEvent> {
  const state = status?.state ?? TaskState.UNSPECIFIED;
  if (state === TaskState.UNSPECIFIED || state === TaskState.SUBMITTED) return;
  yield { kind: "status", state, parts: fromSdkParts(status?.message?.parts ?? [], waiting), report: {} };
}

function toArtifact(
  given: SdkArtifact,
  mode: "continued" | "whole",
  last: boolean,
  waiting: WaitingData[],
): TurnEvent {
  const { artifactId, name = "", description = "", parts, metadata, extensions = [] } = given;
  const artifact = create(ArtifactSchema, {
    artifactId,
    name,
    description,
    parts: fromSdkParts(parts, waiting),
    extensions: [...extensions],
    ...(metadata === undefined ? {} : { metadata: metadata as JsonObject }), // what their types leave open is JSON on the wire
  });
  return { kind: "artifact", artifact, mode, last, replaceable: true };
}

function fromSdkParts(parts: readonly SdkPart[], waiting: WaitingData[]): Part[] {
  return parts.map((part) => fromSdkPart(part, waiting));
}

function fromSdkPart(
  { content, metadata, mediaType = "", filename = "" }: SdkPart,
  waiting: WaitingData[],
): Part {
  const part = create(PartSchema, {
    mediaType,
    filename,
    ...(metadata === undefined ? {} : { metadata: metadata as JsonObject }),
  });
  switch (content?.$case) {
    case "data":
      waiting.push({ part, value: content.value });
      break;
    case "raw":
      part.content = { case: "raw", value: content.value };
      break;
    case "text":
    case "url":
      part.content = { case: content.$case, value: content.value };
  }
  return part;
}

function toSdkPart({ content, metadata, mediaType, filename }: Part): SdkPart {
  const details = { mediaType, filename, metadata };
  switch (content.case) {
    case "data":
      return { ...details, content: { $case: "data", value: toJsonValue(content.value) } };
    case "raw":
      return { ...details, content: { $case: "raw", value: content.value } };
    case "text":
    case "url":
      return { ...details, content: { $case: content.case, value: content.value } };
    case undefined:
      return { ...details, content: undefined };
  }
}

function toSdkMessage(
  message: Message,
  ids?: { readonly taskId: string; readonly contextId: string },
): SdkMessage {
  const { messageId, role, parts, metadata, extensions, referenceTaskIds } = message;
  const { taskId, contextId } = ids ?? message;
  return {
    messageId,
    taskId,
    contextId,
    role,
    parts: parts.map(toSdkPart),
    metadata,
    extensions: [...extensions],
    referenceTaskIds: [...referenceTaskIds],
  };
}

async function toSdkTask(task: Task, sliceFor: SliceFor): Promise<SdkTask> {
  const { id, contextId, status, metadata } = task;
  const { state, message, timestamp } = status ?? {};
  const history: SdkMessage[] = [];
  for (const each of task.history) {
    await sliceFor(each);
    history.push(toSdkMessage(each));
  }
  const artifacts: SdkArtifact[] = [];
  for (const each of task.artifacts) {
    await sliceFor(each);
    artifacts.push(toSdkArtifact(each));
  }
  return {
    id,
    contextId,
    status: {
      state: state ?? TaskState.UNSPECIFIED,
      message: message && toSdkMessage(message),
      timestamp: timestamp && timestampDate(timestamp).toISOString(),
    },
    artifacts,
    history,
    metadata,
  };
}

function toSdkArtifact({
  artifactId,
  name,
  description,
  parts,
  metadata,
  extensions,
}: Artifact): SdkArtifact {
  return {
    artifactId,
    name,
    description,
    parts: parts.map(toSdkPart),
    metadata,
    extensions: [...extensions],
  };
}
