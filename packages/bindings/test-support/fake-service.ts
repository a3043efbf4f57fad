import { a2aError } from "@a2a-connect/core";
import {
  A2AService,
  type ArtifactSchema,
  type PartSchema,
  Role,
  type SendMessageRequest,
  type SendMessageRequestSchema,
  type StreamResponse,
  StreamResponseSchema,
  type Task,
  TaskSchema,
  TaskState,
} from "@a2a-connect/proto";
import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createServiceImplSpec, type ServiceImpl, type ServiceImplSpec } from "@connectrpc/connect";

/**
 * All eleven operations with canned answers, for tests of the wires. Any of them may be replaced.
 *
 * `GetTask` knows every task but `missing`; a message is answered with a task whose only artifact repeats it; a stream
 * is that task, its artifact and COMPLETED.
 */
export function createFakeService(overrides: Partial<ServiceImpl<typeof A2AService>> = {}): ServiceImplSpec {
  return createServiceImplSpec<typeof A2AService>(A2AService, { ...cannedService, ...overrides });
}

type FakeArtifact = MessageInitShape<typeof ArtifactSchema>;

interface FakeTask {
  readonly id?: string;
  readonly state?: TaskState;
  readonly artifacts?: FakeArtifact[];
}

/** A task as the fake answers with it. */
export function fakeTask({ id = "t-1", state = TaskState.WORKING, artifacts = [] }: FakeTask = {}): Task {
  return create(TaskSchema, { id, contextId: "c-1", status: { state }, artifacts });
}

/** The events of a fake stream, fresh ones. */
export function fakeEvents(
  artifact: FakeArtifact = { artifactId: "a-1", parts: [textPart("hi")] },
): StreamResponse[] {
  const ids = { taskId: "t-1", contextId: "c-1" };
  const payloads: NonNullable<MessageInitShape<typeof StreamResponseSchema>["payload"]>[] = [
    { case: "task", value: fakeTask() },
    {
      case: "artifactUpdate",
      value: { ...ids, artifact },
    },
    { case: "statusUpdate", value: { ...ids, status: { state: TaskState.COMPLETED } } },
  ];
  return payloads.map((payload) => create(StreamResponseSchema, { payload }));
}

const cannedService: ServiceImpl<typeof A2AService> = {
  sendMessage: (request) => ({
    payload: { case: "task", value: fakeTask({ artifacts: [repeat(request)] }) },
  }),
  async *sendStreamingMessage(request) {
    yield* fakeEvents(repeat(request));
  },
  getTask: ({ id }) => {
    if (id === "missing") {
      throw a2aError("TASK_NOT_FOUND", "there is no such task", { taskId: id });
    }
    return fakeTask({ id });
  },
  listTasks: ({ pageSize }) => ({ tasks: [], nextPageToken: "", pageSize: pageSize ?? 50, totalSize: 0 }),
  cancelTask: ({ id }) => fakeTask({ id, state: TaskState.CANCELED }),
  async *subscribeToTask({ id }, { responseHeader }) {
    responseHeader.set("x-a2a-event-id", "7");
    for (const event of fakeEvents()) {
      yield event.payload.case === "task"
        ? { payload: { case: "task" as const, value: fakeTask({ id }) } }
        : event;
    }
  },
  createTaskPushNotificationConfig: (config) => ({ ...config, id: config.id || "config-1" }),
  getTaskPushNotificationConfig: ({ taskId, id }) => ({ taskId, id, url: "https://example.com/hook" }),
  listTaskPushNotificationConfigs: ({ taskId }) => ({
    configs: [{ taskId, id: "config-1", url: "https://example.com/hook" }],
  }),
  deleteTaskPushNotificationConfig: () => ({}),
  getExtendedAgentCard: () => ({ name: "Fake", version: "1.0.0" }),
};

function repeat({ message }: SendMessageRequest): FakeArtifact {
  return { artifactId: "a-1", parts: message?.parts ?? [] };
}

/** A valid request to send a text. */
export function sendRequest(text = "hello"): MessageInitShape<typeof SendMessageRequestSchema> {
  return { message: { messageId: "m-1", role: Role.USER, parts: [textPart(text)] } };
}

function textPart(value: string): MessageInitShape<typeof PartSchema> {
  return { content: { case: "text", value } };
}
