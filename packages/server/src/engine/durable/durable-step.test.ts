import { text } from "@a2a-connect/core";
import { MessageSchema, Role, TaskSchema, TaskState } from "@a2a-connect/proto";
import { reasonOf, say } from "@a2a-connect/testing";
import { create, createRegistry, isMessage } from "@bufbuild/protobuf";
import { DurationSchema, file_google_protobuf_type, TypeSchema, ValueSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import {
  beginDurable,
  beginTask,
  createDurableServers,
  type DurableServers,
  type Process,
} from "../../../test-support/durable-servers.ts";
import { detached, sendTask } from "../../../test-support/tasks.ts";
import type { DurableTask, StepOptions } from "../../agent/durable-task.ts";
import { defaultEngineLimits } from "../engine-context.ts";
import { createJournalCodec } from "./journal-codec.ts";

class Point {
  readonly x = 1;
}

describe("a step's result", () => {
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  for (const [what, value] of [
    ["nothing", undefined],
    ["null", null],
    ["numbers that JSON has not", [-0, Number.NaN, Number.POSITIVE_INFINITY, 2n ** 70n]],
    ["dates and patterns", [new Date(7), /a/giu, new URL("https://example.com/")]],
    ["maps and sets", new Map([[new Set([1]), new Map([["a", undefined]])]])],
    ["bytes", [new Uint8Array([0, 255]), new Float64Array([0.5]), new Uint8Array([1]).buffer]],
    ["a list with holes", Object.assign(new Array(3), { 1: "one" })],
    ["an object without a prototype", Object.assign(Object.create(null), { a: 1 })],
    ["itself inside itself", cyclic],
    ["an error with a cause", new TypeError("no", { cause: new RangeError("why") })],
    ["an error with a code", Object.assign(new Error("no"), { code: "ENOENT" })],
    ["a message of A2A", create(MessageSchema, { role: Role.AGENT, parts: [text("hi")] })],
    ["a well-known message", create(DurationSchema, { seconds: 5n })],
    ["messages within values", { tasks: new Map([["t", create(TaskSchema, { id: "t" })]]) }],
  ] as const) {
    it(`may be ${what}, and is the same in the run that made it and in the next`, async () => {
      const seen: unknown[] = [];
      const servers = createDurableServers(async function* (task) {
        seen.push(await task.step("make", () => value as unknown));
        yield* task.ask("More?");
      });
      const { process, id } = await beginTask(servers);
      process.kill();
      const next = await servers.open();
      await next.client.sendMessage(say("yes", { taskId: id }));
      expect(seen).toHaveLength(2);
      for (const one of seen) expect(one).toEqual(value);
      expect(Object.is(seen[0], value)).toBe(Object.is(value, null) || value === undefined);
    });
  }

  it("may be a message of the agent's own types, and of no others", async () => {
    const type = create(TypeSchema, { name: "own" });
    const seen: unknown[] = [];
    const run = async (agent: { journalTypes?: ReturnType<typeof createRegistry> }) => {
      const servers = createDurableServers(
        async function* (task) {
          seen.push(await task.step("make", () => type).catch((error: unknown) => error));
          yield task.working("done");
        },
        { agent },
      );
      await beginTask(servers);
    };
    await run({ journalTypes: createRegistry(file_google_protobuf_type) });
    expect(isMessage(seen[0], TypeSchema)).toBe(true);
    await run({});
    expect(seen[1]).toMatchObject({
      name: "JournalError",
      message:
        'the result of step "make"#1 cannot be stored: the message type google.protobuf.Type is not in the agent\'s "journalTypes"',
    });
  });

  it("keeps messages deeper than protobuf's own limit", () => {
    let value = create(ValueSchema, { kind: { case: "nullValue", value: 0 } });
    for (let depth = 0; depth < 300; depth += 1) {
      value = create(ValueSchema, { kind: { case: "listValue", value: { values: [value] } } });
    }
    const { encode, decode } = createJournalCodec();
    const record = { op: "x#1", kind: "value", value } as const;
    expect(decode(encode(record))).toEqual(record);
  });

  for (const [what, value, complaint] of [
    ["a function", { list: [1, { run: () => 1 }] }, "Cannot stringify a function at .list[1].run"],
    ["an instance of a class", { at: new Map([["p", new Point()]]) }, /non-POJOs at \.at\.get\("p"\)/],
    ["a symbol", Symbol("s"), /Symbol/],
    ["a promise in a value", { later: Promise.resolve() }, /at \.later/],
    ["too large", "x".repeat(2_000), "it takes more than 1000 bytes"],
  ] as const) {
    it(`may not be ${what}: the step fails and says where, and is not run again`, async () => {
      let runs = 0;
      const errors: Error[] = [];
      const servers = createDurableServers(
        async function* (task) {
          const failed = task.step("make", () => {
            runs += 1;
            return value as unknown;
          });
          errors.push(
            await failed.then(
              () => expect.fail(),
              (error: Error) => error,
            ),
          );
          yield* task.ask("More?");
        },
        { limits: { ...defaultEngineLimits, maxStepBytes: 1_000 } },
      );
      const { process, id } = await beginTask(servers);
      process.kill();
      const next = await servers.open();
      await next.client.sendMessage(say("yes", { taskId: id }));
      expect(runs).toBe(1);
      expect(errors.map(({ name, message }) => [name, message])).toEqual([
        [
          "JournalError",
          expect.stringMatching(
            complaint instanceof RegExp ? complaint : new RegExp(complaint.replace(/[.[\]]/g, "\\$&")),
          ),
        ],
        ["JournalError", errors[0]?.message],
      ]);
    });
  }

  it("may have a name of 2,048 characters, and with a longer one it does not run", async () => {
    const [ran, words]: [number[], string[]] = [[], []];
    await beginDurable(async function* (task) {
      for (const length of [2_048, 2_049]) {
        const work = () => ran.push(length);
        await task
          .step("x".repeat(length), work)
          .catch(({ name, message }: Error) => words.push(name, message));
      }
      yield* task.ask("More?");
    });
    expect(ran).toEqual([2_048]);
    expect(words).toEqual([
      "JournalError",
      `the name of step "${"x".repeat(40)}…" has 2049 characters; at most 2048 are taken`,
    ]);
  });

  it("may not take more memory with those before it than all may have", async () => {
    const words: string[] = [];
    const { process, id } = await beginDurable(
      async function* (task) {
        const many = Array.from({ length: 400 }, () => ({})); // about 42,000 bytes of memory
        for (let at = 0; at < 12; at += 1) {
          await task.step("make", () => many).catch(({ message }: Error) => words.push(message));
        }
        yield* task.ask("More?");
      },
      { limits: { ...defaultEngineLimits, maxTaskBytes: 400_000 } },
    );
    const memory = "the journal of this task would take more than 400000 bytes of memory";
    expect(words).toEqual(Array(3).fill(memory));
    await process.client.cancelTask({ id });
  });

  it("may be an error that is too large: the step fails, and is not run again", async () => {
    let runs = 0;
    const seen: string[] = [];
    const servers = createDurableServers(
      async function* (task) {
        const work = () => {
          runs += 1;
          throw new Error("x".repeat(2_000));
        };
        await task.step("fail", work).catch((error: unknown) => seen.push(String(error)));
        yield* task.ask("More?");
      },
      { limits: { ...defaultEngineLimits, maxStepBytes: 1_000 } },
    );
    const { process, id } = await beginTask(servers);
    process.kill();
    const next = await servers.open();
    await next.client.sendMessage(say("yes", { taskId: id }));
    const large = 'JournalError: the result of step "fail"#1 cannot be stored: it takes more than 1000 bytes';
    expect([runs, seen]).toEqual([1, [large, large]]);
  });

  for (const [what, use] of [
    ["a step", (task: DurableTask, name: string) => task.step(name, () => undefined)],
    ["a failed step", (task: DurableTask, name: string) => task.step(name, () => Promise.reject(name))],
    [
      "a step to be repeated",
      (task: DurableTask, name: string) =>
        task.step(name, () => Promise.reject(name), { retries: 1, backoff: { initialMs: 1 } }),
    ],
  ] as const) {
    it(`of ${what} ends the task where the journal is full, also when its code catches the error`, async () => {
      const seen: unknown[] = [];
      const servers = createDurableServers(
        async function* (task) {
          await task.step("fill", () => "x".repeat(98_500));
          await use(task, "long".repeat(500)).catch((error: unknown) => seen.push(error));
          await task.step("small", () => undefined).catch((error: unknown) => seen.push(error));
          yield* task.ask("More?");
        },
        { limits: { ...defaultEngineLimits, maxTaskBytes: 100_000 } },
      );
      const { client, log } = await servers.open();
      const { id, status } = await sendTask(client);
      expect(status?.state).toBe(TaskState.FAILED);
      expect(log.map(({ error }) => String(error))).toEqual([
        "JournalError: the journal of this task would exceed 100000 bytes",
      ]);
      expect([seen, (await servers.journal(id)).length]).toEqual([[], 1]);
    });
  }

  it("is durable before the executor has it", async () => {
    const seen: string[] = [];
    const servers = createDurableServers(async function* (task) {
      await task.sleep(5);
      seen.push(await task.step("pay", () => "paid"));
      yield task.working("done");
    });
    // The creation is the first commit, the result the second, which is never written.
    const first = await servers.open({ commit: 2, written: false });
    const { id } = await sendTask(first.client, detached());
    await servers.clock.advance(10);
    expect([first.dead, seen, (await servers.journal(id)).map(({ kind }) => kind)]).toEqual([
      true,
      [],
      ["sleep"],
    ]);
    await servers.open();
    await servers.clock.settle();
    expect(seen).toEqual(["paid"]);
  });
});

describe("a step that fails", () => {
  /** A task with one step that fails `failures` times, and the times and numbers of its attempts. */
  function failing(failures: number, options: StepOptions) {
    const attempts: [number, number][] = [];
    const outcomes: unknown[] = [];
    const servers: DurableServers = createDurableServers(async function* (task) {
      const begun = task.now();
      const result = task.step(
        "try",
        ({ attempt }) => {
          attempts.push([attempt, servers.clock.now() - begun]);
          if (attempt <= failures) throw new SyntaxError(`attempt ${attempt}`);
          return attempt;
        },
        options,
      );
      outcomes.push(await result.catch((error: Error) => `${error.name}: ${error.message}`));
      yield* task.ask("More?");
    });
    return { servers, attempts, outcomes };
  }

  it("throws the same when the executor runs again, and is not run again", async () => {
    const { servers, attempts, outcomes } = failing(9, {});
    const { process, id } = await beginTask(servers);
    process.kill();
    await (await servers.open()).client.sendMessage(say("yes", { taskId: id }));
    expect(outcomes).toEqual(["SyntaxError: attempt 1", "SyntaxError: attempt 1"]);
    expect(attempts).toEqual([[1, 0]]);
  });

  it("is tried again after longer and longer waits, up to a maximum", async () => {
    const { servers, attempts, outcomes } = failing(5, {
      retries: 4,
      backoff: { initialMs: 400, factor: 3, maxMs: 5_000 },
    });
    await beginTask(servers);
    await servers.clock.advance(60_000);
    expect(attempts).toEqual([
      [1, 0],
      [2, 400],
      [3, 1_600],
      [4, 5_200],
      [5, 10_200],
    ]);
    expect(outcomes).toEqual(["SyntaxError: attempt 5"]);
  });

  for (const [how, pass] of [
    ["dropped from memory", async (_servers: DurableServers, process: Process) => process],
    [
      "run by another process",
      async (servers: DurableServers, process: Process) => {
        process.kill();
        return servers.open();
      },
    ],
  ] as const) {
    it(`keeps its count and its wait when its task is ${how} meanwhile`, async () => {
      const { servers, attempts, outcomes } = failing(2, {
        retries: 3,
        backoff: { initialMs: 100_000, maxMs: 200_000 },
      });
      const { process } = await beginTask(servers);
      await servers.clock.advance(40_000);
      const next = await pass(servers, process);
      await servers.clock.advance(250_000);
      await pass(servers, next);
      await servers.clock.advance(20_000);
      expect(attempts).toEqual([
        [1, 0],
        [2, 100_000],
        [3, 300_000],
      ]);
      expect(outcomes.at(-1)).toBe(3);
    });
  }

  it("has failed when an attempt takes too long, and is told so", async () => {
    const told: unknown[] = [];
    const servers = createDurableServers(async function* (task) {
      const slow = task.step(
        "slow",
        ({ signal }) =>
          new Promise<string>(() => signal.addEventListener("abort", () => told.push(signal.reason))),
        { timeoutMs: 500, retries: 1, backoff: { initialMs: 1_000 } },
      );
      yield task.fail(await slow.catch((error: Error) => `${error.name}: ${error.message}`));
    });
    const { process, id } = await beginTask(servers);
    await servers.clock.advance(2_000);
    expect(told).toHaveLength(2);
    const { status } = await process.client.getTask({ id });
    expect(status?.message?.parts[0]?.content.value).toBe("TimeoutError: the step took longer than 500 ms");
  });
});

describe("steps at the same time", () => {
  /** Runs a body in two processes with a question in between, and gives what each has seen. */
  async function twice<Seen>(
    body: (task: DurableTask, pause: (ms: number) => Promise<void>) => Promise<Seen>,
  ) {
    const seen: Seen[] = [];
    const servers: DurableServers = createDurableServers(async function* (task) {
      const pause = (ms: number) =>
        new Promise<void>((resolve) => {
          servers.clock.schedule(ms, resolve);
        });
      seen.push(await body(task, pause));
      yield* task.ask("More?");
    });
    const { process, id } = await beginTask(servers);
    await servers.clock.advance(20_000);
    process.kill();
    const next = await servers.open();
    const done = await sendTask(next.client, say("yes", { taskId: id }));
    expect([done.status?.state, reasonOf(done), seen.length]).toEqual([TaskState.COMPLETED, undefined, 2]);
    return { seen, journal: await servers.journal(id) };
  }

  it("give each their own result, also under one name", async () => {
    const { seen } = await twice((task, pause) =>
      Promise.all([30, 10, 20].map((ms) => task.step("wait", () => pause(ms).then(() => ms)))),
    );
    expect(seen).toEqual([
      [30, 10, 20],
      [30, 10, 20],
    ]);
  });

  it("keep what belongs together in a pool whose workers overtake one another", async () => {
    const { seen } = await twice(async (task, pause) => {
      const left = [
        [0, 50],
        [1, 5],
        [2, 5],
        [3, 1],
        [4, 30],
      ] as [number, number][];
      const results: string[] = [];
      const work = async () => {
        for (let item = left.shift(); item !== undefined; item = left.shift()) {
          const [index, ms] = item;
          const fetched = await task.step("fetch", () => pause(ms).then(() => `item ${index}`));
          results[index] =
            `${index}: ${await task.step("parse", () => pause(ms).then(() => fetched))} ${task.random()}`;
        }
      };
      await Promise.all([work(), work()]);
      return results;
    });
    expect(seen[0]?.map((result) => result.slice(0, 9))).toEqual(
      [0, 1, 2, 3, 4].map((n) => `${n}: item ${n}`),
    );
    expect(seen[1]).toEqual(seen[0]);
  });

  for (const [stepMs, winner] of [
    [900, "step"],
    [9_000, "sleep"],
  ] as const) {
    it(`have the same winner when they are raced again: the ${winner}`, async () => {
      const { seen } = await twice(async (task, pause) => {
        const slow = task.step("slow", () => pause(stepMs).then(() => "step"));
        const first = await Promise.race([slow, task.sleep(1_500).then(() => "sleep")]);
        await slow;
        return first;
      });
      expect(seen).toEqual([winner, winner]);
    });
  }

  it("do not begin a second time before everything that was done is recognised", async () => {
    const calls: string[] = [];
    let name = "old";
    const servers = createDurableServers(async function* (task) {
      await task.step(name, () => calls.push(name));
      await task.sleep(60_000);
      yield task.working("on");
    });
    const { process, id } = await beginTask(servers);
    process.kill();
    name = "renamed";
    const next = await servers.open();
    await servers.clock.advance(60_000);
    const task = await next.client.getTask({ id });
    expect([task.status?.state, reasonOf(task), calls]).toEqual([
      TaskState.FAILED,
      "journal-diverged",
      ["old"],
    ]);
    expect(next.log.map(({ message }) => message)).toEqual([
      'an executor diverged: nothing asked for step "old"#1',
    ]);
  });
});
