import { setImmediate as nextTurn } from "node:timers/promises";
import { A2AService, TaskState } from "@a2a-connect/proto";
import { createFakeClock, createMemoryTransport } from "@a2a-connect/testing";
import { createClient } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { detached, sendTask, stateOf } from "../../../test-support/tasks.ts";
import type { AgentDefinition } from "../../agent/agent-definition.ts";
import { createAgentHost } from "../../host/agent-host.ts";
import { createMemoryTaskStore } from "../../store/memory-task-store.ts";
import type { LogEntry, TaskStore } from "../../store/task-store.ts";
import type { Clock } from "../clock.ts";
import type { EngineLimits } from "../engine-context.ts";

const second = 1_000;
const never = new Promise<never>(() => {});

/** Keeps a result of as many characters as its message says, sleeps for a minute, and cleans up when it is canceled. */
function sleeper(cleanedUp: string[] = []): AgentDefinition {
  return {
    card: { name: "Sleeper" },
    durable: true,
    async *execute(task) {
      yield task.working();
      await task.step("prepare", () => "x".repeat(Number(task.text)));
      try {
        await task.sleep(60 * second);
      } finally {
        if (task.signal.aborted) cleanedUp.push(task.principal);
      }
      yield task.complete();
    },
  };
}

/** A host of agents with a store each. `storeOf` may change what a store does, by the number of its agent. */
async function startHost(
  agents: number,
  agent: AgentDefinition,
  storeOf: (store: TaskStore, at: number, clock: Clock) => Partial<TaskStore>,
  limitsOf: (at: number) => Partial<EngineLimits> = () => ({}),
) {
  const clock = createFakeClock();
  const names = Array.from({ length: agents }, (_, at) => `agent-${at}`);
  const hosted = names.map((name, at) => {
    const store = createMemoryTaskStore();
    return [
      name,
      { agent, limits: limitsOf(at), store: { ...store, ...storeOf(store, at, clock) } },
    ] as const;
  });
  const host = createAgentHost({ agents: Object.fromEntries(hosted), clock, log: () => {} });
  await host.start();
  const clientOf = (at: number, principal = "alice") => {
    const server = host.agents[`agent-${at}`];
    if (server === undefined) throw new Error("there is no such agent");
    return createClient(A2AService, createMemoryTransport(server.service, principal));
  };
  /** Tasks and journals are read in turns of the event loop that the clock does not know. */
  const seconds = async (count: number) => {
    for (let at = 0; at < count; at += 1) {
      await clock.advance(second);
      for (let turn = 0; turn < 40; turn += 1) await nextTurn();
    }
  };
  const cancel = (at: number, id: string) => {
    const answer: { state?: TaskState | undefined } = {};
    void clientOf(at)
      .cancelTask({ id })
      .then((task) => Object.assign(answer, { state: task.status?.state }));
    return answer;
  };
  return { clock, clientOf, seconds, cancel };
}

const has = (entries: readonly LogEntry[], type: string) =>
  entries.some(({ payload }) => new TextDecoder().decode(payload).includes(`"${type}"`));

describe("durable tasks of one caller at two agents, of which one has a store that hangs", () => {
  async function setup(hang: "entries" | "commits of stops") {
    let hangs = false;
    const cleanedUp: string[] = [];
    const storeOf = (store: TaskStore, at: number): Partial<TaskStore> => {
      if (at !== 0) return {};
      if (hang === "entries") return { entries: (...args) => (hangs ? never : store.entries(...args)) };
      return { commit: (commit) => (hangs && has(commit.entries, "stop") ? never : store.commit(commit)) };
    };
    const started = await startHost(2, sleeper(cleanedUp), storeOf);
    const { clientOf, seconds } = started;
    const stuck: string[] = [];
    for (let at = 0; at < 12; at += 1) stuck.push((await sendTask(clientOf(0), detached("1"))).id);
    await seconds(1);
    const { id } = await sendTask(clientOf(1), detached("1"));
    await seconds(40); // they leave memory
    hangs = true;
    return { ...started, id, stuck, cleanedUp };
  }

  it("go on at the other when their sleep is over, and those behind the first one hold up nothing", async () => {
    const { id, seconds, clientOf } = await setup("entries");
    await seconds(20);
    expect(await stateOf(clientOf(1), id)).toBe(TaskState.WORKING);
    await seconds(15);
    expect(await stateOf(clientOf(1), id)).toBe(TaskState.COMPLETED);
    const next = await sendTask(clientOf(1), detached("1"));
    await seconds(61);
    expect(await stateOf(clientOf(1), next.id)).toBe(TaskState.COMPLETED);
  });

  it.each(["entries", "commits of stops"] as const)(
    "are canceled at the other, and clean up (hanging: %s)",
    async (hang) => {
      const { id, stuck, seconds, cancel, cleanedUp } = await setup(hang);
      for (const other of stuck) cancel(0, other);
      await seconds(1);
      const answer = cancel(1, id);
      await seconds(12);
      expect(answer).toEqual({ state: TaskState.CANCELED });
      expect(cleanedUp).toEqual(["alice"]);
    },
  );

  it("are canceled at the other at once, also while tasks are canceled at their own, when its store has been silent before", async () => {
    const { stuck, clientOf, seconds, cancel } = await setup("entries");
    const ids: string[] = [];
    for (let at = 0; at < 8; at += 1) ids.push((await sendTask(clientOf(1), detached("1"))).id);
    await seconds(35); // those of the first one want to go on, and the others leave memory
    for (const id of stuck) cancel(0, id);
    await seconds(2);
    const answers = ids.map((id) => cancel(1, id));
    await seconds(1);
    expect(answers).toEqual(ids.map(() => ({ state: TaskState.CANCELED })));
  });

  it("are canceled at their own without a clean-up, also those that wait", async () => {
    const { stuck, seconds, cancel, cleanedUp } = await setup("entries");
    const answers = stuck.map((id) => cancel(0, id));
    await seconds(12);
    expect(answers).toEqual(stuck.map(() => ({ state: TaskState.CANCELED })));
    expect(cleanedUp).toEqual([]);
  });

  it("are canceled at their own when they were to go on, one in 10 s", async () => {
    const { stuck, seconds, cancel } = await setup("entries");
    await seconds(30);
    const answers = stuck.map((id) => cancel(0, id));
    await seconds(12);
    expect(answers.filter(({ state }) => state !== undefined).length).toBeGreaterThan(0);
    await seconds(10 * stuck.length);
    expect(answers).toEqual(stuck.map(() => ({ state: TaskState.CANCELED })));
  });
});

it.each([
  ["9 s", [9], [1]],
  ["11 s", [11], [4]],
  ["11 s, and later 9 s,", [11, 9], [4, 1]],
] as const)(
  "stores that need %s for each page let so many journals of a caller be read at a time",
  async (_, pageSeconds, most) => {
    const reading = { now: new Set<number>(), most: 0 };
    let pageMs = 0;
    const storeOf = (store: TaskStore, at: number, clock: Clock): Partial<TaskStore> => ({
      entries: async (owner, taskId, after, view) => {
        reading.most = Math.max(reading.most, reading.now.add(at).size);
        await new Promise<void>((resolve) => void clock.schedule(pageMs, resolve));
        const page = await store.entries(owner, taskId, after, view, 1);
        if (!page.more) reading.now.delete(at);
        return page;
      },
    });
    const { clientOf, seconds } = await startHost(4, sleeper(), storeOf);
    const agents = [0, 1, 2, 3];
    const mostAtATime: number[] = [];
    for (const each of pageSeconds) {
      pageMs = each * second;
      reading.most = 0;
      const ids: string[] = [];
      for (const at of agents) ids.push((await sendTask(clientOf(at), detached("1"))).id);
      await seconds(40); // they leave memory
      expect(reading.most).toBe(0);
      await seconds(40 + 4 * 5 * each);
      mostAtATime.push(reading.most);
      for (const at of agents) expect(await stateOf(clientOf(at), ids[at] ?? "")).toBe(TaskState.COMPLETED);
    }
    expect(mostAtATime).toEqual(most);
  },
);

it("waiting tasks of a caller begin at one agent while the store of another hangs, and no more of them at that one", async () => {
  let [hangs, asked] = [false, 0];
  const ends: (() => void)[] = [];
  const agent: AgentDefinition = {
    card: { name: "Worker" },
    async *execute(turn) {
      yield turn.working();
      await new Promise<void>((end) => void ends.push(end));
      yield turn.complete();
    },
  };
  const storeOf = (store: TaskStore, at: number): Partial<TaskStore> => ({
    commit: (commit) => {
      if (at !== 0 || !hangs || !has(commit.entries, "begun")) return store.commit(commit);
      asked += 1;
      return never;
    },
  });
  const limitsOf = (at: number) => ({ maxRunning: at === 0 ? 40 : 1, maxShare: 1 });
  const { clientOf, seconds } = await startHost(2, agent, storeOf, limitsOf);
  for (let at = 0; at < 60; at += 1) await sendTask(clientOf(0), detached());
  await sendTask(clientOf(1), detached());
  const { id } = await sendTask(clientOf(1), detached());
  await seconds(1);
  hangs = true;
  for (const end of ends.splice(0)) end();
  await seconds(5);
  expect(await stateOf(clientOf(1), id)).toBe(TaskState.SUBMITTED);
  await seconds(60);
  expect(await stateOf(clientOf(1), id)).toBe(TaskState.WORKING);
  expect(asked).toBe(16);
});
