import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { findA2AError } from "@a2a-connect/core";
import { PartSchema, Role, type Task } from "@a2a-connect/proto";
import { RetryInfoSchema } from "@a2a-connect/proto/google/rpc/error_details";
import type { AgentDefinition } from "@a2a-connect/server";
import { type A2AClient, type AgentHarness, startAgentHarness, wires } from "@a2a-connect/testing";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";

const mib = 2 ** 20;

/** Answers with as many MiB as it is told, in artifacts of 1 MiB and of a thousand small parts. */
const agent: AgentDefinition = {
  card: { name: "Large" },
  async *execute(turn) {
    const [size = 0, then] = turn.text.split(" ", 2).map((word) => word.trim());
    for (let at = 0; at < Number(size); at += 1) yield turn.append(`a${at}`, `"ü🙂\n${"x".repeat(mib)}`);
    const parts = Array.from({ length: 1_000 }, (_, at) =>
      create(PartSchema, { content: { case: "text", value: `${at}` } }),
    );
    yield turn.artifact({ id: "small", parts });
    if (then === "ask") yield turn.inputRequired("and?");
  },
};

async function send(client: A2AClient, text: string): Promise<Task> {
  const parts = [{ content: { case: "text" as const, value: text } }];
  const { payload } = await client.sendMessage({
    message: { messageId: crypto.randomUUID(), role: Role.USER, parts },
  });
  if (payload.case !== "task") throw new Error("the agent answers with tasks");
  return payload.value;
}

/** A caller who asks for a task over HTTP/1.1 and then reads nothing; resolves when the answer has begun. */
async function startStalled(harness: AgentHarness, { id }: Task): Promise<Socket> {
  const socket = connect({ port: Number(new URL(harness.url).port), host: "127.0.0.1" });
  socket.on("error", () => undefined);
  await once(socket, "connect");
  socket.write(`GET /rest/tasks/${id} HTTP/1.1\r\nhost: localhost\r\na2a-version: 1.0\r\n\r\n`);
  await once(socket, "readable"); // without a read, the rest stays where it is
  return socket;
}

describe("a large answer", () => {
  it("is the same task on all wires: of GetTask, a blocking SendMessage, a stream and a list", async () => {
    await using harness = await startAgentHarness({ agent, store: "sqlite" });
    const { clients } = harness;
    const task = await clients.grpc.getTask({ id: (await send(clients.grpc, "3 ask")).id });
    expect(task.artifacts).toHaveLength(4);
    for (const wire of wires) {
      const client = clients[wire];
      expect(await client.getTask({ id: task.id }), wire).toEqual(task);
      const page = await client.listTasks({ contextId: task.contextId, includeArtifacts: true });
      expect(page, wire).toMatchObject({ totalSize: 1, nextPageToken: "" });
      expect(page.tasks, wire).toEqual([task]);
      for await (const { payload } of client.subscribeToTask({ id: task.id })) {
        expect(payload, wire).toEqual({ case: "task", value: task });
        break;
      }
      expect((await send(client, "2")).artifacts, wire).toHaveLength(3);
    }
  });

  it("is compressed as it is made", async () => {
    await using harness = await startAgentHarness({ agent });
    const { id } = await send(harness.clients.grpc, "3");
    const headers = { "a2a-version": "1.0", "accept-encoding": "br, gzip" };
    const response = await harness.fetch(`/rest/tasks/${id}`, { headers });
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(((await response.json()) as { artifacts: unknown[] }).artifacts).toHaveLength(4);
  });
});

describe("callers who do not read", () => {
  it("keep further large answers off with CAPACITY on all wires, and no small one, until they have gone", async () => {
    // The system's own buffers take some MiB of an answer, so this is more than they do. Its texts count two bytes a character.
    await using harness = await startAgentHarness({ agent, store: "sqlite", maxUnreadBytes: 80 * mib });
    const { grpc } = harness.clients;
    const large = await send(grpc, "30");
    const small = await send(grpc, "0");
    const stalled = await startStalled(harness, large);
    for (const wire of wires) {
      const client = harness.clients[wire];
      const refusal = ConnectError.from(
        await client.getTask({ id: large.id }).catch((error: unknown) => error),
      );
      expect([wire, refusal.code, findA2AError(refusal)?.reason]).toEqual([
        wire,
        Code.ResourceExhausted,
        "CAPACITY",
      ]);
      expect(refusal.findDetails(RetryInfoSchema)[0]?.retryDelay?.seconds).toBe(1n);
      expect((await client.getTask({ id: small.id })).id).toBe(small.id);
      expect((await client.listTasks({})).totalSize).toBe(2);
    }
    const path = `/rest/tasks/${large.id}`;
    const refused = await harness.fetch(path, { headers: { "a2a-version": "1.0" } });
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    await refused.body?.cancel();
    stalled.destroy();
    for (;;) {
      const again = await grpc.getTask({ id: large.id }).catch(ConnectError.from);
      if (!(again instanceof ConnectError)) break; // the server has seen that its reader is gone
      expect(again.code).toBe(Code.ResourceExhausted);
    }
  });
});

describe("a list of large tasks", () => {
  const text = "x".repeat(3 * mib);

  it("ends its pages early, says where it goes on, and counts all", async () => {
    await using harness = await startAgentHarness({ agent, store: "sqlite" });
    const { grpc } = harness.clients;
    for (let at = 0; at < 5; at += 1) await send(grpc, `0 ${text}`);
    const seen = new Set<string>();
    const sizes: number[] = [];
    for (let pageToken = ""; sizes.length === 0 || pageToken !== ""; ) {
      const page = await grpc.listTasks({ pageToken });
      expect(page).toMatchObject({ totalSize: 5, pageSize: 50 });
      for (const { id } of page.tasks) seen.add(id);
      sizes.push(page.tasks.length);
      pageToken = page.nextPageToken;
    }
    expect([seen.size, sizes]).toEqual([5, [2, 2, 1]]);
  });

  it("has room for more tasks when no history is asked for", async () => {
    await using harness = await startAgentHarness({ agent, store: "sqlite" });
    const { grpc } = harness.clients;
    for (let at = 0; at < 5; at += 1) await send(grpc, `0 ${text}`);
    const page = await grpc.listTasks({ historyLength: 0 });
    expect(
      page.tasks.map(({ history, metadata, status }) => [history.length, metadata, status?.state]),
    ).toEqual(
      (await grpc.listTasks({ pageSize: 5, historyLength: 0 })).tasks.map(({ metadata, status }) => [
        0,
        metadata,
        status?.state,
      ]),
    );
    expect([page.tasks.length, page.nextPageToken]).toEqual([5, ""]);
    const [first] = page.tasks;
    const whole = await grpc.getTask({ id: first?.id ?? "" });
    expect({ ...whole, history: [], artifacts: [] }).toEqual(first);
    expect(await grpc.getTask({ id: whole.id, historyLength: 0 })).toEqual({ ...whole, history: [] });
  });
});
