// Idempotent sends over every wire and store (docs/idempotency.md): real sockets, real files.
import { randomUUID } from "node:crypto";
import { findA2AError, findFieldViolations } from "@a2a-connect/core";
import { type SendMessageResponse, type StreamResponse, TaskState } from "@a2a-connect/proto";
import { type A2AClient, readStream, type StoreKind, taskOf, wordsOf } from "@a2a-connect/testing";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../packages/client/test-support/outcomes.ts";
import { keyed, request, startServer, wireNames } from "./idempotent-server.ts";

const stores: readonly StoreKind[] = ["memory", "sqlite"];

async function streamed(stream: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
  const events: StreamResponse[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

const withoutWaiting = { configuration: { returnImmediately: true } };

describe.each(stores)("with the store %s", (store) => {
  it.each(wireNames)("a request over %s is recognised over every other wire", async (first) => {
    const { client, counting } = await startServer(store);
    const [task, reply] = [randomUUID(), randomUUID()];
    const answer = await client(first).sendMessage(request("task"), keyed(task));
    const message = await client(first).sendMessage(request("reply"), keyed(reply));
    const events = await streamed(client(first).sendStreamingMessage(request("task"), keyed(task)));
    expect(wordsOf(events)).toEqual(["task submitted", "artifact result", "completed"]);
    for (const wire of wireNames) {
      expect(await client(wire).sendMessage(request("task"), keyed(task)), wire).toEqual(answer);
      expect(await client(wire).sendMessage(request("reply"), keyed(reply)), wire).toEqual(message);
      const stream = client(wire).sendStreamingMessage(request("task"), keyed(task));
      expect(await streamed(stream), wire).toEqual(events);
      const short = await client(wire).sendMessage(
        { ...request("task"), configuration: { returnImmediately: true, historyLength: 0 } },
        keyed(task),
      );
      expect(taskOf(short), wire).toMatchObject({ id: taskOf(answer).id, history: [] });
    }
    expect(counting.runs).toEqual(["task", "reply"]);
    expect((await client(first).listTasks({})).totalSize).toBe(1);
  });

  it("an answer to a question is taken once", async () => {
    const { client, counting } = await startServer(store);
    const key = randomUUID();
    const { id } = taskOf(await client("JSON-RPC").sendMessage(request("ask")));
    const answer = request("this one", { taskId: id });
    const first = taskOf(await client("HTTP+JSON").sendMessage(answer, keyed(key)));
    expect(first.status?.state).toBe(TaskState.COMPLETED);
    for (const wire of wireNames) {
      expect(taskOf(await client(wire).sendMessage(answer, keyed(key))), wire).toEqual(first);
      const events = await streamed(client(wire).sendStreamingMessage(answer, keyed(key)));
      expect(wordsOf(events), wire).toEqual(["task completed"]);
    }
    expect(counting.runs).toEqual(["ask", "this one"]);
    expect(first.history).toHaveLength(3);
  });

  it("a repeat attaches while the first is worked on, in its own way", async () => {
    const { client, counting } = await startServer(store);
    const key = randomUUID();
    const first = client("gRPC").sendStreamingMessage(request("hold"), keyed(key))[Symbol.asyncIterator]();
    await first.next();
    const streams = wireNames.map((wire) =>
      readStream(() => client(wire).sendStreamingMessage(request("hold"), keyed(key))),
    );
    const blocking = wireNames.map((wire) => client(wire).sendMessage(request("hold"), keyed(key)));
    for (const wire of wireNames) {
      const now = await client(wire).sendMessage({ ...request("hold"), ...withoutWaiting }, keyed(key));
      expect(taskOf(now).status?.state, wire).not.toBe(TaskState.COMPLETED);
    }
    counting.release();
    const tasks = (await Promise.all(blocking)).map(taskOf);
    await Promise.all(streams.map(({ ended }) => ended));
    for (const task of tasks) {
      expect(task).toEqual(tasks[0]);
      expect(task.status?.state).toBe(TaskState.COMPLETED);
    }
    for (const { events } of streams) {
      expect(events).toEqual(streams[0]?.events);
      expect(wordsOf(events)).toEqual(["task submitted", "working", "completed"]);
    }
    expect(counting.runs).toEqual(["hold"]);
  });

  it("50 sends at once over all wires make one task", async () => {
    const { client, counting } = await startServer(store);
    const key = randomUUID();
    const sends = Array.from({ length: 50 }, (_, index) =>
      client(wireNames[index % wireNames.length] ?? "").sendMessage(request("task"), keyed(key)),
    );
    const ids = new Set((await Promise.all(sends)).map((answer) => taskOf(answer).id));
    expect(ids.size).toBe(1);
    expect(counting.runs).toEqual(["task"]);
    expect((await client("gRPC").listTasks({})).totalSize).toBe(1);
  });

  it("another request with the same key is refused over every wire", async () => {
    const { client, counting, url } = await startServer(store);
    const key = randomUUID();
    await client("Connect").sendMessage(request("task"), keyed(key));
    for (const wire of wireNames) {
      for (const send of [
        () => client(wire).sendMessage(request("task", { messageId: "another" }), keyed(key)),
        () => streamed(client(wire).sendStreamingMessage(request("task two"), keyed(key))),
      ]) {
        const failure = await failureOf(send());
        expect(ConnectError.from(failure).code, wire).toBe(Code.FailedPrecondition);
        expect(findA2AError(failure), wire).toMatchObject({
          reason: "IDEMPOTENCY_CONFLICT",
          entry: { domain: "a2a-connect" },
        });
      }
    }
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "another" }] };
    const headers = { "a2a-version": "1.0", "content-type": "application/json", "idempotency-key": key };
    const info = {
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      reason: "IDEMPOTENCY_CONFLICT",
      domain: "a2a-connect",
    };
    const rest = await fetch(`${url}/rest/message:send`, {
      method: "POST",
      headers,
      body: JSON.stringify({ message }),
    });
    expect(rest.status).toBe(409);
    expect(await rest.json()).toMatchObject({
      error: { code: 409, status: "FAILED_PRECONDITION", details: [info] },
    });
    const rpc = await fetch(`${url}/rpc`, {
      method: "POST",
      headers,
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }),
    });
    expect(await rpc.json()).toMatchObject({ error: { code: -32050, data: [info] } });
    expect(counting.runs).toEqual(["task"]);
  });

  it("a request that failed before there was a task may come again with the same key", async () => {
    const { client, counting } = await startServer(store);
    for (const wire of wireNames) {
      const key = randomUUID();
      const failure = await failureOf(client(wire).sendMessage(request("fail"), keyed(key)));
      expect(ConnectError.from(failure).code, wire).toBe(Code.Internal);
      const unknown = request("task", { taskId: "nope" });
      const missing = await failureOf(client(wire).sendMessage(unknown, keyed(key)));
      expect(findA2AError(missing)?.reason, wire).toBe("TASK_NOT_FOUND");
      const task = taskOf(await client(wire).sendMessage(request("task"), keyed(key)));
      expect(task.status?.state, wire).toBe(TaskState.COMPLETED);
    }
    expect(counting.runs).toEqual(wireNames.flatMap(() => ["fail", "task"]));
  });

  it("a key is its caller's and its tenant's own", async () => {
    const { client, counting } = await startServer(store);
    const key = randomUUID();
    const ids = new Set<string>();
    for (const wire of wireNames) {
      for (const caller of ["alice", "bob"]) {
        for (const tenant of ["", "acme"]) {
          const answer = await client(wire).sendMessage(
            { ...request("task"), tenant },
            keyed(key, { caller }),
          );
          ids.add(taskOf(answer).id);
        }
      }
    }
    expect(ids.size).toBe(4);
    expect(counting.runs).toHaveLength(4);
  });

  it("a key that is none is refused over every wire, and ignored by other operations", async () => {
    const { client, counting } = await startServer(store);
    for (const wire of wireNames) {
      for (const [bad, caller] of [
        ["fifteen letters", undefined],
        ["x".repeat(256), "alice"],
        ["one, two", "alice"],
      ] as const) {
        const options = keyed(bad, caller === undefined ? {} : { caller });
        const failures = [
          await failureOf(client(wire).sendMessage(request("task"), options)),
          await failureOf(streamed(client(wire).sendStreamingMessage(request("task"), options))),
        ];
        for (const failure of failures) {
          expect(ConnectError.from(failure).code, wire).toBe(Code.InvalidArgument);
          expect(findFieldViolations(failure), wire).toMatchObject([{ field: "Idempotency-Key" }]);
        }
      }
      expect((await client(wire).listTasks({}, keyed("short"))).tasks).toEqual([]);
    }
    expect(counting.runs).toEqual([]);
  });

  it("Last-Event-ID with the key goes on with the stream over every wire (A-36)", async () => {
    const { client, counting } = await startServer(store);
    const key = randomUUID();
    const all = await streamed(client("gRPC").sendStreamingMessage(request("task"), keyed(key)));
    for (const wire of wireNames) {
      for (const lastEventId of [0, 1, 2, 3]) {
        const options = keyed(key, { lastEventId });
        const stream = client(wire).sendStreamingMessage(request("task"), options);
        expect(await streamed(stream), wire).toEqual(all.slice(lastEventId));
      }
      const unknown = keyed(randomUUID(), { lastEventId: 1 });
      const failure = await failureOf(streamed(client(wire).sendStreamingMessage(request("task"), unknown)));
      expect(findFieldViolations(failure), wire).toMatchObject([{ field: "Last-Event-ID" }]);
    }
    expect(counting.runs).toEqual(["task"]);
  });
});

describe("after a restart", () => {
  it("repeats get the same task and the same Message over every wire", async () => {
    const { client, counting, restart } = await startServer("sqlite");
    const [task, reply, answered, held] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
    const before = async (wire: A2AClient): Promise<SendMessageResponse[]> => [
      await wire.sendMessage(request("task"), keyed(task)),
      await wire.sendMessage(request("reply"), keyed(reply)),
    ];
    const { id } = taskOf(await client("Connect").sendMessage(request("ask")));
    const answer = request("that one", { taskId: id });
    const wanted = [
      ...(await before(client("gRPC"))),
      await client("gRPC").sendMessage(answer, keyed(answered)),
    ];
    await client("gRPC").sendMessage({ ...request("hold"), ...withoutWaiting }, keyed(held));
    const runs = counting.runs.length;
    await restart();
    for (const wire of wireNames) {
      const got = [...(await before(client(wire))), await client(wire).sendMessage(answer, keyed(answered))];
      expect(got, wire).toEqual(wanted);
      // A turn cannot go on in another process: its task has failed, and its request is not run again.
      const interrupted = taskOf(await client(wire).sendMessage(request("hold"), keyed(held)));
      expect(interrupted.status?.state, wire).toBe(TaskState.FAILED);
      const conflict = await failureOf(client(wire).sendMessage(request("task two"), keyed(task)));
      expect(findA2AError(conflict)?.reason, wire).toBe("IDEMPOTENCY_CONFLICT");
    }
    expect(counting.runs).toHaveLength(runs);
  });
});
