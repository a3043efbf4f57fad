import { setImmediate as nextTurn } from "node:timers/promises";
import { findA2AError, json, text } from "@a2a-connect/core";
import { SendMessageRequestSchema, TaskState } from "@a2a-connect/proto";
import {
  createEngineHarness,
  createFakeClock,
  type EngineHarness,
  readStream,
  say,
  taskOf,
} from "@a2a-connect/testing";
import { create } from "@bufbuild/protobuf";
import { Code, type ConnectError } from "@connectrpc/connect";
import { describe, expect, it, vi } from "vitest";
import { startScripted } from "../../../test-support/agents.ts";
import { collectGarbage } from "../../../test-support/collect-garbage.ts";
import { createHeldStore } from "../../../test-support/held-store.ts";
import { createMortalStore } from "../../../test-support/mortal-store.ts";
import { detached, sendTask } from "../../../test-support/tasks.ts";
import { defineAgent } from "../../agent/agent-definition.ts";
import { createMemoryTaskStore } from "../../store/memory-task-store.ts";

const kibibyte = 1_024;

/** An agent whose tasks are at work until a promise resolves. */
const holder = (end: Promise<void>) =>
  defineAgent({
    card: { name: "Holder" },
    async *execute(turn) {
      yield turn.working();
      await end;
    },
  });

describe("a message of many values", () => {
  const zeros = json(Array.from({ length: 1_000 }, () => 0)); // 2 KB in a request
  const detached = (words: string) => {
    const { message } = say([text(words), zeros]);
    return { message, configuration: { returnImmediately: true } };
  };

  for (const durable of [false, true]) {
    it(`is refused while others ${durable ? "of durable tasks " : ""}take the room, and no task is created; then it is taken`, async () => {
      const gate = Promise.withResolvers<void>();
      const { client } = await createEngineHarness({
        agent: {
          card: { name: "Slow" },
          ...(durable
            ? {
                durable,
                async *execute(task) {
                  yield task.working();
                  await gate.promise;
                },
              }
            : {
                async *execute(turn) {
                  yield turn.working();
                  await gate.promise;
                },
              }),
        },
        limits: { maxActiveBytes: 600 * kibibyte, maxShare: 1 },
      });
      const ids: string[] = [];
      const refused = async (): Promise<void> => {
        for (;;) ids.push(taskOf(await client.sendMessage(detached("hold"))).id);
      };
      await expect(refused()).rejects.toMatchObject({ code: Code.ResourceExhausted });
      expect(ids.length).toBeGreaterThan(1);
      expect(ids.length).toBeLessThan(6);
      expect((await client.listTasks({})).totalSize).toBe(ids.length);
      await client.sendMessage({ ...detached("small"), message: say("small").message });
      gate.resolve();
      for (const id of ids) {
        await expect.poll(async () => (await client.getTask({ id })).status?.state).toBe(TaskState.COMPLETED);
      }
      await client.sendMessage(detached("again"));
    });
  }
});

it("thousands of messages of many values are counted at once, and do not wait for that", async () => {
  const gate = Promise.withResolvers<void>();
  const { client } = await createEngineHarness({
    agent: holder(gate.promise),
    limits: { maxActiveBytes: 4_096 * kibibyte, maxShare: 1 },
  });
  const { message } = say([json(Array.from({ length: 5_000 }, () => [])), text("hold")]); // 15 KB in a request
  let refused = 0;
  for (let sent = 0; sent < 100; sent += 1) {
    const answer = client.sendMessage({ message, configuration: { returnImmediately: true } });
    answer.catch(() => refused++);
  }
  for (let turns = 0; turns < 3; turns += 1) await nextTurn();
  expect(refused).toBeGreaterThan(80);
  gate.resolve();
});

describe("small tasks", () => {
  const tenth = "x".repeat(10 * kibibyte);
  const sendUntilRefused = async (send: () => Promise<unknown>): Promise<number> => {
    for (let taken = 0; taken < 1_000; taken += 1) {
      const [sent] = await Promise.allSettled([send()]);
      if (sent.status === "fulfilled") continue;
      expect(sent.reason).toMatchObject({ code: Code.ResourceExhausted });
      return taken;
    }
    return 1_000;
  };
  const limits = { maxActiveBytes: 800 * kibibyte };

  it.each([
    ["at work", 1_000],
    ["waiting for a slot", 1],
  ])("are bounded, too, though there are slots: %s", async (_, maxRunning) => {
    const gate = Promise.withResolvers<void>();
    const agent = holder(gate.promise);
    const { client } = await createEngineHarness({ agent, limits: { ...limits, maxRunning } });
    const taken = await sendUntilRefused(() => client.sendMessage(detached(tenth)));
    expect(taken).toBeGreaterThan(30); // 18 KiB of 7/8 of the memory, and an eighth more
    expect(taken).toBeLessThan(60);
    gate.resolve();
  });

  it("are bounded where their messages have thousands of texts of no length", async () => {
    const gate = Promise.withResolvers<void>();
    const { client } = await createEngineHarness({ agent: holder(gate.promise), limits });
    const many = Array.from({ length: 1_000 }, () => "");
    for (const lists of [{ referenceTaskIds: many }, { extensions: many }]) {
      const message = { ...say("hold").message, ...lists };
      const taken = await sendUntilRefused(() => client.sendMessage({ ...detached(""), message }));
      expect(taken).toBeLessThan(25);
    }
    gate.resolve();
  });

  it("are bounded where their answers wait for a slot; another caller's new tasks may wait all the same", async () => {
    const gate = Promise.withResolvers<void>();
    const { client, clientOf } = await createEngineHarness({
      agent: {
        card: { name: "Asker" },
        async *execute(turn) {
          if (turn.text === "ask") {
            yield turn.inputRequired("Go on?");
            return;
          }
          yield turn.working();
          await gate.promise;
        },
      },
      limits: { ...limits, maxRunning: 1, maxQueued: 2, maxShare: 7 / 8 },
    });
    const ids: string[] = [];
    for (let asked = 0; asked < 80; asked += 1) {
      ids.push(taskOf(await client.sendMessage({ ...say("ask") })).id);
    }
    const taken = await sendUntilRefused(() => {
      const message = { ...say(tenth).message, taskId: ids.pop() ?? "" };
      return client.sendMessage({ message, configuration: { returnImmediately: true } });
    });
    expect(taken).toBeGreaterThan(30);
    expect(taken).toBeLessThan(60);
    await clientOf("zoe").sendMessage(detached("hello"));
    gate.resolve();
  });
});

it("what comes with messages to a durable inbox counts while their calls wait, and then no longer", async () => {
  const gate = Promise.withResolvers<void>();
  const { client } = await createEngineHarness({
    agent: {
      card: { name: "Worker" },
      durable: true,
      async *execute(task) {
        yield task.working();
        await gate.promise;
      },
    },
    limits: { maxActiveBytes: 600 * kibibyte, maxShare: 1 },
  });
  const { id: taskId } = await sendTask(client, detached("begin"));
  const metadata = { note: "x".repeat(100 * kibibyte) };
  const hangUps: AbortController[] = [];
  const calls: Promise<unknown>[] = [];
  const refusals: unknown[] = [];
  for (let sent = 0; sent < 20; sent += 1) {
    const hangUp = new AbortController();
    hangUps.push(hangUp);
    const { message } = say("more", { taskId, messageId: `m-${sent}` });
    const call = client.sendMessage({ message, metadata }, { signal: hangUp.signal });
    calls.push(call.catch((error: unknown) => refusals.push(error)));
    await nextTurn();
  }
  expect(refusals.length).toBeGreaterThan(10);
  expect(findA2AError(refusals[0])?.reason).toBe("CAPACITY");
  for (const hangUp of hangUps) hangUp.abort();
  await Promise.all(calls);
  const { message } = say("last", { taskId });
  await sendTask(client, { message, metadata, configuration: { returnImmediately: true } });
  gate.resolve();
});

it("a message that its task refuses gives back its memory", async () => {
  const gate = Promise.withResolvers<void>();
  const { client } = await createEngineHarness({
    agent: {
      card: { name: "Worker" },
      durable: true,
      async *execute(task) {
        yield task.working();
        await gate.promise;
      },
    },
    limits: { maxActiveBytes: 600 * kibibyte, maxTaskBytes: 150 * kibibyte, maxShare: 1 },
  });
  const { id: taskId } = await sendTask(client, detached("begin"));
  const long = "x".repeat(100 * kibibyte);
  await sendTask(client, detached(long, { taskId }));
  for (let sent = 0; sent < 10; sent += 1) {
    const refused = await client.sendMessage(detached(long, { taskId })).catch((error: unknown) => error);
    expect(findA2AError(refused)?.reason).toBe("TASK_TOO_LARGE");
  }
  await sendTask(client, detached(long));
  gate.resolve();
});

it("a task that exists keeps nothing of the call that has created it", async () => {
  const { client, script } = await startScripted();
  const send = async () => {
    const request = create(SendMessageRequestSchema, detached());
    const answer = client.sendMessage(request);
    const { turn, yields } = await script.nextTurn();
    await yields(turn.working());
    await answer;
    return new WeakRef(request.message ?? request);
  };
  const sent = await send();
  expect(await collectGarbage(() => sent.deref() === undefined)).toBe(true);
});

describe("what comes with a message", () => {
  const long = "x".repeat(100 * kibibyte);
  const returnImmediately = true;
  const additions: readonly (readonly [string, object])[] = [
    ["metadata", { metadata: { note: long } }],
    [
      "output modes",
      { configuration: { returnImmediately, acceptedOutputModes: Array(100).fill("x".repeat(kibibyte)) } },
    ],
  ];
  for (const [name, addition] of additions) {
    it(`counts as the message does, while its task is at work: ${name}`, async () => {
      const gate = Promise.withResolvers<void>();
      const { client } = await createEngineHarness({
        agent: holder(gate.promise),
        limits: { maxActiveBytes: 600 * kibibyte, maxShare: 1 },
      });
      let taken = 0;
      const all = async (): Promise<void> => {
        for (;;) {
          await client.sendMessage({ ...say("hold"), configuration: { returnImmediately }, ...addition });
          taken += 1;
        }
      };
      await expect(all()).rejects.toMatchObject({ code: Code.ResourceExhausted });
      expect(taken).toBeGreaterThan(1);
      expect(taken).toBeLessThan(7);
      gate.resolve();
    });
  }
});

describe("messages to a task that waits to be read", () => {
  for (const where of ["content", "metadata"])
    it(`count meanwhile: ${where}`, async () => {
      const ender = defineAgent({
        card: { name: "Ender" },
        async *execute(turn) {
          yield turn.complete();
        },
      });
      const limits = { maxActiveBytes: 1_024 * kibibyte, maxShare: 1 };
      const { client } = await createEngineHarness({ agent: ender, limits });
      const { id } = taskOf(await client.sendMessage(say("begin")));
      const long = "x".repeat(100 * kibibyte);
      const request =
        where === "content"
          ? say([text(long)], { taskId: id })
          : { ...say("x", { taskId: id }), metadata: { note: long } };
      const codeOf = async () => {
        const [sent] = await Promise.allSettled([client.sendMessage(request)]);
        return sent.status === "rejected" ? sent.reason.code : undefined;
      };
      const codes = await Promise.all(Array.from({ length: 20 }, codeOf));
      const refused = codes.filter((code) => code === Code.ResourceExhausted);
      expect(refused.length).toBeGreaterThan(5);
      expect(refused.length).toBeLessThan(18);
      expect(await codeOf()).toBe(codes.find((code) => code !== Code.ResourceExhausted)); // it is free again
    });
});

it("the metadata of cancels counts while their calls wait for the end of the task, and then no longer", async () => {
  const limits = { maxActiveBytes: 600 * kibibyte, maxShare: 1 };
  const { client, clock, startTask } = await startScripted({}, { limits });
  const codeOf = async (id: string) => {
    const metadata = { note: "x".repeat(100 * kibibyte) };
    const [cancel] = await Promise.allSettled([client.cancelTask({ id, metadata })]);
    return cancel.status === "rejected" ? cancel.reason.code : undefined;
  };
  const tasks: Awaited<ReturnType<typeof startTask>>[] = [];
  for (let begun = 0; begun < 10; begun += 1) tasks.push(await startTask());
  const cancels = Promise.all(tasks.map(({ id }) => codeOf(id)));
  await clock.settle();
  for (const { turn, returns } of tasks) if (turn.signal.aborted) returns();
  const refused = tasks.filter(({ turn }) => !turn.signal.aborted);
  expect(refused.length).toBeGreaterThan(3);
  expect(refused.length).toBeLessThan(7);
  expect((await cancels).filter((code) => code === Code.ResourceExhausted).length).toBe(refused.length);
  for (const { id, returns } of refused) {
    const again = codeOf(id);
    await clock.settle();
    returns();
    expect(await again).toBe(undefined);
  }
});

describe("messages with idempotency keys count while their calls wait for the store", () => {
  const long = say("x".repeat(100 * kibibyte));

  it.each([
    ["has looked for the key", "findKey", false],
    ["has a direct Message", "putReply", false],
    ["has read a direct Message for a repeat", "findReply", true],
  ] as const)("until it %s, and then no longer", async (_, method, isRepeat) => {
    const store = createMemoryTaskStore();
    let until: Promise<void> | undefined;
    const holdBack = <Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) => {
      return async (...args: Args): Promise<Result> => {
        await until;
        return work(...args);
      };
    };
    const { client, clock } = await createEngineHarness({
      agent: {
        card: { name: "Replier" },
        *execute(turn) {
          yield turn.reply("done");
        },
      },
      store: { ...store, [method]: holdBack<never[], unknown>(store[method]) },
      limits: { maxActiveBytes: 1_024 * kibibyte, maxShare: 1 },
    });
    const send = (at: number) =>
      client.sendMessage(long, { headers: { "idempotency-key": `0123456789abcdef-${at}` } });
    if (isRepeat) for (let at = 0; at < 20; at += 1) await send(at);
    const gate = Promise.withResolvers<void>();
    until = gate.promise;
    let refused = 0;
    const sent: Promise<unknown>[] = [];
    for (let at = 0; at < 20; at += 1) {
      sent.push(send(at).catch(({ code }: ConnectError) => code === Code.ResourceExhausted && refused++));
      await clock.settle();
    }
    expect(refused).toBeGreaterThan(9);
    expect(refused).toBeLessThan(12);
    gate.resolve();
    await Promise.all(sent);
    const { payload } = await client.sendMessage(say("x".repeat(900 * kibibyte))); // beside what is left it would have no room
    expect(payload.case).toBe("message");
  });
});

it("push configs count while they wait to be stored, and then no longer", async () => {
  const store = createMemoryTaskStore();
  const gate = Promise.withResolvers<void>();
  const putPushConfig: typeof store.putPushConfig = async (...args) => {
    await gate.promise;
    return store.putPushConfig(...args);
  };
  const { client, clock } = await createEngineHarness({
    agent: holder(Promise.resolve()),
    store: { ...store, putPushConfig },
    push: { fetch: async () => new Response(), maxConfigsPerTask: 200 },
    limits: { maxActiveBytes: 1_024 * kibibyte, maxShare: 1 },
  });
  const { id: taskId } = await sendTask(client);
  const token = "t".repeat(15 * kibibyte);
  const create = () => client.createTaskPushNotificationConfig({ taskId, url: "https://a.example/", token });
  let refused = 0;
  const sent = Array.from({ length: 100 }, () =>
    create().catch(({ code }: ConnectError) => code === Code.ResourceExhausted && refused++),
  );
  await clock.settle();
  expect(refused).toBeGreaterThan(20);
  expect(refused).toBeLessThan(40);
  gate.resolve();
  await Promise.all(sent);
  expect((await create()).taskId).toBe(taskId);
});

it("messages that their task refuses count until its refusal is durable, and then no longer", async () => {
  const store = createHeldStore();
  const limits = { maxActiveBytes: 2_048 * kibibyte, maxTaskBytes: 150 * kibibyte, maxShare: 1 };
  const { client, clock, startTask } = await startScripted({}, { store, limits });
  const { id: taskId, turn, yields } = await startTask();
  store.hold();
  await yields(turn.inputRequired("Which?"));
  const reasons: unknown[] = [];
  const large = say("x".repeat(200 * kibibyte), { taskId });
  const send = () =>
    client.sendMessage(large).catch((error: unknown) => reasons.push(findA2AError(error)?.reason));
  const sent: Promise<unknown>[] = [];
  for (let at = 0; at < 20; at += 1) {
    sent.push(send());
    await clock.settle();
  }
  expect(reasons).toEqual(Array(reasons.length).fill("CAPACITY"));
  expect(reasons.length).toBeGreaterThan(9);
  const left = 20 - reasons.splice(0).length;
  expect(left).toBeGreaterThan(7);
  store.release();
  await Promise.all(sent);
  await send();
  expect(reasons).toEqual(Array(left + 1).fill("TASK_TOO_LARGE"));
});

it("repeats of an idempotency key count while they wait for the first, and then no longer", async () => {
  const gate = Promise.withResolvers<void>();
  const { client } = await createEngineHarness({
    agent: defineAgent({
      card: { name: "Replier" },
      async *execute(turn) {
        await gate.promise;
        yield turn.reply("done");
      },
    }),
    limits: { maxActiveBytes: 1_024 * kibibyte, maxShare: 1 },
  });
  const message = say("x".repeat(100 * kibibyte));
  const send = () => client.sendMessage(message, { headers: { "idempotency-key": "0123456789abcdef" } });
  const codes: (Code | undefined)[] = [];
  const sent = Array.from({ length: 20 }, () =>
    send().then(
      () => codes.push(undefined),
      ({ code }: ConnectError) => codes.push(code),
    ),
  );
  await expect.poll(() => codes.length).toBeGreaterThan(5);
  gate.resolve();
  await Promise.all(sent);
  const refused = codes.filter((code) => code === Code.ResourceExhausted);
  expect(refused.length).toBeLessThan(18);
  expect(codes.filter((code) => code === undefined).length).toBe(20 - refused.length);
  expect((await send()).payload.case).toBe("message");
});

it("short repeats of an idempotency key count as calls while they wait for the first", async () => {
  const gate = Promise.withResolvers<void>();
  const { client } = await createEngineHarness({
    agent: defineAgent({
      card: { name: "Replier" },
      async *execute(turn) {
        await gate.promise;
        yield turn.reply("done");
      },
    }),
    limits: { maxActiveBytes: 600 * kibibyte, maxShare: 1 },
  });
  const headers = { "idempotency-key": "0123456789abcdef" };
  const sent = Array.from({ length: 100 }, () => client.sendMessage(say("hi"), { headers }));
  const refused: unknown[] = [];
  for (const call of sent) call.catch((error: unknown) => refused.push(findA2AError(error)?.reason));
  await expect.poll(() => refused.length).toBeGreaterThan(30);
  gate.resolve();
  await Promise.allSettled(sent);
  expect(new Set(refused)).toEqual(new Set(["CAPACITY"]));
  expect(refused.length).toBeLessThan(60);
});

it("repeats of an idempotency key count while they wait for the end of the task, and then no longer", async () => {
  const limits = { maxActiveBytes: 1_024 * kibibyte, maxShare: 1 };
  const { client, clock, script } = await startScripted({}, { limits });
  const message = say("x".repeat(100 * kibibyte));
  const send = () => client.sendMessage(message, { headers: { "idempotency-key": "0123456789abcdef" } });
  const first = send();
  const { turn, yields, returns } = await script.nextTurn();
  await yields(turn.working());
  await clock.settle();
  const repeats = Array.from({ length: 20 }, send);
  let refused = 0;
  for (const repeat of repeats) {
    repeat.catch(({ code }: ConnectError) => code === Code.ResourceExhausted && refused++);
  }
  await expect.poll(() => refused).toBeGreaterThan(9);
  expect(refused).toBeLessThan(18);
  returns();
  const { id } = taskOf(await first);
  const sent = await Promise.allSettled(repeats);
  const answers = sent.filter((each) => each.status === "fulfilled");
  expect(answers.map(({ value }) => taskOf(value).id)).toEqual(Array(20 - refused).fill(id));
  expect(taskOf(await send()).id).toBe(id);
});

describe("a task of many values in the store", () => {
  const zeros = json(Array.from({ length: 1_000 }, () => 0)); // 11 KB in the store, 128 KB in memory
  const asker = defineAgent({
    card: { name: "Asker" },
    async *execute(turn) {
      yield turn.inputRequired("More?");
    },
  });
  const limits = { maxActiveBytes: 400 * kibibyte, maxShare: 1 };

  async function createIdle() {
    const { client } = await createEngineHarness({ agent: asker, limits });
    const ids: string[] = [];
    for (let sent = 0; sent < 5; sent += 1) {
      ids.push(taskOf(await client.sendMessage({ message: say([text("begin"), zeros]).message })).id);
    }
    return { client, ids };
  }

  it("is not loaded for a reader while others take the room", async () => {
    const { client, ids } = await createIdle();
    const readers = ids.map((id) => readStream((signal) => client.subscribeToTask({ id }, { signal })));
    const refused = () => readers.filter(({ open }) => !open);
    await expect
      .poll(() => refused().length + readers.flatMap(({ events }) => events).length)
      .toBe(ids.length);
    expect(refused().length).toBeGreaterThan(1);
    expect(refused().length).toBeLessThan(ids.length);
    for (const { ended } of refused()) {
      await expect(ended).rejects.toMatchObject({ code: Code.ResourceExhausted });
    }
    for (const reader of readers) reader.hangUp();
    await Promise.allSettled(readers.map(({ ended }) => ended));
    for (const id of ids) expect((await client.cancelTask({ id })).id).toBe(id);
  });

  it("takes no further message while others take the room, and loses nothing", async () => {
    const { client, ids } = await createIdle();
    const [id = "", other = ""] = ids;
    const reader = readStream((signal) => client.subscribeToTask({ id: other }, { signal }));
    await expect.poll(() => reader.events.length).toBe(1);
    const answer = { ...say([text("more"), zeros, zeros]).message, taskId: id };
    await expect(client.sendMessage({ message: answer })).rejects.toMatchObject({
      code: Code.ResourceExhausted,
    });
    reader.hangUp();
    await Promise.allSettled([reader.ended]);
    expect(taskOf(await client.sendMessage({ message: answer })).history.length).toBe(3);
  });

  it.each([
    ["values", [json(Array.from({ length: 350 }, () => 0))]],
    ["parts", Array.from({ length: 350 }, () => text(""))],
  ])("takes messages until their %s weigh too much, read from the store or not", async (_, parts) => {
    const { client } = await createEngineHarness({ agent: asker, limits: { maxTaskBytes: 200 * kibibyte } });
    const { id } = taskOf(await client.sendMessage({ message: say([text("begin"), ...parts]).message }));
    const answer = () =>
      client.sendMessage({ message: { ...say([text("more"), ...parts]).message, taskId: id } });
    await answer();
    const reader = readStream((signal) => client.subscribeToTask({ id }, { signal })); // it stays in memory
    await answer();
    await answer();
    await expect(answer()).rejects.toMatchObject({ code: Code.ResourceExhausted });
    reader.hangUp();
    await Promise.allSettled([reader.ended]);
    await expect(answer()).rejects.toMatchObject({ code: Code.ResourceExhausted });
    expect((await client.getTask({ id })).status?.state).toBe(TaskState.INPUT_REQUIRED);
  });
});

describe("the calls that follow tasks", () => {
  const working = defineAgent({
    card: { name: "Worker" },
    async *execute(turn) {
      yield turn.working();
      await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
    },
  });

  it("are refused beyond their number, until one has ended; each of many is woken", async () => {
    const followers = 600;
    const { client } = await createEngineHarness({
      agent: working,
      limits: { maxFollowers: followers, maxShare: 1 },
    });
    const begun = await client.sendMessage({
      message: say("begin").message,
      configuration: { returnImmediately: true },
    });
    const { id } = taskOf(begun);
    const open = () => readStream((signal) => client.subscribeToTask({ id }, { signal }));
    const readers = Array.from({ length: followers }, open);
    await expect.poll(() => readers.every(({ events }) => events.length > 0)).toBe(true);
    await expect(open().ended).rejects.toMatchObject({ code: Code.ResourceExhausted });
    readers.pop()?.hangUp();
    await expect
      .poll(() => client.cancelTask({ id }).then(({ status }) => status?.state))
      .toBe(TaskState.CANCELED);
    await Promise.all(readers.map(({ ended }) => ended));
    expect(new Set(readers.map(({ events }) => events.length))).toEqual(new Set([2]));
  });
});

it("a reader of old events gets them one by one while other readers of its caller hold many", async () => {
  const store = createMemoryTaskStore();
  const { client } = await createEngineHarness({
    store,
    agent: defineAgent({
      card: { name: "Writer" },
      async *execute(turn) {
        for (let chunk = 0; chunk < 300; chunk += 1) {
          yield turn.append("book", text(`chunk ${chunk}`));
        }
      },
    }),
    limits: { maxTailBytes: 1, maxTotalTailBytes: 20 * kibibyte },
  });
  const { id } = taskOf(await client.sendMessage({ message: say("begin").message }));
  const pages = vi.spyOn(store, "events");
  const open = (after: number) => {
    const headers = { "last-event-id": `${after}` };
    return client.subscribeToTask({ id }, { headers })[Symbol.asyncIterator]();
  };
  const holding = open(0);
  await holding.next();
  const other = open(150);
  for (let read = 0; read < 3; read += 1) await other.next();
  expect(pages.mock.calls.map(([, , , limit]) => limit)).toEqual([100, 1, 1, 1]);
  while ((await holding.next()).done !== true);
  for (let read = 0; read < 8; read += 1) await other.next();
  expect(pages.mock.calls.at(-1)?.[3]).toBe(100);
});

it("the tasks that callers without credentials left to a restart take one caller's part of the places", async () => {
  const store = createMemoryTaskStore();
  const agent = defineAgent({
    card: { name: "Slow" },
    recovery: "restart",
    async *execute(turn) {
      yield turn.working();
      if (turn.text !== "short")
        await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
    },
  });
  const randomId = () => crypto.randomUUID();
  const before = await createEngineHarness({ agent, store, randomId, limits: { maxRunning: 16 } });
  for (let sent = 0; sent < 12; sent += 1) {
    await before.client.sendMessage({
      message: say("long").message,
      configuration: { returnImmediately: true },
    });
  }
  const { client } = await createEngineHarness({ agent, store, randomId, limits: { maxRunning: 8 } });
  const sent = await client.sendMessage({ message: say("short").message });
  expect(taskOf(sent).status?.state).toBe(TaskState.COMPLETED);
});

it("the message of WORKING takes memory until the next status", async () => {
  const limits = { maxActiveBytes: 1_024 * kibibyte, maxShare: 1 };
  const { startTask, client, script } = await startScripted({}, { limits });
  const { turn, yields } = await startTask();
  const send = (size: number) => client.sendMessage(say("x".repeat(size)));
  await yields(turn.working("x".repeat(800 * kibibyte)));
  await expect(send(400 * kibibyte)).rejects.toMatchObject({ code: Code.ResourceExhausted });
  await yields(turn.working("short"));
  const sent = send(400 * kibibyte);
  (await script.nextTurn()).returns();
  expect(taskOf(await sent).status?.state).toBe(TaskState.COMPLETED);
});

it.each([
  ["what came with the message of a durable task counts", 600 * kibibyte, 0],
  ["the values of a durable executor's results count", 0, 15], // of 400 values each, stored in 50 KB
])("%s again when its executor is loaded again", async (_, length, steps) => {
  const agent = defineAgent({
    card: { name: "Sleeper" },
    durable: true,
    whileWorking: "queue",
    async *execute(task) {
      yield task.working();
      for (let at = 0; at < steps; at += 1) {
        await task.step("read", () => Array.from({ length: 400 }, () => ({})));
      }
      await task.sleep(3_600_000);
    },
  });
  const limits = { maxActiveBytes: 1024 * kibibyte };
  const { client, clock } = await createEngineHarness({ agent, limits });
  const metadata = { text: "x".repeat(length) };
  const { id } = await sendTask(client, { ...detached("go"), metadata });
  await clock.settle();
  await clock.advance(31_000); // its executor has left memory
  const large = () => client.sendMessage(detached("y".repeat(500 * kibibyte)));
  const other = taskOf(await large()).id;
  await clock.settle();
  await client.cancelTask({ id: other });
  await clock.settle();
  await client.sendMessage(detached("wake", { taskId: id }));
  for (let turns = 0; turns < 100; turns += 1) await nextTurn(); // its journal is read in slices
  await expect(large()).rejects.toMatchObject({ code: Code.ResourceExhausted });
  await clock.advance(31_000);
  await large();
});

it("what came with the messages of a turn, and with those that wait for theirs, counts again after a restart", async () => {
  const kept = createMemoryTaskStore();
  const clock = createFakeClock();
  const agent = defineAgent({
    card: { name: "Worker" },
    recovery: "restart",
    whileWorking: "queue",
    async *execute(turn) {
      yield turn.working();
      await new Promise(() => {});
    },
  });
  const limits = { maxActiveBytes: 1024 * kibibyte };
  const start = async (process: string) => {
    const store = createMortalStore(kept);
    let ids = 0;
    const randomId = () => `${process}-${++ids}`;
    const { clientOf } = await createEngineHarness({ agent, clock, store, limits, randomId });
    return { client: clientOf("alice"), kill: store.kill };
  };
  const metadata = { text: "x".repeat(200 * kibibyte) };
  const fits = ({ client }: Pick<EngineHarness, "client">, of: number) =>
    client.sendMessage(detached("y".repeat(of * kibibyte)));
  const refused = { code: Code.ResourceExhausted };

  const before = await start("one");
  const { id } = await sendTask(before.client, { ...detached("go"), metadata });
  await before.client.sendMessage({ ...detached("more", { taskId: id }), metadata });
  await clock.settle();
  await expect(fits(before, 600)).rejects.toMatchObject(refused);
  before.kill();

  const after = await start("two");
  await clock.settle();
  await expect(fits(after, 600)).rejects.toMatchObject(refused);
  await fits(after, 400);
});
