// The official JavaScript client of A2A 0.3, over each of its transports, against what `npm start` serves.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createJsonRpcTransport } from "@a2a-connect/bindings/client";
import { startReceiver } from "@a2a-connect/conformance";
import { type ServedAgent, serve } from "@a2a-connect/node";
import { A2AService } from "@a2a-connect/proto";
import { createReferenceAgent, profileOptions } from "@a2a-connect/reference-agent";
import type {
  Message,
  MessageSendParams,
  Part,
  Task,
  TaskArtifactUpdateEvent,
  TaskStatusUpdateEvent,
} from "@a2a-js/sdk-0.3";
import {
  type Client,
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from "@a2a-js/sdk-0.3/client";
import { GrpcTransportFactory } from "@a2a-js/sdk-0.3/client/grpc";
import { createClient } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

type StreamEvent = Message | Task | TaskStatusUpdateEvent | TaskArtifactUpdateEvent;

const directory = mkdtempSync(join(tmpdir(), "a2a-versions-"));
let served: ServedAgent;
/** What the clients have asked for cards with. */
const cardRequests: Record<string, string>[] = [];

beforeAll(async () => {
  served = await serve(createReferenceAgent("full"), {
    ...profileOptions("full"),
    file: join(directory, "tasks.sqlite"),
    push: { allow: ["127.0.0.1"] },
  });
});
afterAll(async () => {
  await served.close({ graceMs: 0 });
  rmSync(directory, { recursive: true, force: true });
});

/** A fetch that notes what a client asks for cards with, and that can be cut. */
const watchedFetch: typeof fetch = (input, init) => {
  if (String(input).includes("/.well-known/")) {
    cardRequests.push(Object.fromEntries(new Headers(init?.headers)));
  }
  return fetch(input, init);
};

const transports = {
  JSONRPC: new JsonRpcTransportFactory({ fetchImpl: watchedFetch }),
  "HTTP+JSON": new RestTransportFactory({ fetchImpl: watchedFetch }),
  GRPC: new GrpcTransportFactory(),
} as const;

describe.each(Object.keys(transports) as (keyof typeof transports)[])("the 0.3 client over %s", (name) => {
  let client: Client;
  beforeAll(async () => {
    const factory = new ClientFactory({
      transports: [transports[name]],
      preferredTransports: [name],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl: watchedFetch }),
    });
    client = await factory.createFromUrl(served.url);
  });

  const send = async (text: string, more: Partial<Message> = {}) =>
    (await client.sendMessage(sending(text, more))) as Task; // the commands below make tasks

  /** What the SDK drops when it reads the messages of `a2a.v1`, or what these have no field for. */
  const isJson = name === "JSONRPC";

  /** The SDK cannot write null into a Struct. */
  const canNull = name !== "GRPC";

  it("finds its interface in the card", async () => {
    const card = await client.getAgentCard();
    expect(card).toMatchObject({ protocolVersion: "0.3.0", preferredTransport: "JSONRPC" });
    // It was the extended one: the card says that there is one.
    expect(card.description).toMatch(/extended card\.$/);
    expect(card.capabilities.streaming).toBe(true);
    expect(card.capabilities.stateTransitionHistory).toBe(isJson ? true : undefined);
  });

  it("sends a message and gets the whole task", async () => {
    const task = await send("task hello");
    expect(task).toMatchObject({ kind: "task", status: { state: "completed" } });
    expect(textOf(task.artifacts?.[0]?.parts)).toBe("hello");
    expect(task.history?.[0]).toMatchObject({ kind: "message", role: "user" });
    expect(await client.getTask({ id: task.id })).toEqual(task);
    expect((await client.getTask({ id: task.id, historyLength: 1 })).history).toHaveLength(1);
  });

  it("gets a direct message", async () => {
    const message = await client.sendMessage(sending("echo hello"));
    expect(message).toMatchObject({ kind: "message", role: "agent" });
    expect(textOf((message as Message).parts)).toBe("hello");
  });

  it("gets parts of every kind back as it sent them", async () => {
    const parts: Part[] = [
      { kind: "text", text: "hello", ...(isJson && { metadata: { a_b: 1 } }) },
      {
        kind: "file",
        file: { bytes: "AAF/gP8=", mimeType: "application/x-test", ...(isJson && { name: "five" }) },
      },
      { kind: "file", file: { uri: "https://example.com/a%20b", mimeType: "text/plain" } },
      { kind: "data", data: { snake_case: [1, "two", ...(canNull ? [null] : []), { deep: false }] } },
    ];
    const task = await send("", { parts });
    expect(task.artifacts?.[0]?.parts).toEqual(parts);
  });

  it("streams the task, its chunks and its end", async () => {
    const events = await collect(client.sendMessageStream(sending("stream 5 20")));
    expect(events[0]).toMatchObject({ kind: "task" });
    const chunks = events.filter((event) => event.kind === "artifact-update");
    expect(chunks).toHaveLength(5);
    if (isJson) {
      expect(chunks.map(({ append }) => append === true)).toEqual([false, true, true, true, true]);
    }
    expect(events.at(-1)).toMatchObject({
      kind: "status-update",
      final: true,
      status: { state: "completed" },
    });
    expect(events.filter((event) => event.kind === "status-update" && event.final)).toHaveLength(1);
  });

  it("is asked, and answers", async () => {
    const asked = await collect(client.sendMessageStream(sending("ask What is your name?")));
    expect(asked.at(-1)).toMatchObject({ final: true, status: { state: "input-required" } });
    const id = (asked[0] as Task).id;
    const answered = await send("Ada", { taskId: id });
    expect(answered).toMatchObject({ id, status: { state: "completed" } });
    expect(textOf(answered.artifacts?.[0]?.parts)).toBe("Ada");
  });

  it("returns at once when it does not block, and cancels", async () => {
    const params = sending("sleep 3600000");
    const task = (await client.sendMessage({ ...params, configuration: { blocking: false } })) as Task;
    expect(["submitted", "working"]).toContain(task.status.state);
    expect(await client.cancelTask({ id: task.id })).toMatchObject({ status: { state: "canceled" } });
    await expect(client.cancelTask({ id: task.id })).rejects.toThrow(/cannot be canceled|already ended/);
  });

  it("resubscribes after a cut, and reads to the end", async () => {
    const cut = new AbortController();
    let id = "";
    const reading = (async () => {
      for await (const event of client.sendMessageStream(sending("ask What?"), { signal: cut.signal })) {
        id = event.kind === "task" ? event.id : id;
        if (event.kind === "status-update") {
          cut.abort();
        }
      }
    })();
    await reading.catch(() => {}); // it was cut
    const waiting = await collect(client.resubscribeTask({ id }));
    expect(waiting).toMatchObject([{ kind: "task", id, status: { state: "input-required" } }]);
  });

  it("is told which task it does not have, and which field is wrong", async () => {
    await expect(client.getTask({ id: randomUUID() })).rejects.toThrow(/[Tt]ask not found|no such task/);
    await expect(client.sendMessage(sending("x", { parts: [] }))).rejects.toThrow(
      isJson ? /message\.parts: needs.*-32602/ : /message\.content: needs/,
    );
  });

  it("registers, reads, lists and deletes webhooks", async () => {
    const { id: taskId } = await send("ask What?");
    const config = { id: "one", url: "http://127.0.0.1:9/hook", token: "the-token" };
    const made = await client.setTaskPushNotificationConfig({ taskId, pushNotificationConfig: config });
    expect(made).toMatchObject({ taskId, pushNotificationConfig: config });
    const ids = { id: taskId, pushNotificationConfigId: "one" };
    expect(await client.getTaskPushNotificationConfig(ids)).toEqual(made);
    expect(await client.listTaskPushNotificationConfig({ id: taskId })).toEqual([made]);
    await client.deleteTaskPushNotificationConfig(ids);
    expect(await client.listTaskPushNotificationConfig({ id: taskId })).toEqual([]);
  });
});

describe("a webhook of a 0.3 caller", () => {
  it("is told the whole task in the form of 0.3, with its token; that of a 1.0 caller is told the events", async () => {
    await using receiver = await startReceiver();
    const client = await new ClientFactory().createFromUrl(served.url);
    const { id: taskId } = (await client.sendMessage(sending("ask What?"))) as Task;
    await client.setTaskPushNotificationConfig({
      taskId,
      pushNotificationConfig: { id: "older", url: `${receiver.url}/older`, token: "the-token" },
    });
    await createClient(
      A2AService,
      createJsonRpcTransport({ url: `${served.url}/rpc` }),
    ).createTaskPushNotificationConfig({ taskId, id: "current", url: `${receiver.url}/current` });
    await client.sendMessage(sending("Ada", { taskId }));
    const toldAt = (path: string) =>
      receiver.requests
        .filter((request) => request.path === path)
        .map(({ body, head }) => ({ head, json: JSON.parse(body.toString()) }));
    const isOver = (path: string, word: string) =>
      toldAt(path).some(({ json }) => JSON.stringify(json).includes(word));
    await receiver.until(() => isOver("/older", "completed") && isOver("/current", "TASK_STATE_COMPLETED"));
    const last = toldAt("/older").at(-1);
    expect(last?.json).toEqual(await client.getTask({ id: taskId }));
    expect(last?.head).toMatch(/^x-a2a-notification-token: the-token$/im);
    expect(last?.head).toMatch(/^content-type: application\/json$/im);
    expect(toldAt("/current").at(-1)?.json).toHaveProperty("statusUpdate");
  });
});

it("no client names a version when it asks for a card", () => {
  expect(cardRequests.length).toBeGreaterThan(0);
  expect(cardRequests.filter((header) => "a2a-version" in header)).toEqual([]);
});

function sending(text: string, more: Partial<Message> = {}): MessageSendParams {
  const parts: Part[] = [{ kind: "text", text }];
  return { message: { kind: "message", messageId: randomUUID(), role: "user", parts, ...more } };
}

function textOf(parts: readonly Part[] = []): string {
  return parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

async function collect(stream: AsyncIterable<StreamEvent>): Promise<StreamEvent[]> {
  return Array.fromAsync(stream);
}
