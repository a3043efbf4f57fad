import { randomUUID } from "node:crypto";
import { startReceiver } from "@a2a-connect/conformance";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { expect } from "vitest";
import { collect } from "../../../packages/client/test-support/outcomes.ts";
import { type Agent, type Binding, type Caller, CallRefused, type SeenError } from "./caller.ts";

/** A caller, an agent, and the binding between them. */
export interface Pair {
  readonly caller: Caller;
  readonly agent: Agent;
  readonly binding: Binding;
}

/** What happens between any two, by name. The agent is the reference agent, or knows the same commands. */
export const scenarios: Readonly<Record<string, (pair: Pair) => Promise<void>>> = {
  async "the extended card names the binding"(pair) {
    const card = await one(pair, "GetExtendedAgentCard", {});
    expect(card["supportedInterfaces"]).toContainEqual(
      expect.objectContaining({ protocolBinding: pair.binding }),
    );
    expect(card["capabilities"]).toMatchObject({ streaming: true, pushNotifications: true });
  },

  async "a message becomes a task, which is completed"(pair) {
    const { task } = await send(pair, "task grüße");
    expect(task).toMatchObject({
      id: expect.any(String),
      contextId: expect.any(String),
      status: { state: "TASK_STATE_COMPLETED", timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/) },
      artifacts: [{ name: "result", parts: [{ text: "grüße" }] }],
    });
    const got = await one(pair, "GetTask", { id: idOf(task) });
    expect(got).toMatchObject({
      id: idOf(task),
      history: [{ role: "ROLE_USER", parts: [{ text: "task grüße" }] }],
    });
  },

  async "a message is answered with a Message"(pair) {
    const { message } = await send(pair, "echo hello");
    expect(message).toMatchObject({ role: "ROLE_AGENT", parts: [{ text: "hello" }] });
  },

  async "every kind of part comes back as it was sent"(pair) {
    await expectEcho(pair, [
      { text: "several grüße", metadata: { snake_case: [1, "two", null, { deep: false }] } },
      { raw: Buffer.from([0, 1, 127, 128, 255]).toString("base64"), filename: "bytes.bin" },
      { url: "https://example.com/a%20b?c=d", mediaType: "text/plain" },
      { data: { snake_case: [1.5, "two", null, { deep: false }] }, mediaType: "application/json" },
    ]);
  },

  async "data that is no object comes back as it was sent"(pair) {
    await expectEcho(pair, [{ text: "scalars" }, { data: "a scalar" }, { data: 0 }, { data: ["a", "list"] }]);
  },

  async "a stream has the task, every chunk in order, and the end"(pair) {
    const events = await collect(stream(pair, "SendStreamingMessage", { message: newMessage("stream 5") }));
    expect(events[0]).toMatchObject({ task: { id: expect.any(String) } });
    const chunks = events.flatMap(({ artifactUpdate }) =>
      artifactUpdate === undefined ? [] : [artifactUpdate],
    );
    expect(chunks).toHaveLength(5);
    for (const [index, chunk] of chunks.entries()) {
      const text = expect.stringMatching(new RegExp(`^chunk ${index + 1} `));
      expect(chunk).toMatchObject({ artifact: { parts: [{ text }] } });
    }
    expect(statesOf(events).at(-1)).toBe("TASK_STATE_COMPLETED");
  },

  async "a question is answered by the next message"(pair) {
    const { task: asked } = await send(pair, "ask What is your name?");
    expect(asked).toMatchObject({
      status: { state: "TASK_STATE_INPUT_REQUIRED", message: { parts: [{ text: "What is your name?" }] } },
    });
    const { task: answered } = await send(pair, "Ada", { taskId: idOf(asked) });
    expect(answered).toMatchObject({
      id: idOf(asked),
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [{ parts: [{ text: "Ada" }] }],
    });
  },

  async "a question ends a stream, and the answer streams on"(pair) {
    const asked = await collect(stream(pair, "SendStreamingMessage", { message: newMessage("ask What?") }));
    expect(statesOf(asked).at(-1)).toBe("TASK_STATE_INPUT_REQUIRED");
    const message = newMessage("that", { taskId: idOf(asked[0]?.["task"]) });
    const answered = await collect(stream(pair, "SendStreamingMessage", { message }));
    expect(statesOf(answered).at(-1)).toBe("TASK_STATE_COMPLETED");
  },

  async "the history is as long as it is asked for, and 0 is not none"(pair) {
    const id = await askAndAnswer(pair);
    expect(await historyOf(pair, { id, historyLength: 0 })).toEqual([]);
    expect(await historyOf(pair, { id, historyLength: 1 })).toHaveLength(1);
    expect((await historyOf(pair, { id })).length).toBeGreaterThan(1);
  },

  async "the history is in order"(pair) {
    const history = await historyOf(pair, { id: await askAndAnswer(pair) });
    // An agent need not keep its own messages.
    expect(history).toEqual(["ask What?", "What?", "that"].filter((text) => history.includes(text)));
  },

  async "a task is canceled while it works, and not after its end"(pair) {
    const { task } = await send(pair, "sleep 3600000", {}, { returnImmediately: true });
    const canceled = await one(pair, "CancelTask", { id: idOf(task) });
    expect(canceled).toMatchObject({ id: idOf(task), status: { state: "TASK_STATE_CANCELED" } });
    const { task: done } = await send(pair, "task hello");
    expect(await refused(pair, "CancelTask", { id: idOf(done) })).toMatchObject({
      reason: "TASK_NOT_CANCELABLE",
    });
  },

  async "tasks are listed in pages, newest first"(pair) {
    const contextId = randomUUID();
    const ids: string[] = [];
    for (const text of ["task 1", "task 2", "task 3"])
      ids.unshift(idOf((await send(pair, text, { contextId }))["task"]));
    const first = await one(pair, "ListTasks", { contextId, pageSize: 2 });
    const pageToken = String(first["nextPageToken"]);
    const second = await one(pair, "ListTasks", { contextId, pageSize: 2, pageToken });
    const listed = [first, second].map(({ tasks }) => (tasks as JsonValue[]).map(idOf)); // as ListTasksResponse has it
    expect(listed).toEqual([ids.slice(0, 2), ids.slice(2)]);
    expect(second["nextPageToken"] ?? "").toBe("");
  },

  async "a task that does not exist is TASK_NOT_FOUND"(pair) {
    const id = randomUUID();
    const { reason, domain = "a2a-protocol.org" } = await refused(pair, "GetTask", { id }); // SDKs show no domain
    expect({ reason, domain }).toEqual({ reason: "TASK_NOT_FOUND", domain: "a2a-protocol.org" });
    const message = newMessage("more", { taskId: id });
    expect(await refused(pair, "SendMessage", { message })).toMatchObject({ reason: "TASK_NOT_FOUND" });
  },

  async "a message to a task that has ended is UNSUPPORTED_OPERATION"(pair) {
    const { task } = await send(pair, "fail no luck");
    expect(task).toMatchObject({
      status: { state: "TASK_STATE_FAILED", message: { parts: [{ text: "no luck" }] } },
    });
    const message = newMessage("more", { taskId: idOf(task) });
    expect(await refused(pair, "SendMessage", { message })).toMatchObject({
      reason: "UNSUPPORTED_OPERATION",
    });
  },

  async "a subscription to a task that does not exist is TASK_NOT_FOUND"(pair) {
    expect(await refused(pair, "SubscribeToTask", { id: randomUUID() })).toMatchObject({
      reason: "TASK_NOT_FOUND",
    });
  },

  async "a stream is left, and a subscription follows the task to its end"(pair) {
    const left = stream(pair, "SendStreamingMessage", { message: newMessage("sleep 3600000") });
    const id = idOf((await left.next()).value?.["task"]);
    await left.return(undefined);
    const subscription = stream(pair, "SubscribeToTask", { id });
    expect((await subscription.next()).value).toMatchObject({ task: { id } });
    await one(pair, "CancelTask", { id });
    expect(statesOf(await collect(subscription)).at(-1)).toBe("TASK_STATE_CANCELED");
  },

  async "a subscription waits for the answer to a question"(pair) {
    const { task } = await send(pair, "ask What?");
    const subscription = stream(pair, "SubscribeToTask", { id: idOf(task) });
    expect((await subscription.next()).value).toMatchObject({ task: { id: idOf(task) } });
    await send(pair, "that", { taskId: idOf(task) });
    expect(statesOf(await collect(subscription)).at(-1)).toBe("TASK_STATE_COMPLETED");
  },

  async "a webhook that comes with the message gets the end of its task"(pair) {
    await using receiver = await startReceiver();
    const taskPushNotificationConfig = { url: `${receiver.url}/hook`, token: "secret" };
    const { task } = await send(pair, "task hello", {}, { taskPushNotificationConfig });
    const bodies = () => receiver.requests.map(({ body }) => JSON.parse(body.toString()) as JsonObject); // of an agent
    await receiver.until(() => statesOf(bodies()).at(-1) === "TASK_STATE_COMPLETED");
    expect(JSON.stringify(bodies().at(-1))).toContain(idOf(task));
  },

  async "a webhook gets its token as X-A2A-Notification-Token"(pair) {
    await using receiver = await startReceiver();
    const taskPushNotificationConfig = { url: `${receiver.url}/hook`, token: "secret" };
    await send(pair, "task hello", {}, { taskPushNotificationConfig });
    await receiver.until(({ length }) => length > 0);
    expect(receiver.requests[0]?.head).toMatch(/^x-a2a-notification-token: secret$/im);
  },

  async "webhooks are created, read, listed and deleted"(pair) {
    const { task } = await send(pair, "ask What?");
    const taskId = idOf(task);
    const config = { taskId, id: "mine", url: "http://localhost:9/hook", token: "secret" };
    expect(await one(pair, "CreateTaskPushNotificationConfig", config)).toMatchObject({
      id: "mine",
      url: config.url,
    });
    const wanted = { taskId, id: "mine" };
    expect(await one(pair, "GetTaskPushNotificationConfig", wanted)).toMatchObject({
      id: "mine",
      url: config.url,
    });
    const listed = async () => {
      const { configs = [] } = await one(pair, "ListTaskPushNotificationConfigs", { taskId });
      return (configs as JsonValue[]).map(idOf); // as its response has it
    };
    expect(await listed()).toEqual(["mine"]);
    await one(pair, "DeleteTaskPushNotificationConfig", wanted);
    expect(await listed()).toEqual([]);
  },
};

function stream(
  { caller, agent, binding }: Pair,
  method: string,
  request: JsonObject,
): AsyncGenerator<JsonObject> {
  return caller.call(agent, { binding, method, request });
}

async function one(pair: Pair, method: string, request: JsonObject): Promise<JsonObject> {
  const answers = await collect(stream(pair, method, request));
  expect(answers).toHaveLength(1);
  return answers[0] ?? {};
}

/** The id of a task that has ended with the answer to its question. */
async function askAndAnswer(pair: Pair): Promise<string> {
  const id = idOf((await send(pair, "ask What?"))["task"]);
  await send(pair, "that", { taskId: id });
  return id;
}

/** The texts of a task's history. */
async function historyOf(pair: Pair, request: JsonObject): Promise<readonly string[]> {
  const { history } = (await one(pair, "GetTask", request)) as {
    history?: readonly { readonly parts: readonly { readonly text: string }[] }[]; // as Task has it
  };
  return (history ?? []).flatMap(({ parts }) => parts.map(({ text }) => text));
}

async function expectEcho(pair: Pair, parts: readonly JsonObject[]): Promise<void> {
  const { task } = await one(pair, "SendMessage", { message: { ...newMessage(""), parts: [...parts] } });
  const { artifacts } = task as { artifacts?: readonly JsonObject[] }; // as Task has it
  expect(artifacts?.map((artifact) => artifact["parts"])).toEqual([parts]);
}

/** What the caller has seen of the error with which a call fails. */
async function refused(pair: Pair, method: string, request: JsonObject): Promise<SeenError> {
  try {
    await collect(stream(pair, method, request));
  } catch (error) {
    if (error instanceof CallRefused) return error.seen;
    throw error;
  }
  return expect.unreachable(`${method} went well`);
}

function newMessage(text: string, links: JsonObject = {}): JsonObject {
  return { messageId: randomUUID(), role: "ROLE_USER", parts: [{ text }], ...links };
}

function send(
  pair: Pair,
  text: string,
  links: JsonObject = {},
  configuration: JsonObject = {},
): Promise<JsonObject> {
  return one(pair, "SendMessage", { message: newMessage(text, links), configuration });
}

function idOf(value: JsonValue | undefined): string {
  return String((value as JsonObject | undefined)?.["id"]); // "undefined" is no id of anything
}

/** The states that events tell, in order. */
function statesOf(events: readonly JsonObject[]): readonly JsonValue[] {
  return events.flatMap(({ task, statusUpdate }) => {
    const { status } = (task ?? statusUpdate ?? {}) as { status?: JsonObject }; // as both have it
    return status?.["state"] ?? [];
  });
}
