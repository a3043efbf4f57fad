// The official JavaScript client, over each of its transports, against what `npm start` serves.
import { randomUUID } from "node:crypto";
import { startReceiver } from "@a2a-connect/conformance";
import { type Message, type StreamResponse, type Task, TaskState } from "@a2a-js/sdk";
import {
  type Client,
  DefaultAgentCardResolver,
  ServiceParameters,
  withA2AExtensions,
  withA2AVersion,
} from "@a2a-js/sdk/client";
import {
  A2AError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
  VersionNotSupportedError,
} from "@a2a-js/sdk/errors";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failureOf, rejectedWith } from "../../packages/client/test-support/outcomes.ts";
import { type AgentProcess, startAgentProcess } from "./agent-process.ts";
import { createSdkClient, type SdkTransportName } from "./sdk-client.ts";
import { listing, type PartContent, sdkPart, sending, textOf } from "./sdk-requests.ts";

/** A transport of the SDK, and what is its own in how it reports errors. */
interface SdkTransport {
  readonly preferred: SdkTransportName;
  /** Where the card says that it is reached. */
  readonly url: (agent: AgentProcess) => string;
  /** How an error of the protocol looks, by its JSON-RPC, HTTP and gRPC number. */
  readonly carries: (jsonRpc: number, http: number, grpc: number) => object;
}

const transports: readonly SdkTransport[] = [
  {
    preferred: "JSONRPC",
    url: ({ url }) => `${url}/rpc`,
    carries: (envelopeCode) => ({ transport: "jsonrpc", envelopeCode }),
  },
  {
    preferred: "HTTP+JSON",
    url: ({ url }) => `${url}/rest`,
    carries: (_jsonRpc, statusCode) => ({ transport: "rest", statusCode }),
  },
  {
    preferred: "GRPC",
    url: ({ authority }) => authority,
    carries: (_jsonRpc, _http, status) => ({ transport: "grpc", status }),
  },
];

let agent: AgentProcess;
beforeAll(async () => {
  agent = await startAgentProcess();
});
afterAll(async () => {
  // What the command `throw` does, and nothing else.
  expect(await agent.stop()).toEqual(new Set(["an executor failed"]));
});

describe.each(transports)("the official client over $preferred", ({ preferred, url, carries }) => {
  let client: Client;
  beforeAll(async () => {
    client = await createSdkClient(agent, preferred);
  });

  async function sendForTask(...args: Parameters<typeof sending>): Promise<Task> {
    return asTask(await client.sendMessage(sending(...args)));
  }

  it("finds its interface in the card that it resolves", async () => {
    const card = await new DefaultAgentCardResolver().resolve(agent.url);
    expect(card.supportedInterfaces).toContainEqual({
      url: url(agent),
      protocolBinding: preferred,
      protocolVersion: "1.0",
    });
    expect(client.transport.protocolName).toBe(preferred);
    expect(card.capabilities).toMatchObject({
      streaming: true,
      pushNotifications: true,
      extendedAgentCard: true,
    });
  });

  it("gets the extended card", async () => {
    const card = await client.getAgentCard();
    expect(card.description).toMatch(/extended card\.$/);
    expect(card.skills.map(({ id }) => id)).toEqual(["commands", "durable-commands", "restarting-commands"]);
  });

  describe("sendMessage", () => {
    it("waits for the whole task (A-2)", async () => {
      const task = await sendForTask("task hello");
      expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
      expect(task.artifacts).toMatchObject([{ name: "result" }]);
      expect(textOf(task.artifacts[0]?.parts)).toBe("hello");
      expect(textOf(task.history[0]?.parts)).toBe("task hello");
      expect(Date.parse(task.status?.timestamp ?? "")).not.toBeNaN();
    });

    it("returns at once when told to, and the task goes on (A-3)", async () => {
      const task = await sendForTask("sleep 3600000", { configuration: { returnImmediately: true } });
      expect([TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING]).toContain(task.status?.state);
      const canceled = await client.cancelTask({ tenant: "", id: task.id, metadata: { why: "enough" } });
      expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    });

    it("gets a direct Message in the caller's context (A-1, D-3)", async () => {
      const contextId = randomUUID();
      const message = asMessage(await client.sendMessage(sending("echo hello", { message: { contextId } })));
      expect(textOf(message.parts)).toBe("hello");
      expect(message).toMatchObject({ contextId, taskId: "" });
    });

    it("answers a question with the next message (B-5)", async () => {
      const asked = await sendForTask("ask What is your name?");
      expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
      expect(textOf(asked.status?.message?.parts)).toBe("What is your name?");
      const answered = await sendForTask("Ada", { message: { taskId: asked.id } });
      expect(answered).toMatchObject({ id: asked.id, contextId: asked.contextId });
      expect(answered.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
      expect(textOf(answered.artifacts[0]?.parts)).toBe("Ada");
    });

    it("stops at AUTH_REQUIRED and goes on with the next message", async () => {
      const stopped = await sendForTask("auth");
      expect(stopped.status?.state).toBe(TaskState.TASK_STATE_AUTH_REQUIRED);
      const finished = await sendForTask("done", { message: { taskId: stopped.id } });
      expect(finished.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    });

    it.each([
      ["fail no luck", TaskState.TASK_STATE_FAILED, "no luck"],
      ["reject not me", TaskState.TASK_STATE_REJECTED, "not me"],
    ])("sees how `%s` ends", async (text, state, why) => {
      const task = await sendForTask(text);
      expect(task.status?.state).toBe(state);
      expect(textOf(task.status?.message?.parts)).toBe(why);
    });

    it("does not see what an agent throws (B-8)", async () => {
      const task = await sendForTask("throw");
      expect(task.status?.state).toBe(TaskState.TASK_STATE_FAILED);
      expect(JSON.stringify(task)).not.toMatch(/on purpose/);
    });

    it("gets every kind of part back as it was sent, with its metadata (H-9, H-10, H-13)", async () => {
      const contents: PartContent[] = [
        { $case: "text", value: "hello" },
        { $case: "raw", value: Buffer.from([0, 1, 127, 128, 255]) },
        { $case: "url", value: "https://example.com/a%20b?c=d" },
        { $case: "data", value: { snake_case: [1, "two", null, { deep: false }] } },
        { $case: "data", value: "a scalar" },
        { $case: "data", value: 0 },
      ];
      const parts = contents.map((content, index) =>
        sdkPart(content, { filename: `part-${index}`, mediaType: "text/plain", metadata: { a_b: index } }),
      );
      const task = await sendForTask("", { message: { parts, metadata: { kept_as: "it is" } } });
      expect(task.artifacts[0]?.parts).toEqual(parts);
      expect(task.history[0]).toMatchObject({ parts, metadata: { kept_as: "it is" } });
    });

    it("carries a megabyte both ways", async () => {
      const text = "ü".repeat(2 ** 19);
      expect(textOf(asMessage(await client.sendMessage(sending(`echo ${text}`))).parts)).toBe(text);
    });
  });

  describe("sendMessageStream", () => {
    it("gets the task, every chunk in order, and the end (A-22, A-29)", async () => {
      const events = await collect(client.sendMessageStream(sending("stream 5 20")));
      expect(events[0]?.payload?.$case).toBe("task");
      const id = events[0]?.payload?.$case === "task" ? events[0].payload.value.id : "";
      const chunks = events.flatMap(({ payload }) =>
        payload?.$case === "artifactUpdate" ? [payload.value] : [],
      );
      expect(chunks.map(({ append }) => append)).toEqual([false, true, true, true, true]);
      expect(chunks.map(({ artifact }) => textOf(artifact?.parts).slice(0, 8))).toEqual(
        [1, 2, 3, 4, 5].map((n) => `chunk ${n} `),
      );
      expect(chunks.every(({ taskId, contextId }) => taskId === id && contextId !== "")).toBe(true);
      expect(statesOf(events).at(-1)).toBe(TaskState.TASK_STATE_COMPLETED);
      const task = await client.getTask({ tenant: "", id });
      expect(textOf(task.artifacts[0]?.parts)).toBe(
        chunks.map(({ artifact }) => textOf(artifact?.parts)).join(""),
      );
    });

    it("gets a direct Message as the only event (A-21)", async () => {
      const events = await collect(client.sendMessageStream(sending("echo hello")));
      expect(events).toMatchObject([{ payload: { $case: "message" } }]);
    });

    it("ends at a question, and streams on with the answer (A-24)", async () => {
      const asked = await collect(client.sendMessageStream(sending("ask What?")));
      expect(statesOf(asked).at(-1)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
      const taskId = asked[0]?.payload?.$case === "task" ? asked[0].payload.value.id : "";
      const answered = await collect(client.sendMessageStream(sending("that", { message: { taskId } })));
      expect(answered[0]?.payload).toMatchObject({ $case: "task", value: { id: taskId } });
      expect(statesOf(answered).at(-1)).toBe(TaskState.TASK_STATE_COMPLETED);
    });

    it("leaves the task alone when its caller leaves (J-5)", async () => {
      const leave = new AbortController();
      let id = "";
      const reading = (async () => {
        const stream = client.sendMessageStream(sending("auth"), { signal: leave.signal });
        for await (const event of stream) {
          id = event.payload?.$case === "task" ? event.payload.value.id : id;
          if (statesOf([event])[0] === TaskState.TASK_STATE_AUTH_REQUIRED) leave.abort();
        }
      })();
      await expect(reading).rejects.toThrow();
      const finished = await sendForTask("done", { message: { taskId: id } });
      expect(finished.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    });
  });

  describe("resubscribeTask", () => {
    it("begins with the task and stays until it has ended (A-24, A-34)", async () => {
      const { id } = await sendForTask("ask What?");
      const stream = client.resubscribeTask({ tenant: "", id });
      const first = await stream.next();
      expect(first.value).toMatchObject({ payload: { $case: "task", value: { id } } });
      await sendForTask("that", { message: { taskId: id } });
      const rest = await collect(stream);
      expect(rest.map(({ payload }) => payload?.$case)).toEqual([
        "statusUpdate",
        "artifactUpdate",
        "statusUpdate",
      ]);
      expect(statesOf(rest)).toEqual([TaskState.TASK_STATE_WORKING, TaskState.TASK_STATE_COMPLETED]);
    });
  });

  describe("getTask", () => {
    it("limits the history, and tells 0 from none (C-1, C-4)", async () => {
      const { id } = await sendForTask("ask What?");
      await sendForTask("that", { message: { taskId: id } });
      const lengths = await Promise.all(
        [undefined, 0, 1, 2, 100].map(async (historyLength) => {
          const task = await client.getTask({
            tenant: "",
            id,
            ...(historyLength !== undefined && { historyLength }),
          });
          return task.history.map(({ parts }) => textOf(parts));
        }),
      );
      const whole = ["ask What?", "What?", "that"];
      expect(lengths).toEqual([whole, [], whole.slice(-1), whole.slice(-2), whole]);
    });
  });

  describe("listTasks", () => {
    it("pages through a context, newest first (A-41, A-42, A-43)", async () => {
      const contextId = randomUUID();
      const ids: string[] = [];
      for (let n = 0; n < 5; n += 1) {
        ids.unshift((await sendForTask("task hello", { message: { contextId } })).id);
      }
      const seen: string[] = [];
      const sizes: number[] = [];
      let pageToken = "";
      do {
        const page = await client.listTasks(listing(contextId, { pageSize: 2, pageToken }));
        expect(page).toMatchObject({ totalSize: 5, pageSize: 2 });
        seen.push(...page.tasks.map(({ id }) => id));
        sizes.push(page.tasks.length);
        pageToken = page.nextPageToken;
      } while (pageToken !== "" && sizes.length < 9);
      expect(sizes).toEqual([2, 2, 1]);
      expect(new Set(seen)).toEqual(new Set(ids));
      expect(await client.listTasks(listing(randomUUID()))).toEqual({
        tasks: [],
        nextPageToken: "",
        pageSize: 50,
        totalSize: 0,
      });
    });

    it("filters by state and time, and leaves artifacts out unless asked (A-45, A-46, A-47)", async () => {
      const contextId = randomUUID();
      const done = await sendForTask("task hello", { message: { contextId } });
      const open = await sendForTask("ask What?", { message: { contextId } });
      const found = async (filters: Parameters<typeof listing>[1]) =>
        (await client.listTasks(listing(contextId, filters))).tasks;

      expect(await found({ status: TaskState.TASK_STATE_INPUT_REQUIRED })).toMatchObject([{ id: open.id }]);
      const completed = { status: TaskState.TASK_STATE_COMPLETED };
      expect(await found(completed)).toMatchObject([{ id: done.id, artifacts: [] }]);
      const [full] = await found({ ...completed, includeArtifacts: true });
      expect(full).toEqual(await client.getTask({ tenant: "", id: done.id }));
      expect(await found({ ...completed, historyLength: 0 })).toMatchObject([{ history: [] }]);

      const timestamp = open.status?.timestamp;
      expect((await found({ statusTimestampAfter: timestamp })).map(({ id }) => id)).toContain(open.id);
      expect(await found({ statusTimestampAfter: "2999-01-01T00:00:00Z" })).toEqual([]);
    });
  });

  it("cancels a task that waits, once (A-31)", async () => {
    const { id } = await sendForTask("ask What?");
    const canceled = await client.cancelTask({ tenant: "", id, metadata: undefined });
    expect(canceled).toMatchObject({ id, status: { state: TaskState.TASK_STATE_CANCELED } });
    expect(await client.getTask({ tenant: "", id })).toEqual(canceled);
    const again = client.cancelTask({ tenant: "", id, metadata: undefined });
    expect(await failureOf(again)).toBeInstanceOf(TaskNotCancelableError);
  });

  describe("push notifications", () => {
    const described = { tenant: "", token: "the-token", authentication: undefined };

    it("are configured (A-50 to A-56)", async () => {
      const { id: taskId } = await sendForTask("ask What?");
      const url = "http://localhost/hook";
      const made = await client.createTaskPushNotificationConfig({ ...described, taskId, id: "", url });
      expect(made).toMatchObject({ taskId, url, token: "the-token", id: expect.stringMatching(/./) });
      const ids = { tenant: "", taskId, id: made.id };
      expect(await client.getTaskPushNotificationConfig(ids)).toEqual(made);
      const page = { tenant: "", taskId, pageSize: 0, pageToken: "" };
      expect((await client.listTaskPushNotificationConfig(page)).configs).toEqual([made]);
      await client.deleteTaskPushNotificationConfig(ids);
      expect((await client.listTaskPushNotificationConfig(page)).configs).toEqual([]);
    });

    it("bring every event of a task to a webhook on this machine (A-14, N-1)", async () => {
      await using receiver = await startReceiver();
      const taskPushNotificationConfig = { ...described, taskId: "", id: "", url: `${receiver.url}/hook` };
      const { id } = await sendForTask("stream 3", { configuration: { taskPushNotificationConfig } });
      await receiver.until((requests) => requests.length === 5);
      const bodies = receiver.requests.map(({ body }) => JSON.parse(body.toString("utf8")));
      expect(bodies.map((body) => Object.keys(body)[0])).toEqual([
        "task",
        ...Array(3).fill("artifactUpdate"),
        "statusUpdate",
      ]);
      expect(bodies[0]).toMatchObject({ task: { id } });
      expect(receiver.requests.map(({ head }) => head)).toEqual(
        Array(5).fill(expect.stringMatching(/^x-a2a-notification-token: the-token$/im)),
      );
    });

    it("do not go to addresses that are not public (N-6)", async () => {
      const { id: taskId } = await sendForTask("task hello");
      for (const url of ["http://10.0.0.1/hook", "https://169.254.169.254/latest"]) {
        const call = client.createTaskPushNotificationConfig({ ...described, taskId, id: "", url });
        expect(await failureOf(call)).toMatchObject(carries(-32602, 400, 3));
      }
    });
  });

  describe("errors", () => {
    const id = "no-such-task";
    it.each([
      ["getTask", () => client.getTask({ tenant: "", id })],
      ["cancelTask", () => client.cancelTask({ tenant: "", id, metadata: undefined })],
      ["sendMessage", () => client.sendMessage(sending("hello", { message: { taskId: id } }))],
      [
        "sendMessageStream",
        () => collect(client.sendMessageStream(sending("hello", { message: { taskId: id } }))),
      ],
      ["resubscribeTask", () => collect(client.resubscribeTask({ tenant: "", id }))],
    ])("say that there is no such task: %s (A-6, A-27, A-30)", async (_name, call) => {
      const failure = await rejectedWith(call(), TaskNotFoundError);
      expect(failure).toMatchObject(carries(-32001, 404, 5));
    });

    it("say that a task has ended (A-7, A-35)", async () => {
      const { id } = await sendForTask("task hello");
      const failures = await Promise.all([
        failureOf(client.sendMessage(sending("more", { message: { taskId: id } }))),
        failureOf(collect(client.sendMessageStream(sending("more", { message: { taskId: id } })))),
        failureOf(collect(client.resubscribeTask({ tenant: "", id }))),
      ]);
      for (const failure of failures) {
        expect(failure).toBeInstanceOf(UnsupportedOperationError);
        expect(failure).toMatchObject(carries(-32004, 400, 9));
      }
    });

    it("say what is wrong with a request (A-44, A-13)", async () => {
      const failures = [
        await failureOf(client.listTasks(listing("", { pageSize: 150 }))),
        await failureOf(client.sendMessage(sending("hello", { message: { parts: [] } }))),
      ];
      expect(failures).toMatchObject([carries(-32602, 400, 3), carries(-32602, 400, 3)]);
      expect(failures.map(String)).toEqual([
        expect.stringContaining("pageSize"),
        expect.stringContaining("message.parts"),
      ]);
      // The SDK has a class for it, but finds it only by the JSON-RPC code or by a reason of its own.
      const kind = preferred === "JSONRPC" ? RequestMalformedError : A2AError;
      for (const failure of failures) expect(failure).toBeInstanceOf(kind);
    });

    it("say which versions there are (F-5)", async () => {
      const wrong = { serviceParameters: ServiceParameters.create(withA2AVersion("9.9")) };
      const failure = await rejectedWith(
        client.transport.getTask({ tenant: "", id }, wrong),
        VersionNotSupportedError,
      );
      expect(failure).toMatchObject(carries(-32009, 400, 9));
      await rejectedWith(client.transport.getTask({ tenant: "", id }), VersionNotSupportedError);
    });
  });

  it("may ask for extensions, known or not (G-2, G-3)", async () => {
    const serviceParameters = ServiceParameters.create(
      withA2AExtensions("urn:a2a-connect:ext:lifecycle:v1", "urn:example:unknown"),
    );
    const message = await client.sendMessage(sending("echo hello"), { serviceParameters });
    expect(textOf(asMessage(message).parts)).toBe("hello");
  });
});

async function collect(stream: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
  return Array.fromAsync(stream);
}

function statesOf(events: readonly StreamResponse[]): (TaskState | undefined)[] {
  return events.flatMap(({ payload }) =>
    payload?.$case === "statusUpdate" ? [payload.value.status?.state] : [],
  );
}

function asTask(result: Message | Task): Task {
  if ("messageId" in result) throw new Error("the agent answered with a Message");
  return result;
}

function asMessage(result: Message | Task): Message {
  if (!("messageId" in result)) throw new Error("the agent answered with a Task");
  return result;
}
