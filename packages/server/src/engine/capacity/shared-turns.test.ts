import { once } from "node:events";
import { text } from "@a2a-connect/core";
import { A2AService, TaskState } from "@a2a-connect/proto";
import { createFakeClock, createMemoryTransport, taskOf } from "@a2a-connect/testing";
import { createClient } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { detached, sendTask, stateOf } from "../../../test-support/tasks.ts";
import type { AgentDefinition } from "../../agent/agent-definition.ts";
import type { Turn } from "../../agent/turn.ts";
import { createAgentHost } from "../../host/agent-host.ts";
import { createMemoryTaskStore } from "../../store/memory-task-store.ts";
import type { TaskStore } from "../../store/task-store.ts";
import type { LogRecord } from "../engine-context.ts";

const kibibyte = 1_024;

/** A host of agents with the same code, of which each has a store of its own. */
async function startHost(
  agents: number,
  agent: AgentDefinition,
  maxActiveBytes: number,
  {
    clock = createFakeClock(),
    storeOf = (store: TaskStore, _: number): TaskStore => store,
  }: {
    clock?: ReturnType<typeof createFakeClock>;
    storeOf?: (store: TaskStore, at: number) => TaskStore;
  } = {},
) {
  const log: LogRecord[] = [];
  const names = Array.from({ length: agents }, (_, at) => `agent-${at}`);
  const limits = { maxActiveBytes, maxUncommittedBytes: 32 * kibibyte, chunkIntervalMs: 0 };
  const host = createAgentHost({
    agents: Object.fromEntries(
      names.map((name, at) => [name, { agent, limits, store: storeOf(createMemoryTaskStore(), at) }]),
    ),
    clock,
    log: (record) => log.push(record),
  });
  await host.start();
  const serverOf = (at: number) => {
    const server = host.agents[names[at % agents] ?? ""];
    if (server === undefined) throw new Error("there is no such agent");
    return server;
  };
  const clientOf = (at: number, principal = "alice") =>
    createClient(A2AService, createMemoryTransport(serverOf(at).service, principal));
  /** Sends so many messages, to one agent after the other. */
  const sendMany = (count: number, words: string) =>
    Promise.all(
      Array.from({ length: count }, async (_, at) => {
        const client = clientOf(at);
        return { client, id: taskOf(await client.sendMessage(detached(words))).id };
      }),
    );
  /** A journal is read in turns of the event loop that the clock does not know. */
  const until = async (isTrue: () => boolean) => {
    while (!isTrue()) await clock.advance(10);
  };
  return { host, clock, log, serverOf, clientOf, sendMany, until };
}

const chunk = (turn: Pick<Turn, "artifact">, index: number, bytes: number) =>
  turn.artifact({ name: `chunk ${index}`, parts: [text("x".repeat(bytes))] });

const aborted = ({ signal }: { readonly signal: AbortSignal }) =>
  signal.aborted ? Promise.resolve() : once(signal, "abort");

/** Puts out 300 KiB, and more again when it has to. */
function writer(durable: boolean, onReady: () => void): AgentDefinition {
  async function* work(task: Pick<Turn, "artifact" | "working" | "signal">) {
    yield task.working();
    for (let index = 0; index < 3; index += 1) yield chunk(task, index, 100 * kibibyte);
    onReady();
    await aborted(task);
  }
  const base = { card: { name: "Writer" }, inactivityTimeoutMs: false } as const;
  return durable ? { ...base, durable, execute: work } : { ...base, execute: work };
}

describe.each([1, 2, 6])("the tasks of one caller at %d agents of a host", (agents) => {
  it("are read back one after the other, as far as they bring far more than its part of the memory", async () => {
    const clock = createFakeClock();
    const moment = clock.now() + 3_600_000;
    const atWork: (() => void)[] = [];
    const inMemory = { now: 0, most: 0 };
    let waiting = 0;
    const agent: AgentDefinition = {
      card: { name: "Reporter" },
      durable: true,
      async *execute(task) {
        inMemory.now += 1;
        inMemory.most = Math.max(inMemory.most, inMemory.now);
        for (let at = 0; at < 40; at += 1) await task.step(`fetch ${at}`, () => "x".repeat(28_500));
        waiting += 1;
        await task.sleep(moment - (await task.now()));
        await task.step("work", () => new Promise<void>((end) => void atWork.push(end)));
        inMemory.now -= 1;
      },
    };
    const { clientOf, until } = await startHost(agents, agent, 2 ** 20, { clock });
    const ids: string[] = [];
    for (let at = 0; at < 6; at += 1) {
      ids.push((await sendTask(clientOf(at), detached("go"))).id);
      await until(() => waiting === ids.length);
      await clock.advance(31_000); // it leaves memory
    }
    Object.assign(inMemory, { now: 0, most: 0 });
    await clock.advance(moment - clock.now());
    for (const _ of ids) {
      await until(() => atWork.length > 0);
      atWork.shift()?.();
    }
    for (let turns = 0; turns < 50; turns += 1) await clock.advance(20);
    for (const [at, id] of ids.entries()) expect(await stateOf(clientOf(at), id)).toBe(TaskState.COMPLETED);
    expect(inMemory).toEqual({ now: 0, most: 2 });
  });

  it.each([false, true])(
    "go on one at a time when they have put out far more (durable: %s)",
    async (durable) => {
      let ready = 0;
      const agent = writer(durable, () => {
        ready += 1;
      });
      const { sendMany, clock, log } = await startHost(agents, agent, 1_024 * kibibyte);
      await sendMany(42, "write");
      await clock.advance(5_000);
      expect(ready).toBe(1);
      await clock.advance(10_000);
      expect(ready).toBe(2);
      const notices = log.filter(({ message }) => message.includes("maxActiveBytes"));
      expect(notices.map(({ message }) => message)).toEqual([
        expect.stringMatching(/^the tasks of a caller/),
      ]);
    },
  );

  it("begin a few at a time when they take its part of the memory, at each agent", async () => {
    const made = new Map<string, number>();
    const all = () => [...made.values()].reduce((sum, each) => sum + each, 0);
    const agent: AgentDefinition = {
      card: { name: "Writer" },
      inactivityTimeoutMs: false,
      async *execute(turn) {
        made.set(turn.text, (made.get(turn.text) ?? 0) + 1);
        yield chunk(turn, 0, 1_024 * kibibyte);
        await aborted(turn);
      },
    };
    const { clientOf, clock } = await startHost(agents, agent, 8 * 1_024 * kibibyte);
    const sendTo = (at: number) => clientOf(at).sendMessage(detached(`${at % agents}`));
    for (let at = 0; at < 8; at += 1) await sendTo(at);
    await clock.settle();
    const first = all();
    await Promise.all(Array.from({ length: 60 }, (_, at) => sendTo(at)));
    await clock.settle();
    expect(all() - first).toBeLessThanOrEqual(16);
    await clock.advance(1_000); // sixteen at a time, until it has twice its part
    const before = new Map(made);
    for (let turns = 0; turns < agents * 2; turns += 1) {
      const most = all();
      await clock.advance(10_000);
      expect(all() - most).toBeLessThan(3);
    }
    for (let at = 0; at < agents; at += 1) {
      expect(made.get(`${at}`) ?? 0).toBeGreaterThan(before.get(`${at}`) ?? 0);
    }
  });

  it("are told to stop a few at a time", async () => {
    let [made, isHeld] = [0, true];
    const agent: AgentDefinition = {
      card: { name: "Writer" },
      async *execute(turn) {
        yield turn.working();
        await aborted(turn);
        made += 1;
        yield chunk(turn, 0, 512 * kibibyte);
        if (isHeld) await new Promise<void>((resolve) => void clock.schedule(9_000, resolve));
      },
    };
    const { clock, sendMany } = await startHost(agents, agent, 4_096 * kibibyte);
    const sent = await sendMany(60, "wait");
    await clock.settle();
    const answers = Promise.all(sent.map(({ client, id }) => client.cancelTask({ id })));
    await clock.settle();
    expect(made).toBeGreaterThan(4);
    expect(made).toBeLessThan(30);
    isHeld = false;
    for (let second = 0; second < 20; second += 1) await clock.advance(1_000);
    for (const { status, artifacts } of await answers) {
      expect([status?.state, artifacts.length]).toEqual([TaskState.CANCELED, 1]);
    }
  });
});

it("an agent whose store does not answer keeps no other caller's tasks at another agent waiting", async () => {
  const clock = createFakeClock();
  const moment = clock.now() + 3_600_000;
  const goneOn: string[] = [];
  const agent: AgentDefinition = {
    card: { name: "Sleeper" },
    durable: true,
    async *execute(task) {
      await task.sleep(moment - (await task.now()));
      goneOn.push(task.principal);
      yield task.complete("done");
    },
  };
  const never = new Promise<never>(() => {});
  const storeOf = (store: TaskStore, at: number): TaskStore =>
    at === 0 ? { ...store, entries: () => never } : store;
  const { clientOf, until } = await startHost(2, agent, 2 ** 20, { clock, storeOf });
  for (const caller of ["a", "b", "c", "d", "e"]) await sendTask(clientOf(0, caller), detached());
  for (const caller of ["f", "g"]) await sendTask(clientOf(1, caller), detached());
  await clock.advance(31_000); // they leave memory
  await clock.advance(moment - clock.now());
  await until(() => goneOn.length === 2);
  expect(goneOn.sort()).toEqual(["f", "g"]);
});

it.each([false, true])(
  "an agent that is closed leaves the turns to the others of its host, and ends no wait of theirs (durable: %s)",
  async (durable) => {
    let ready = 0;
    const agent = writer(durable, () => {
      ready += 1;
    });
    const { sendMany, serverOf, clock } = await startHost(2, agent, 1_024 * kibibyte);
    await sendMany(40, "write");
    await clock.advance(5_000);
    expect(ready).toBe(1);
    const closing = serverOf(0).close();
    await clock.advance(60_000);
    await closing;
    for (let at = 0; at < 4; at += 1) {
      const before = ready;
      await clock.advance(10_000);
      expect(ready - before).toBeLessThanOrEqual(1);
    }
    expect(ready).toBeGreaterThan(3);
  },
);
