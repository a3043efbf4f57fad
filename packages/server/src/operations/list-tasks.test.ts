import { type ListTasksRequestSchema, TaskState } from "@a2a-connect/proto";
import { createEngineHarness, say } from "@a2a-connect/testing";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { sendTask } from "../../test-support/tasks.ts";
import { createMemoryTaskStore } from "../store/memory-task-store.ts";
import type { TaskStore } from "../store/task-store.ts";

/** Bytes that are no message. */
const noise = Uint8Array.of(0x0a, 0xff, 0xff);

type ListInit = MessageInitShape<typeof ListTasksRequestSchema>;

/** An agent that ends a task as its message says, and as many tasks as are wanted. */
async function harnessWith(count = 0, gapMs = 1, store = createMemoryTaskStore()) {
  const harness = await createEngineHarness({
    store,
    agent: {
      card: { name: "Agent" },
      *execute(turn) {
        yield turn.artifact({ id: "a", text: turn.text });
        if (turn.text === "ask") yield turn.inputRequired("?");
        if (turn.text === "fail") yield turn.fail("no");
      },
    },
  });
  const send = async (words: string, details: Parameters<typeof say>[1] = {}, client = harness.client) => {
    const task = await sendTask(client, say(words, details));
    await harness.clock.advance(gapMs);
    return task;
  };
  for (let at = 0; at < count; at += 1) await send(`${at}`, { contextId: `c${at % 2}` });
  const pages = async (request: ListInit) => {
    const ids: string[] = [];
    for (let pageToken = "", rounds = 0; rounds === 0 || pageToken !== ""; rounds += 1) {
      const page = await harness.client.listTasks({ ...request, pageToken });
      ids.push(...page.tasks.map(({ id }) => id));
      pageToken = page.nextPageToken;
    }
    return ids;
  };
  return { ...harness, send, pages };
}

// What the specification says of it stands in packages/conformance/src/scenarios, over all wires and stores.

describe("ListTasks", () => {
  for (const [name, gapMs] of [
    ["different times", 1],
    ["one and the same time", 0],
  ] as const) {
    it(`gives every task once over its pages, at ${name} (A-41, A-42)`, async () => {
      const { client, pages } = await harnessWith(25, gapMs);
      const whole = (await client.listTasks({ pageSize: 100 })).tasks.map(({ id }) => id);
      expect(new Set(whole).size).toBe(25);
      for (const pageSize of [1, 7, 25, 26]) expect(await pages({ pageSize })).toEqual(whole);
    });
  }

  it("gives 50 unless told otherwise, and 100 at most (A-44)", async () => {
    const { client } = await harnessWith(101);
    expect((await client.listTasks({})).tasks).toHaveLength(50);
    expect((await client.listTasks({ pageSize: 100 })).tasks).toHaveLength(100);
  });

  it("takes statusTimestampAfter as an inclusive bound, to the nanosecond (A-45)", async () => {
    const { client, clock, send } = await harnessWith();
    const at = clock.now();
    const { id } = await send("1");
    const count = async (bound: Timestamp) =>
      (await client.listTasks({ statusTimestampAfter: bound })).totalSize;
    const exact = timestampFromMs(at);
    expect((await client.getTask({ id })).status?.timestamp).toEqual(exact);
    expect(await count(exact)).toBe(1);
    expect(await count({ ...exact, nanos: exact.nanos + 1 })).toBe(0);
    expect(await count(timestampFromMs(at - 1))).toBe(1);
    expect(await count(timestampFromMs(at + 1))).toBe(0);
  });

  for (const [what, request] of [
    ["with its history", { pageSize: 1 }],
    ["without", { pageSize: 1, historyLength: 0 }],
    ["with artifacts", { pageSize: 1, includeArtifacts: true }],
  ] as const) {
    it(`shows of a task whose log is damaged what is known without it, and all others (${what})`, async () => {
      const store = createMemoryTaskStore();
      let damages = false;
      const commit: TaskStore["commit"] = (all) =>
        store.commit(
          damages ? { ...all, entries: all.entries.map((entry) => ({ ...entry, payload: noise })) } : all,
        );
      const { send, pages, client, log } = await harnessWith(0, 1, { ...store, commit });
      const one = await send("1");
      damages = true;
      const broken = await send("fail");
      damages = false;
      const other = await send("3");
      expect(await pages(request)).toEqual([other.id, broken.id, one.id]);
      const { tasks } = await client.listTasks({ ...request, pageSize: 100 });
      expect(tasks[1]).toMatchObject({
        id: broken.id,
        contextId: broken.contextId,
        status: { state: TaskState.FAILED, timestamp: broken.status?.timestamp },
      });
      expect(log).toContainEqual(expect.objectContaining({ level: "error", taskId: broken.id }));
    });
  }

  it("leaves out a task that has expired while the page was put together", async () => {
    const store = createMemoryTaskStore();
    const list: TaskStore["list"] = async (query) => {
      const page = await store.list(query);
      const [first, ...others] = page.tasks;
      if (first === undefined) return page;
      const start = { sequence: 0, generation: 0 };
      return { ...page, tasks: [{ ...first, taskId: "gone", entries: [], more: start }, ...others] };
    };
    const { send, client } = await harnessWith(0, 1, { ...store, list });
    const one = await send("1");
    await send("2");
    expect((await client.listTasks({})).tasks.map(({ id }) => id)).toEqual([one.id]);
  });

  it.each([
    ["with its history", {}],
    ["without", { historyLength: 0 }],
    ["with artifacts", { includeArtifacts: true }],
    ["with artifacts alone", { includeArtifacts: true, historyLength: 0 }],
  ] as const)("reads a task that it has shown only when it has changed (%s)", async (_, request) => {
    const store = createMemoryTaskStore();
    let known: readonly boolean[] = [];
    const list: TaskStore["list"] = async (query) => {
      const page = await store.list(query);
      known = page.tasks.map(({ taskId, tail }) => query.isKnown?.(taskId, tail) === true);
      const withoutLog = { snapshot: undefined, entries: [] };
      const tasks = page.tasks.map((task, at) => (known[at] === true ? { ...task, ...withoutLog } : task));
      return { ...page, tasks };
    };
    const { send, client } = await harnessWith(0, 1, { ...store, list });
    await send("1");
    const waiting = await send("ask");
    const shown = async () => {
      const { tasks } = await client.listTasks(request);
      return { tasks, known };
    };
    const first = await shown();
    expect(first.known).toEqual([false, false]);
    expect(await shown()).toEqual({ tasks: first.tasks, known: [true, true] });
    await send("2", { taskId: waiting.id });
    const changed = await shown();
    expect(changed.known).toEqual([false, true]);
    expect(changed.tasks[1]).toEqual(first.tasks[1]);
    const whole = await client.getTask({ id: waiting.id });
    const { includeArtifacts, historyLength } = {
      includeArtifacts: false,
      historyLength: undefined,
      ...request,
    };
    expect(changed.tasks[0]).toEqual({
      ...whole,
      artifacts: includeArtifacts ? whole.artifacts : [],
      history: historyLength === 0 ? [] : whole.history,
    });
    expect(await shown()).toEqual({ tasks: changed.tasks, known: [true, true] });
  });

  it("reads a large task each time, because it keeps small ones only", async () => {
    const store = createMemoryTaskStore();
    const known: boolean[] = [];
    const list: TaskStore["list"] = async (query) => {
      const page = await store.list(query);
      for (const { taskId, tail } of page.tasks) known.push(query.isKnown?.(taskId, tail) === true);
      return page;
    };
    const { send, client } = await harnessWith(0, 1, { ...store, list });
    await send("x".repeat(10_000));
    const { tasks } = await client.listTasks({});
    expect((await client.listTasks({})).tasks).toEqual(tasks);
    expect(known).toEqual([false, false]);
  });

  describe("page tokens (A-48)", () => {
    const isRefused = { code: Code.InvalidArgument, rawMessage: expect.stringContaining("pageToken") };

    for (const pageToken of ["garbage", "!!!", "e30", "W10", "bnVsbA", "\ud800", "a".repeat(10_000)]) {
      it(`refuses ${JSON.stringify(pageToken.slice(0, 20))}`, async () => {
        const { client } = await harnessWith(1);
        await expect(client.listTasks({ pageToken })).rejects.toMatchObject(isRefused);
      });
    }

    it("refuses one that was changed", async () => {
      const { client } = await harnessWith(3);
      const { nextPageToken } = await client.listTasks({ pageSize: 1 });
      for (let at = 0; at < 16; at += 1) {
        const other = nextPageToken[at] === "A" ? "B" : "A";
        const pageToken = nextPageToken.slice(0, at) + other + nextPageToken.slice(at + 1);
        await expect(client.listTasks({ pageSize: 1, pageToken })).rejects.toMatchObject(isRefused);
      }
    });

    it("refuses one of another caller or for other filters, and takes another page size", async () => {
      const { client, clientOf } = await harnessWith(6);
      const { nextPageToken: pageToken } = await client.listTasks({ pageSize: 2, contextId: "c0" });
      expect((await client.listTasks({ pageSize: 1, contextId: "c0", pageToken })).tasks).toHaveLength(1);
      const calls: readonly (() => Promise<unknown>)[] = [
        () => clientOf("eve").listTasks({ contextId: "c0", pageToken }),
        () => client.listTasks({ contextId: "c0", pageToken, tenant: "acme" }),
        () => client.listTasks({ contextId: "c1", pageToken }),
        () => client.listTasks({ pageToken }),
        () => client.listTasks({ contextId: "c0", status: TaskState.COMPLETED, pageToken }),
        () => client.listTasks({ contextId: "c0", statusTimestampAfter: timestampFromMs(0), pageToken }),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject(isRefused);
    });

    it("goes on where the page ended although tasks came before it meanwhile", async () => {
      const { client, send } = await harnessWith(4);
      const whole = (await client.listTasks({})).tasks.map(({ id }) => id);
      const first = await client.listTasks({ pageSize: 2 });
      await send("new");
      const second = await client.listTasks({ pageSize: 2, pageToken: first.nextPageToken });
      expect([...first.tasks, ...second.tasks].map(({ id }) => id)).toEqual(whole);
    });
  });
});
