import {
  type ArtifactSchema,
  MessageSchema,
  type PartSchema,
  Role,
  StreamResponseSchema,
  type TaskPushNotificationConfig,
  TaskPushNotificationConfigSchema,
  TaskSchema,
  TaskState,
  type TaskStatusSchema,
} from "@a2a-connect/proto";
import type {
  EntryKind,
  LogEntry,
  LogTail,
  Owner,
  Snapshot,
  TaskCommit,
  TaskIndex,
  TaskKey,
} from "@a2a-connect/server/store";
import { create, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";

/** The owner of the builders' tasks, unless a test gives another one. */
export const alice: Owner = { tenant: "", principal: "alice" };

/** The values of a commit. Every missing value has a default that fits a first commit. */
export interface CommitInit {
  /** Default `alice`. */
  readonly owner?: Owner;
  /** Default "task-1". */
  readonly taskId?: string;
  /** Tail and fence of the task as the writer knows it, for instance a StoredTask; default: no task yet. */
  readonly after?: { readonly tail: LogTail; readonly fence: number };
  /** What to append; default: the creating `task`, or a `status` for an existing task. */
  readonly kinds?: readonly EntryKind[];
  /** Default "context-1". */
  readonly contextId?: string;
  /** Default SUBMITTED for a first commit, WORKING for every other. */
  readonly state?: TaskState;
  /** Status timestamp, milliseconds; default 1,000. */
  readonly at?: number;
  /** When a timer is due, milliseconds; default: no timer. */
  readonly wakeAt?: number;
  /** Text of artifacts, inputs and status messages; default "hello". */
  readonly text?: string;
  /** Whether the commit has a snapshot; default false. */
  readonly snapshot?: boolean;
  readonly pushConfigs?: readonly TaskPushNotificationConfig[];
  /** Idempotency keys of the commit; default: none. */
  readonly keys?: readonly TaskKey[];
}

/** A commit like the engine's: consecutive numbers, and payloads that are real protobuf or JSON. */
export function createCommit(init: CommitInit = {}): TaskCommit {
  const {
    owner = alice,
    taskId = "task-1",
    after,
    wakeAt,
    at = 1_000,
    contextId = "context-1",
    pushConfigs = [],
    keys = [],
  } = init;
  const tail = after?.tail ?? { sequence: 0, generation: 0 };
  const isFirst = tail.sequence === 0;
  const state = init.state ?? (isFirst ? TaskState.SUBMITTED : TaskState.WORKING);
  const index: TaskIndex = { contextId, state, statusTimestamp: at, wakeAt };
  const scene: Scene = { taskId, index, text: init.text ?? "hello" };
  const entries: LogEntry[] = [];
  let { generation } = tail;
  for (const kind of init.kinds ?? [isFirst ? "task" : "status"]) {
    const isEvent = kind === "task" || kind === "status" || kind === "artifact";
    if (isEvent) generation += 1;
    const sequence = tail.sequence + entries.length + 1;
    entries.push({
      sequence,
      generation: isEvent ? generation : undefined,
      kind,
      payload: createPayload(kind, scene),
    });
  }
  return {
    owner,
    taskId,
    expectedSequence: tail.sequence,
    fence: after?.fence ?? 1,
    entries,
    index,
    snapshot: init.snapshot === true ? createSnapshot(tail.sequence + entries.length, scene) : undefined,
    pushConfigs,
    keys,
  };
}

/** A push config of a task; `id` is its id in the task. */
export function createPushConfig(
  taskId: string,
  id: string,
  url = "https://example.com/hook",
): TaskPushNotificationConfig {
  return create(TaskPushNotificationConfigSchema, {
    taskId,
    id,
    url,
    token: "token",
    authentication: { scheme: "Bearer", credentials: "secret" },
  });
}

interface Scene {
  readonly taskId: string;
  readonly index: TaskIndex;
  readonly text: string;
}

type EventInit = NonNullable<MessageInitShape<typeof StreamResponseSchema>["payload"]>;

function createPayload(kind: EntryKind, scene: Scene): Uint8Array {
  const { taskId, index, text } = scene;
  const { contextId } = index;
  switch (kind) {
    case "task":
      return encodeEvent({ case: "task", value: { id: taskId, contextId, status: statusOf(scene) } });
    case "status":
      return encodeEvent({ case: "statusUpdate", value: { taskId, contextId, status: statusOf(scene) } });
    case "artifact":
      return encodeEvent({
        case: "artifactUpdate",
        value: { taskId, contextId, artifact: artifactOf(scene), append: true },
      });
    case "input":
      return toBinary(
        MessageSchema,
        create(MessageSchema, { messageId: "input", role: Role.USER, parts: [textPart(text)] }),
      );
    case "command":
    case "journal":
      return new TextEncoder().encode(JSON.stringify({ [kind]: text }));
  }
}

function encodeEvent(payload: EventInit): Uint8Array {
  return toBinary(StreamResponseSchema, create(StreamResponseSchema, { payload }));
}

function createSnapshot(sequence: number, scene: Scene): Snapshot {
  const head = create(TaskSchema, {
    id: scene.taskId,
    contextId: scene.index.contextId,
    status: statusOf(scene),
  });
  const artifacts = create(TaskSchema, { artifacts: [artifactOf(scene)] });
  return { sequence, head: toBinary(TaskSchema, head), artifacts: toBinary(TaskSchema, artifacts) };
}

function statusOf({ index, text }: Scene): MessageInitShape<typeof TaskStatusSchema> {
  return {
    state: index.state,
    timestamp: timestampFromMs(index.statusTimestamp),
    message: { messageId: "status", role: Role.AGENT, parts: [textPart(text)] },
  };
}

function artifactOf({ text }: Scene): MessageInitShape<typeof ArtifactSchema> {
  return { artifactId: "artifact-1", parts: [textPart(text)] };
}

function textPart(value: string): MessageInitShape<typeof PartSchema> {
  return { content: { case: "text", value } };
}
