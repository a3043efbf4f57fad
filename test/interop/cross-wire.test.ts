// A task created over one wire is the same task over every other, against what `npm start` serves.
import { randomUUID } from "node:crypto";
import {
  bytes,
  fileUrl,
  findA2AError,
  json,
  type MessageDetails,
  text,
  userMessage,
} from "@a2a-connect/core";
import { A2AService, type Message, type StreamResponse, type Task, TaskState } from "@a2a-connect/proto";
import { type Client, ConnectError, createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failureOf } from "../../packages/client/test-support/outcomes.ts";
import { type AgentProcess, startAgentProcess } from "./agent-process.ts";
import { wires } from "./wires.ts";

type A2AClient = Client<typeof A2AService>;

const names = Object.keys(wires);
const clients = new Map<string, A2AClient>();

let agent: AgentProcess;
beforeAll(async () => {
  agent = await startAgentProcess();
  for (const [name, createTransport] of Object.entries(wires)) {
    clients.set(name, createClient(A2AService, createTransport(agent.url)));
  }
});
afterAll(async () => {
  expect(await agent.stop()).toEqual(new Set());
});

function clientOver(name: string): A2AClient {
  const client = clients.get(name);
  if (client === undefined) throw new Error(`there is no wire ${name}`);
  return client;
}

/** What `read` gives over each wire, which must be the same: that. */
async function alike<T>(read: (client: A2AClient) => Promise<T>): Promise<T> {
  const [first, ...others] = await Promise.all(
    names.map(async (name) => ({ name, got: await read(clientOver(name)) })),
  );
  if (first === undefined) throw new Error("there are wires");
  for (const { name, got } of others) expect(got, `${name} and ${first.name}`).toEqual(first.got);
  return first.got;
}

describe.each(names)("a task created over %s", (creator) => {
  async function createTask(message: Message, returnImmediately = false): Promise<Task> {
    const { payload } = await clientOver(creator).sendMessage({
      message,
      configuration: { returnImmediately },
    });
    if (payload.case !== "task") throw new Error("the agent answered with a Message");
    return payload.value;
  }

  it("is read over every wire with equal content (H-9, H-10, H-13)", async () => {
    const message = newMessage(
      [
        text("hello"),
        text(""),
        bytes(new Uint8Array([0, 127, 128, 255]), { filename: "bytes.bin", mediaType: "application/x-any" }),
        fileUrl("https://example.com/a%20b?c=d", { metadata: { snake_case: { camelCase: null } } }),
        json({ list: [1.5, "two", null, { deep: false }], snake_case: "", "": 0 }),
        json(null),
        json("a scalar"),
      ],
      {
        metadata: { kept_as_it_is: [-1e300, "ünïcödé \u{1F600}", true] },
        extensions: ["urn:example:unknown"],
        referenceTaskIds: ["another"],
      },
    );
    const created = await createTask(message);
    expect(created.artifacts[0]?.parts).toEqual(message.parts);
    expect(created.history[0]).toEqual({ ...message, taskId: created.id, contextId: created.contextId });
    expect(await alike((client) => client.getTask({ id: created.id }))).toEqual(created);
    const short = await alike((client) => client.getTask({ id: created.id, historyLength: 0 }));
    expect(short).toEqual({ ...created, history: [] });
  });

  it("is listed over every wire with equal content (A-42, A-46)", async () => {
    const created = await createTask(newMessage("parts", { contextId: randomUUID() }));
    const { contextId } = created;
    const brief = await alike((client) => client.listTasks({ contextId }));
    expect(brief).toMatchObject({ totalSize: 1, pageSize: 50, nextPageToken: "" });
    expect(brief.tasks).toEqual([{ ...created, artifacts: [] }]);
    const full = await alike((client) =>
      client.listTasks({ contextId, includeArtifacts: true, status: TaskState.COMPLETED, pageSize: 1 }),
    );
    expect(full.tasks).toEqual([created]);
  });

  it("is streamed over every wire with equal events in equal order (A-25, A-26)", async () => {
    const { id } = await createTask(newMessage("ask What?"));
    const streams = names.map((name) => clientOver(name).subscribeToTask({ id })[Symbol.asyncIterator]());
    const firsts = await Promise.all(streams.map((stream) => stream.next()));
    const ended = await createTask(newMessage([text("this"), json({ and: "that" })], { taskId: id }));
    const [events, ...others] = await Promise.all(streams.map(readRest));

    expect(firsts[0]?.value.payload).toMatchObject({ case: "task", value: { id } });
    for (const first of firsts) expect(first).toEqual(firsts[0]);
    expect(events?.map(({ payload }) => payload.case)).toEqual([
      "statusUpdate",
      "artifactUpdate",
      "statusUpdate",
    ]);
    expect(events?.at(-1)?.payload.value).toMatchObject({ taskId: id, status: ended.status });
    for (const other of others) expect(other).toEqual(events);
    expect(await alike((client) => client.getTask({ id }))).toEqual(ended);
  });

  it.each(names)("is canceled over %s, and every wire sees that (A-31)", async (canceler) => {
    const { id } = await createTask(newMessage("sleep 3600000"), true);
    const canceled = await clientOver(canceler).cancelTask({ id });
    expect(canceled.status?.state).toBe(TaskState.CANCELED);
    expect(await alike((client) => client.getTask({ id }))).toEqual(canceled);
    const refusal = await alike((client) => errorOf(client.cancelTask({ id })));
    expect(refusal).toMatchObject({ reason: "TASK_NOT_CANCELABLE", metadata: { taskId: id } });
  });
});

function newMessage(
  content: Parameters<typeof userMessage>[0],
  details: Partial<MessageDetails> = {},
): Message {
  return userMessage(content, { messageId: randomUUID(), ...details });
}

async function readRest(stream: AsyncIterator<StreamResponse>): Promise<StreamResponse[]> {
  const events: StreamResponse[] = [];
  for (let next = await stream.next(); !next.done; next = await stream.next()) events.push(next.value);
  return events;
}

async function errorOf(call: Promise<unknown>): Promise<unknown> {
  const failure = await failureOf(call);
  const { code, rawMessage } = ConnectError.from(failure);
  return { code, rawMessage, ...findA2AError(failure) };
}
