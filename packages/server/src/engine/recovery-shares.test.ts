import { json } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { createEngineHarness, createFakeClock } from "@a2a-connect/testing";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { createMortalStore } from "../../test-support/mortal-store.ts";
import { detached, sendTask, subscribe } from "../../test-support/tasks.ts";
import { type AgentDefinition, defineAgent } from "../agent/agent-definition.ts";
import { createMemoryTaskStore } from "../store/memory-task-store.ts";

const kibibyte = 1_024;
const large = "x".repeat(100 * kibibyte);

it("a caller's unfinished tasks have its share of the memory after a restart; others have theirs, and all are done in the end", async () => {
  const clock = createFakeClock();
  const memory = createMemoryTaskStore();
  /** Ends the tasks that are at work, by the caller. */
  const atWork: { readonly caller: string; readonly end: () => void }[] = [];
  const agent: AgentDefinition = defineAgent({
    card: { name: "Durable" },
    durable: true,
    async *execute(task) {
      await task.step("work", () => new Promise<void>((end) => atWork.push({ caller: task.principal, end })));
      yield task.artifact({ text: "done" });
    },
  });
  const start = async (maxActiveBytes: number) => {
    const store = createMortalStore(memory);
    const harness = await createEngineHarness({ agent, clock, store, limits: { maxActiveBytes } });
    return { ...harness, kill: store.kill };
  };
  const before = await start(2 ** 30);
  for (let at = 0; at < 20; at += 1) await sendTask(before.clientOf("alice"), detached(large));
  for (let at = 0; at < 2; at += 1) await sendTask(before.clientOf("bob"), detached(large));
  await clock.settle();
  before.kill();
  atWork.length = 0;

  const { clientOf } = await start(1_500 * kibibyte);
  await clock.settle();
  const count = (caller: string) => atWork.filter((each) => each.caller === caller).length;
  expect(count("alice")).toBeLessThanOrEqual(13); // 7/8 of what there is
  expect(count("alice")).toBeGreaterThan(8);
  expect(count("bob")).toBe(atWork.length - count("alice"));
  expect(count("bob")).toBeGreaterThan(0);
  await expect(sendTask(clientOf("alice"), detached(large))).rejects.toMatchObject({
    code: Code.ResourceExhausted,
  });
  for (let ended = 0; ended < 22; ended += 1) {
    atWork.shift()?.end();
    await clock.settle();
  }
  for (const [caller, tasks] of [
    ["alice", 20],
    ["bob", 2],
  ] as const) {
    const done = await clientOf(caller).listTasks({ status: TaskState.COMPLETED });
    expect(done.totalSize).toBe(tasks);
  }
});

it("a caller's tasks that stay at work keep no other caller's unfinished tasks waiting, and no timers", async () => {
  const clock = createFakeClock();
  const memory = createMemoryTaskStore();
  const atWork: string[] = [];
  const agent: AgentDefinition = defineAgent({
    card: { name: "Durable" },
    durable: true,
    async *execute(task) {
      if (task.text === "sleep") await task.sleep(60_000);
      await task.step("work", () => {
        atWork.push(`${task.principal} ${task.text.slice(0, 5)}`);
        return new Promise<void>(() => {});
      });
      yield task.artifact({ text: "done" });
    },
  });
  const start = async (maxActiveBytes: number) => {
    const store = createMortalStore(memory);
    const harness = await createEngineHarness({ agent, clock, store, limits: { maxActiveBytes } });
    return { ...harness, kill: store.kill };
  };
  const before = await start(2 ** 30);
  await sendTask(before.clientOf("bob"), detached("sleep"));
  for (let at = 0; at < 120; at += 1) await sendTask(before.clientOf("alice"), detached(large));
  await sendTask(before.clientOf("bob"), detached("after"));
  await clock.settle();
  before.kill();
  atWork.length = 0;

  await start(1_200 * kibibyte);
  await clock.settle();
  const count = (what: string) => atWork.filter((each) => each === what).length;
  expect(count("bob after")).toBe(1);
  expect(count("alice xxxxx")).toBeGreaterThan(5);
  expect(count("alice xxxxx")).toBeLessThanOrEqual(9); // 7/8 of what there is
  await clock.advance(61_000);
  expect(count("bob sleep")).toBe(1);
});

it("a start knows few of the tasks of a caller that wait for room, and takes up all of them in the end", async () => {
  const clock = createFakeClock();
  const memory = createMemoryTaskStore();
  const atWork: { readonly caller: string; readonly end: () => void }[] = [];
  const agent: AgentDefinition = defineAgent({
    card: { name: "Durable" },
    durable: true,
    async *execute(task) {
      if (task.text === "sleep") await task.sleep(24 * 3_600_000);
      await task.step("work", () => new Promise<void>((end) => atWork.push({ caller: task.principal, end })));
      yield task.artifact({ text: "done" });
    },
  });
  const weighed: string[] = [];
  const start = async (maxActiveBytes: number) => {
    const store = createMortalStore(memory);
    const weigh: typeof store.weigh = (owner, taskId) => {
      weighed.push(owner.principal);
      return store.weigh(owner, taskId);
    };
    const limits = { maxActiveBytes };
    return {
      ...(await createEngineHarness({ agent, clock, store: { ...store, weigh }, limits })),
      kill: store.kill,
    };
  };
  const before = await start(2 ** 30);
  for (let at = 0; at < 400; at += 1)
    await sendTask(before.clientOf("alice"), detached(at < 300 ? "work" : "sleep"));
  for (const text of ["work", "sleep"]) await sendTask(before.clientOf("bob"), detached(text));
  await clock.settle();
  before.kill();
  atWork.length = 0;

  const { clientOf } = await start(400 * kibibyte);
  await clock.settle();
  const known = () => weighed.filter((caller) => caller === "alice").length;
  expect(known()).toBeLessThanOrEqual(100);
  expect(atWork.some(({ caller }) => caller === "bob")).toBe(true);
  expect(weighed.filter((caller) => caller === "bob")).toHaveLength(2);
  for (let ended = 0; ended < 200; ended += 1) {
    atWork.shift()?.end();
    await clock.settle();
  }
  expect(known()).toBeLessThan(250);
  for (let ended = 0; ended < 101; ended += 1) {
    atWork.shift()?.end();
    await clock.settle();
  }
  expect([atWork.length, known()]).toEqual([0, 400]);
  for (const [caller, done] of [
    ["alice", 300],
    ["bob", 1],
  ] as const) {
    const { totalSize } = await clientOf(caller).listTasks({ status: TaskState.COMPLETED });
    expect(totalSize).toBe(done);
  }
});

it("tasks that this process has created wait for nothing beside those that an earlier one has left behind", async () => {
  const clock = createFakeClock();
  const memory = createMemoryTaskStore();
  const atWork: (() => void)[] = [];
  const agent: AgentDefinition = defineAgent({
    card: { name: "Durable" },
    durable: true,
    async *execute(task) {
      if (task.text === "sleep") await task.sleep(24 * 3_600_000);
      await task.step("work", () => new Promise<void>((end) => atWork.push(end)));
    },
  });
  const weighed = new Set<string>();
  const start = async (process: string, maxActiveBytes: number) => {
    const store = createMortalStore(memory);
    const weigh: typeof store.weigh = (owner, taskId) => {
      weighed.add(taskId);
      return store.weigh(owner, taskId);
    };
    const limits = { maxActiveBytes, unloadAfterMs: 20_000 };
    let ids = 0;
    const randomId = () => `${process}-${++ids}`;
    return {
      ...(await createEngineHarness({ agent, clock, store: { ...store, weigh }, limits, randomId })),
      kill: store.kill,
    };
  };
  const before = await start("one", 2 ** 30);
  for (let at = 0; at < 200; at += 1) await before.clientFrom("192.0.2.1").sendMessage(detached(large));
  await clock.settle();
  before.kill();
  atWork.length = 0;

  const { clientFrom } = await start("two", 8 * 2 ** 20);
  const created: string[] = [];
  for (let at = 0; at < 100; at += 1) {
    created.push((await sendTask(clientFrom("192.0.2.2"), detached("sleep"))).id);
  }
  await clock.advance(25_000); // they have left memory
  for (let ended = 0; ended < 200; ended += 1) {
    atWork.shift()?.();
    await clock.settle();
  }
  expect(atWork).toEqual([]);
  expect(created.filter((id) => weighed.has(id))).toEqual([]);
});

it("callers without credentials each have their share of the memory when their tasks wake, by their address", async () => {
  const atWork: string[] = [];
  const clock = createFakeClock();
  const at = clock.now() + 3_600_000;
  const agent: AgentDefinition = defineAgent({
    card: { name: "Sleeper" },
    durable: true,
    async *execute(task) {
      yield task.working();
      await task.sleep(at - (await task.now()));
      await task.step("work", () => {
        atWork.push(task.text.slice(0, 5));
        return new Promise<void>(() => {});
      });
    },
  });
  const limits = { maxActiveBytes: 1_200 * kibibyte, unloadAfterMs: 100 };
  const { clientFrom } = await createEngineHarness({ agent, clock, limits });
  const [alice, bob] = [clientFrom("192.0.2.1"), clientFrom("192.0.2.2")];
  for (let sent = 0; sent < 40; sent += 1) {
    await alice.sendMessage(detached(large));
    await clock.advance(1_000); // it leaves memory
  }
  await bob.sendMessage(detached("bob"));
  await clock.advance(at - clock.now());
  expect(atWork).toContain("bob");
  expect(atWork.length).toBeGreaterThan(5);
  expect(atWork.length).toBeLessThan(12);
});

it("tasks that were at work go on before older ones of other callers that sleep; each is taken up once", async () => {
  const clock = createFakeClock();
  const memory = createMemoryTaskStore();
  const runs: string[] = [];
  let work = (): Promise<void> => new Promise(() => {});
  const agent: AgentDefinition = defineAgent({
    card: { name: "Durable" },
    durable: true,
    async *execute(task) {
      runs.push(task.principal);
      yield task.working();
      if (task.text === "sleep") await task.sleep(24 * 3_600_000);
      await task.step("work", work);
      await task.sleep(24 * 3_600_000); // so it has a timer when the tasks with timers are taken up
    },
  });
  const start = async () => {
    const store = createMortalStore(memory);
    return { ...(await createEngineHarness({ agent, clock, store })), kill: store.kill };
  };
  const before = await start();
  for (let at = 0; at < 300; at += 1) await sendTask(before.clientOf("alice"), detached("sleep"));
  await sendTask(before.clientOf("bob"), detached("work"));
  await clock.settle();
  before.kill();
  runs.length = 0;
  work = async () => {};

  await start();
  await clock.settle();
  expect([runs.indexOf("bob"), runs.length]).toEqual([0, 301]);
});

it("callers take turns when their unfinished tasks are taken up, however many one has, and in however many tenants", async () => {
  const clock = createFakeClock();
  const memory = createMemoryTaskStore();
  const runs: string[] = [];
  const agent: AgentDefinition = defineAgent({
    card: { name: "Durable" },
    durable: true,
    async *execute(task) {
      runs.push(task.principal);
      yield task.working();
      await task.inbox.take();
    },
  });
  const start = async () => {
    const store = createMortalStore(memory);
    return { ...(await createEngineHarness({ agent, clock, store })), kill: store.kill };
  };
  const before = await start();
  const send = (caller: string, tenant: string) =>
    sendTask(before.clientOf(caller), { ...detached("wait"), tenant });
  for (let at = 0; at < 450; at += 1) await send("alice", `a${at}`);
  for (const caller of ["bob", "zoe"]) for (let at = 0; at < 150; at += 1) await send(caller, "z");
  await clock.settle();
  before.kill();
  runs.length = 0;

  await start();
  await clock.settle();
  expect(runs.length).toBe(750);
  // By the time of alice's third page, the others have had theirs; and what is read of journals has turns, too.
  for (const [caller, before] of [
    ["bob", 100],
    ["zoe", 200],
  ] as const) {
    expect(runs.indexOf(caller)).toBeLessThanOrEqual(before);
    expect(runs.lastIndexOf(caller)).toBeLessThan(550);
  }
});

it("a caller's tasks whose timers are due have its share of the memory by what they take there, others have theirs, and all go on in the end", async () => {
  const atWork: { readonly caller: string; readonly end: () => void }[] = [];
  const clock = createFakeClock();
  const at = clock.now() + 3_600_000;
  const agent: AgentDefinition = defineAgent({
    card: { name: "Sleeper" },
    durable: true,
    async *execute(task) {
      yield task.working();
      await task.sleep(at - (await task.now()));
      await task.step("work", () => new Promise<void>((end) => atWork.push({ caller: task.principal, end })));
    },
  });
  const limits = { maxActiveBytes: 4 * 2 ** 20, unloadAfterMs: 100 };
  const memory = createMemoryTaskStore();
  const claimed = new Set<string>();
  const claim: typeof memory.claim = (owner, taskId) => {
    claimed.add(`${owner.principal} ${taskId}`);
    return memory.claim(owner, taskId);
  };
  const { clientOf } = await createEngineHarness({ agent, clock, limits, store: { ...memory, claim } });
  /** Four bytes are stored of each value, and memory takes 128. */
  const send = async (caller: string, values: number) => {
    await sendTask(clientOf(caller), detached([json(Array.from({ length: values }, () => null))]));
    await clock.advance(1_000);
  };
  for (let sent = 0; sent < 20; sent += 1) await send("alice", 4_000);
  await send("carol", 30_000);
  await send("bob", 1);
  await clock.advance(at - clock.now());
  const loaded = [...claimed].filter((task) => task.startsWith("alice")).length;
  expect(loaded).toBeLessThanOrEqual(7); // 7/8 of 4 MiB
  expect(loaded).toBeGreaterThan(3);
  const callers = new Set(atWork.map(({ caller }) => caller));
  expect(callers).toEqual(new Set(["alice", "bob", "carol"])); // although carol's takes more than what is left
  for (let ended = 0; ended < 22; ended += 1) {
    atWork.shift()?.end();
    await clock.advance(1_000);
  }
  for (const [caller, tasks] of [
    ["alice", 20],
    ["bob", 1],
    ["carol", 1],
  ] as const) {
    const { totalSize } = await clientOf(caller).listTasks({ status: TaskState.COMPLETED });
    expect(totalSize).toBe(tasks);
  }
});

it("a small task whose timer is due goes on after some time beside others of its caller that have grown beyond their part", async () => {
  const clock = createFakeClock();
  const done: string[] = [];
  const agent: AgentDefinition = defineAgent({
    card: { name: "Parent" },
    durable: true,
    async *execute(task) {
      if (task.text.startsWith("sleep")) {
        await task.sleep(3_600_000);
        done.push(task.text);
        return;
      }
      for (let at = 0; at < 20; at += 1) yield task.artifact({ id: `a${at}`, text: large });
      await task.step("wait for the others", () => new Promise<void>(() => {}));
    },
  });
  const limits = { maxActiveBytes: 300 * kibibyte, unloadAfterMs: 30_000 };
  const { clientOf } = await createEngineHarness({ agent, clock, limits });
  await sendTask(clientOf("alice"), detached(`sleep${large}`)); // it comes before the small ones, and has no room
  await clock.advance(31_000);
  for (let at = 0; at < 3; at += 1) {
    await sendTask(clientOf("alice"), detached(`sleep ${at}${"x".repeat(20 * kibibyte)}`));
    await clock.advance(31_000); // it leaves memory
  }
  await sendTask(clientOf("alice"), detached("grow"));
  await clock.advance(3_600_000 - 4 * 31_000 + 51_000);
  expect(done.length).toBeLessThan(3);
  for (let seconds = 0; seconds < 3 * 31; seconds += 1) await clock.advance(1_000);
  expect(done.length).toBe(3);
});

it("a task whose timer waits for memory goes on when a call has loaded it", async () => {
  const atWork: string[] = [];
  const clock = createFakeClock();
  const at = clock.now() + 3_600_000;
  const agent: AgentDefinition = defineAgent({
    card: { name: "Sleeper" },
    durable: true,
    async *execute(task) {
      yield task.working();
      await task.sleep(at - (await task.now()));
      await task.step("work", () => {
        atWork.push(task.taskId);
        return new Promise<void>(() => {});
      });
    },
  });
  const limits = { maxActiveBytes: 2 ** 20, unloadAfterMs: 1_500 };
  const { clientFrom } = await createEngineHarness({ agent, clock, limits });
  const ids: string[] = [];
  for (let sent = 0; sent < 12; sent += 1) {
    ids.push((await sendTask(clientFrom("192.0.2.1"), detached(large))).id);
    await clock.advance(2_000);
  }
  await clock.advance(at - clock.now());
  const waiting = ids.filter((id) => !atWork.includes(id));
  expect(waiting.length).toBeGreaterThan(2);
  const [id = ""] = waiting.slice(-1);
  subscribe(clientFrom("192.0.2.2"), id); // of the same owner, with memory of its own
  await clock.advance(1_200);
  expect(atWork).toContain(id);
});

it("tasks that stay at work keep no unfinished tasks waiting while there is memory", async () => {
  const clock = createFakeClock();
  const memory = createMemoryTaskStore();
  const atWork: string[] = [];
  const agent: AgentDefinition = defineAgent({
    card: { name: "Durable" },
    durable: true,
    async *execute(task) {
      await task.step("work", () => {
        atWork.push(task.principal);
        return new Promise<void>(() => {});
      });
    },
  });
  const start = async () => {
    const store = createMortalStore(memory);
    return { ...(await createEngineHarness({ agent, clock, store })), kill: store.kill };
  };
  const before = await start();
  for (let at = 0; at < 12; at += 1) await sendTask(before.clientOf("alice"), detached(large));
  for (let at = 0; at < 40; at += 1) await sendTask(before.clientOf("bob"), detached("work"));
  await clock.settle();
  before.kill();
  atWork.length = 0;

  await start();
  await clock.settle();
  const count = (caller: string) => atWork.filter((each) => each === caller).length;
  expect([count("alice"), count("bob")]).toEqual([12, 40]);
});

it("all unfinished tasks of a caller are taken up, also when its first ones are large and at work for long", async () => {
  const clock = createFakeClock();
  const memory = createMemoryTaskStore();
  const atWork: (() => void)[] = [];
  const agent: AgentDefinition = defineAgent({
    card: { name: "Durable" },
    durable: true,
    async *execute(task) {
      await task.step("work", () => new Promise<void>((end) => atWork.push(end)));
    },
  });
  let ids = 10_000;
  const start = async (maxActiveBytes: number) => {
    const store = createMortalStore(memory);
    const limits = { maxActiveBytes, unloadAfterMs: 1e9 };
    const randomId = () => `id-${++ids}`;
    return {
      ...(await createEngineHarness({ agent, clock, store, limits, randomId })),
      kill: store.kill,
    };
  };
  const before = await start(2 ** 30);
  const words = (at: number) => (at < 14 ? "x".repeat(2_600 * kibibyte) : "work");
  for (let at = 0; at < 120; at += 1) await sendTask(before.clientOf("alice"), detached(words(at)));
  await clock.settle();
  before.kill();
  atWork.length = 0;

  const { clientOf } = await start(40_000 * kibibyte);
  await clock.settle();
  for (let ended = 0; ended < 120; ended += 1) {
    atWork.shift()?.();
    await clock.settle();
  }
  expect((await clientOf("alice").listTasks({ status: TaskState.COMPLETED })).totalSize).toBe(120);
});

describe("callers with one large task each", () => {
  const callers = Array.from({ length: 40 }, (_, at) => `caller-${at}`);

  async function restart(text: string) {
    const clock = createFakeClock();
    const memory = createMemoryTaskStore();
    const taken = new Set<string>();
    const inMemory = new Set<string>();
    let most = 0;
    const atWork: (() => void)[] = [];
    const agent: AgentDefinition = defineAgent({
      card: { name: "Durable" },
      durable: true,
      async *execute(task) {
        taken.add(task.taskId);
        inMemory.add(task.taskId);
        most = Math.max(most, inMemory.size);
        task.signal.addEventListener("abort", () => inMemory.delete(task.taskId));
        if (task.text.startsWith("sleep")) await task.sleep(24 * 3_600_000);
        await task.step("work", () => new Promise<void>((end) => atWork.push(end)));
        await task.sleep(24 * 3_600_000);
      },
    });
    const start = async (maxActiveBytes: number) => {
      const store = createMortalStore(memory);
      const harness = await createEngineHarness({ agent, clock, store, limits: { maxActiveBytes } });
      return { ...harness, kill: store.kill };
    };
    const before = await start(2 ** 30);
    for (const caller of callers) await sendTask(before.clientOf(caller), detached(`${text}${large}`));
    await clock.settle();
    before.kill();
    for (const each of [taken, inMemory]) each.clear();
    most = 0;
    atWork.length = 0;
    await start(600 * kibibyte);
    await clock.settle();
    return { clock, taken, atWork, most: () => most };
  }

  it("do not have all of them in memory after a restart, also when they stay at work; all go on in the end", async () => {
    const { clock, taken, atWork } = await restart("work");
    expect(taken.size).toBeGreaterThan(5);
    expect(taken.size).toBeLessThan(12);
    for (let minutes = 0; minutes < 10; minutes += 1) await clock.advance(60_000);
    expect(taken.size).toBeLessThan(13); // twice of what there is
    for (let ended = 0; ended < callers.length; ended += 1) {
      atWork.shift()?.();
      await clock.advance(1_000);
    }
    expect([taken.size, atWork.length]).toEqual([40, 0]);
  });

  it("have them taken up at once after a restart when they only sleep, a few at a time", async () => {
    const { taken, most } = await restart("sleep");
    expect(taken.size).toBe(40);
    expect(most()).toBeLessThan(13);
  });
});

it("a large task that waits for memory has it after some time, however many small ones of its caller come meanwhile", async () => {
  const clock = createFakeClock();
  const memory = createMemoryTaskStore();
  const atWork: string[] = [];
  let ids = 0;
  const agent: AgentDefinition = defineAgent({
    card: { name: "Durable" },
    durable: true,
    async *execute(task) {
      await task.step("work", () => {
        atWork.push(task.text.slice(0, 5));
        return task.text === "small" ? undefined : new Promise<void>(() => {});
      });
    },
  });
  const start = async (maxActiveBytes: number) => {
    const store = createMortalStore(memory);
    const randomId = () => `id-${++ids}`;
    const harness = await createEngineHarness({ agent, clock, store, limits: { maxActiveBytes }, randomId });
    return { ...harness, kill: store.kill };
  };
  const before = await start(2 ** 30);
  for (let at = 0; at < 2; at += 1) await sendTask(before.clientOf("alice"), detached(large.repeat(6)));
  await clock.settle();
  before.kill();
  atWork.length = 0;

  const { clientOf } = await start(1_024 * kibibyte);
  await clock.settle();
  const count = (what: string) => atWork.filter((each) => each === what).length;
  for (let seconds = 0; seconds < 32; seconds += 1) {
    if (seconds < 30) expect(count("xxxxx")).toBe(1);
    await sendTask(clientOf("alice"), detached("small"));
    await clock.advance(1_000);
  }
  expect([count("xxxxx"), count("small")]).toEqual([2, 32]);
});

it("callers take turns when the timers of large tasks are due, which are read a few at a time", async () => {
  const clock = createFakeClock();
  const at = clock.now() + 3_600_000;
  const agent: AgentDefinition = defineAgent({
    card: { name: "Sleeper" },
    durable: true,
    async *execute(task) {
      yield task.working();
      await task.sleep(at - (await task.now()));
    },
  });
  const memory = createMemoryTaskStore();
  const claimed: string[] = [];
  const claim: typeof memory.claim = (owner, taskId) => {
    claimed.push(owner.principal);
    return memory.claim(owner, taskId);
  };
  const { clientOf } = await createEngineHarness({ agent, clock, store: { ...memory, claim } });
  for (const caller of ["alice", "bob"]) {
    for (let sent = 0; sent < 60; sent += 1) await sendTask(clientOf(caller), detached(large));
  }
  await clock.advance(60_000); // they leave memory
  claimed.length = 0;
  await clock.advance(at - clock.now());
  expect(claimed).toHaveLength(120);
  expect(new Set(claimed.slice(40, 50))).toEqual(new Set(["alice", "bob"])); // 4 MiB of them have been read
});
