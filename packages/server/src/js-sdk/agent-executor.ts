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
import type { Turn } from "../agent/turn.ts";
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
    const bus = new EventBus();
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
      for await (const event of bus.events()) {
        if (takesLong(event)) await nextSlice(turn.caller.principal); // hundreds may have published theirs at the same moment
        yield* toEvents(event, turn);
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

function createSlices(caller: string): SliceFor {
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
  const sliceFor = createSlices(caller.principal);
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

/** An event of which this is more is converted in a slice of its own, in bytes of its encoding. */
const longBytes = 4 * 1024;

/** What cannot be weighed, because it is nested too deep, is refused later. */
function takesLong({ data }: SdkEvent): boolean {
  try {
    return isLarge(data as never, longBytes); // any object can be weighed
  } catch {
    return true;
  }
}

function* toEvents(event: SdkEvent, turn: Turn): Generator<TurnEvent> {
  switch (event.kind) {
    case "message":
      yield { kind: "reply", parts: fromSdkParts(event.data.parts) };
      return;
    case "statusUpdate":
      yield* toStatus(event.data.status);
      return;
    case "artifactUpdate": {
      const { artifact, append = false, lastChunk = false } = event.data;
      if (artifact !== undefined) yield toArtifact(artifact, append ? "continued" : "whole", lastChunk);
      return;
    }
    case "task": {
      const { artifacts = [], status } = event.data;
      const known = new Set(turn.task?.artifacts.map(({ artifactId }) => artifactId));
      for (const artifact of artifacts) {
        if (!known.has(artifact.artifactId)) yield toArtifact(artifact, "whole", false);
      }
      if (turn.task === undefined && status?.state === TaskState.SUBMITTED) {
        yield { kind: "status", state: TaskState.WORKING, parts: [], report: {} }; // callers learn of the task now
      } else if (status?.state !== turn.task?.status?.state) yield* toStatus(status);
    }
  }
}

function* toStatus(status: SdkStatus | undefined): Generator<StatusEvent> {
  const state = status?.state ?? TaskState.UNSPECIFIED;
  if (state === TaskState.UNSPECIFIED || state === TaskState.SUBMITTED) return;
  yield { kind: "status", state, parts: fromSdkParts(status?.message?.parts ?? []), report: {} };
}

function toArtifact(given: SdkArtifact, mode: "continued" | "whole", last: boolean): TurnEvent {
  const { artifactId, name = "", description = "", parts, metadata, extensions = [] } = given;
  const artifact = create(ArtifactSchema, {
    artifactId,
    name,
    description,
    parts: fromSdkParts(parts),
    extensions: [...extensions],
    ...(metadata === undefined ? {} : { metadata: metadata as JsonObject }), // what their types leave open is JSON on the wire
  });
  return { kind: "artifact", artifact, mode, last, replaceable: true };
}

/** Each part may have data with the same list of its caller's. */
function fromSdkParts(parts: readonly SdkPart[]): Part[] {
  const known = new KnownValues();
  return parts.map((part) => fromSdkPart(part, known));
}

function fromSdkPart(
  { content, metadata, mediaType = "", filename = "" }: SdkPart,
  known: KnownValues,
): Part {
  const details = {
    mediaType,
    filename,
    ...(metadata === undefined ? {} : { metadata: metadata as JsonObject }),
  };
  switch (content?.$case) {
    case "data": {
      const value = fromJsonValue(content.value as JsonValue, known); // throws for what is no JSON
      return create(PartSchema, { ...details, content: { case: "data", value } });
    }
    case "raw":
      return create(PartSchema, { ...details, content: { case: "raw", value: content.value } });
    case "text":
    case "url":
      return create(PartSchema, { ...details, content: { case: content.$case, value: content.value } });
    case undefined:
      return create(PartSchema, details);
  }
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
