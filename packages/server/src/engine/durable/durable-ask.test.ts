import { json, text } from "@a2a-connect/core";
import { type Task, TaskState } from "@a2a-connect/proto";
import { createTurnCount, readStream, say, taskOf, wordsOf } from "@a2a-connect/testing";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { beginDurable, createDurableServers } from "../../../test-support/durable-servers.ts";
import { createHeldStore } from "../../../test-support/held-store.ts";
import { detached, endOf, sendTask, stateOf } from "../../../test-support/tasks.ts";
import type { Answer, Question } from "../../agent/question.ts";

const partsOf = (task: Pick<Task, "status">) =>
  task.status?.message?.parts.map(({ content }) => content.value);

describe("a question", () => {
  it("goes out as words for people and as data for programs", async () => {
    const question: Question = {
      text: "Which?",
      choices: ["A", "B"],
      details: { why: "they differ" },
      schema: { type: "string" },
    };
    const { process, id } = await beginDurable(async function* (task) {
      yield* task.ask(question);
    });
    const task = await process.client.getTask({ id });
    expect(task.status?.state).toBe(TaskState.INPUT_REQUIRED);
    const parts = task.status?.message?.parts.map(({ content }) => content.case);
    expect(parts).toEqual(["text", "data"]);
    expect(task.status?.message?.parts[1]).toMatchObject(
      json({ choices: ["A", "B"], schema: { type: "string" }, details: { why: "they differ" } }),
    );
  });

  for (const [what, question, misfits, fit, expected] of [
    [
      "choices",
      { text: "Which?", choices: ["Red", "Green"] },
      [
        ["blue", "Please answer with one of: Red, Green. Which?"],
        [`red${" ".repeat(65_536)}`, "The answer is too long: at most 65536 characters are read. Which?"],
      ],
      " gREEN ",
      { text: "Green", data: undefined },
    ],
    [
      "a schema, answered with data",
      {
        text: "How many?",
        schema: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
      },
      [
        ["many", "Please answer with data: a data part, or JSON as text. How many?"],
        [[json({ n: 1.5 })], /^The answer does not fit at "#\/n": .* How many\?$/],
        [
          `{"n": 1${" ".repeat(65_536)}}`,
          "The answer is too long: at most 65536 characters are read. How many?",
        ],
        [
          [json({ n: 1, others: Array(70_000).fill(0) })],
          "The answer is too long: at most 65536 characters are read. How many?",
        ],
        [
          [json({ n: 1, ["x".repeat(70_000)]: 0 })],
          "The answer is too long: at most 65536 characters are read. How many?",
        ],
      ],
      [text("as data:"), json({ n: 2 })],
      { text: "as data:", data: { n: 2 } },
    ],
    [
      "a schema, answered with JSON as text",
      {
        text: "?",
        schema: { type: "array", items: { type: ["number", "object"], additionalProperties: false } },
      },
      [
        // Each element is wrong, and the name is long: the sentence tells the first, and shows a part of the name.
        [JSON.stringify(Array(20_000).fill("")), /^The answer does not fit at "#\/0": .{1,200}$/],
        [JSON.stringify([{ ["y".repeat(30_000)]: 1 }]), /^The answer does not fit at ".{1,400}$/],
      ],
      "[1]",
      { text: "[1]", data: [1] },
    ],
    ["neither", { text: "?" }, [], "whatever", { text: "whatever", data: undefined }],
  ] as const) {
    it(`with ${what}, is asked again with a sentence until an answer fits, also by another process`, async () => {
      const answers: Answer[] = [];
      const { process, id, open } = await beginDurable(async function* (task) {
        answers.push(yield* task.ask(question as Question));
        yield* task.ask("More?");
      });
      let current = process;
      for (const [misfit, sentence] of misfits) {
        current.kill();
        current = await open();
        const again = await sendTask(current.client, say(misfit as string, { taskId: id }));
        expect(again.status?.state).toBe(TaskState.INPUT_REQUIRED);
        expect(partsOf(again)?.[0]).toEqual(
          typeof sentence === "string" ? sentence : expect.stringMatching(sentence),
        );
      }
      await current.client.sendMessage(say(fit as string, { taskId: id }));
      expect(answers.map((answer) => ({ text: answer.text, data: answer.data }))).toEqual([expected]);
    });
  }

  for (const [what, ask, state, timeoutMs, reason] of [
    ["input", "ask", TaskState.INPUT_REQUIRED, undefined, "input-timeout"],
    ["input, in a time of its own", "ask", TaskState.INPUT_REQUIRED, 1_100, "input-timeout"],
    ["credentials", "askForAuth", TaskState.AUTH_REQUIRED, undefined, "auth-timeout"],
    ["credentials, in a time of its own", "askForAuth", TaskState.AUTH_REQUIRED, 7_000, "auth-timeout"],
  ] as const) {
    it(`for ${what}, ends the task when nobody answers in time, also after a restart`, async () => {
      const { process, id, clock, open } = await beginDurable(async function* (task) {
        yield* task[ask]({ text: "?", ...(timeoutMs === undefined ? {} : { timeoutMs }) });
      });
      process.kill();
      const { client } = await open();
      await clock.advance((timeoutMs ?? 600_000) - 1);
      expect(await stateOf(client, id)).toBe(state);
      await clock.advance(1);
      const task = await client.getTask({ id });
      expect(endOf(task)).toEqual([TaskState.CANCELED, reason]);
      expect(partsOf(task)?.[0]).toContain(`${(timeoutMs ?? 600_000) / 1_000} seconds`);
    });
  }

  it("may wait for ever", async () => {
    const { process, id, clock } = await beginDurable(async function* (task) {
      yield* task.ask({ text: "?", timeoutMs: false });
    });
    await clock.advance(10 * 86_400_000);
    expect((await sendTask(process.client, say("yes", { taskId: id }))).status?.state).toBe(
      TaskState.COMPLETED,
    );
  });

  it("takes exactly one of two answers; the other is refused where messages are not queued", async () => {
    const answers: string[] = [];
    const { process, id, clock } = await beginDurable(
      async function* (task) {
        answers.push((yield* task.ask("?")).text);
        await task.sleep(10);
      },
      { agent: { whileWorking: "refuse" } },
    );
    const sent = await Promise.allSettled(
      ["one", "two"].map((words) => process.client.sendMessage(detached(words, { taskId: id }))),
    );
    expect(sent.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(sent[1]).toMatchObject({
      reason: { message: expect.stringContaining("takes no message until it asks") },
    });
    await clock.settle();
    expect(answers).toEqual(["one"]);
  });

  it("takes one of two answers to the same generation, and names the newer to the other", async () => {
    const { process, id } = await beginDurable(
      async function* (task) {
        yield* task.ask("?");
        yield* task.ask("??");
      },
      { protocolVersions: ["1.0", "1.1"] },
    );
    const headers = { "a2a-version": "1.1" };
    const { generation } = await process.client.getTask({ id }, { headers });
    const sent = await Promise.allSettled(
      ["one", "two"].map((words) =>
        process.client.sendMessage(
          {
            ...say(words, { taskId: id }),
            configuration: { returnImmediately: true, ifGenerationMatch: generation ?? 0n },
          },
          { headers },
        ),
      ),
    );
    expect(sent).toMatchObject([
      { status: "fulfilled" },
      { status: "rejected", reason: { code: Code.Aborted } },
    ]);
  });

  it("is answered when its executor is being dropped at that very moment", async () => {
    const answers: string[] = [];
    const store = createHeldStore();
    const { process, id, clock } = await beginDurable(
      async function* (task) {
        answers.push((yield* task.ask("?")).text);
      },
      { store },
    );
    await clock.advance(29_999);
    store.hold();
    const sent = process.client.sendMessage(say("yes", { taskId: id }));
    await clock.advance(1);
    store.release();
    expect(taskOf(await sent).status?.state).toBe(TaskState.COMPLETED);
    expect(answers).toEqual(["yes"]);
  });
});

describe("a message to a durable task at work", () => {
  it("goes to its inbox, in order, and is the same in every run", async () => {
    const runs: string[][] = [];
    const words = ({ parts }: { parts: { content: { value?: unknown } }[] }) =>
      String(parts[0]?.content.value);
    const { process, id, clock, open } = await beginDurable(async function* (task) {
      yield task.working();
      const seen: string[] = [];
      runs.push(seen);
      seen.push(String(task.inbox.poll()));
      const [first, second] = await Promise.all([task.inbox.take(), task.inbox.take()]);
      seen.push(words(first), words(second));
      await task.sleep(60_000);
      const third = task.inbox.poll();
      seen.push(third === undefined ? "none" : words(third));
      seen.push(words(await task.inbox.take()));
    });
    const say1 = (message: string) => detached(message, { taskId: id });
    await Promise.all([process.client.sendMessage(say1("one")), process.client.sendMessage(say1("two"))]);
    await process.client.sendMessage(say1("three"));
    await clock.advance(31_000);
    process.kill();
    const next = await open();
    await clock.advance(30_000);
    const last = await sendTask(next.client, say("four", { taskId: id }));
    expect([last.status?.state, next.log]).toEqual([TaskState.COMPLETED, []]);
    expect(runs.at(-1)).toEqual(["undefined", "one", "two", "three", "four"]);
    for (const run of runs) expect(runs.at(-1)?.slice(0, run.length)).toEqual(run);
  });

  it("wakes a dropped executor", async () => {
    const { process, id, clock } = await beginDurable(async function* (task) {
      yield task.working();
      yield task.complete((await task.inbox.take()).parts);
    });
    await clock.advance(86_400_000);
    expect(partsOf(await sendTask(process.client, say("hello", { taskId: id })))).toEqual(["hello"]);
  });

  it("with an idempotency key is answered to a repeat as to the first: taken or never", async () => {
    const { process, id, clock, open } = await beginDurable(async function* (task) {
      yield task.working();
      await task.inbox.take();
      await task.sleep(60_000);
      task.inbox.poll();
    });
    const { client } = process;
    const requests = ["taken", "polled", "left"].map((words) => say(words, { taskId: id }));
    const withKey = (at: number) => ({ headers: { "idempotency-key": `0123456789abcdef-${at}` } });
    for (const [at, request] of requests.entries()) {
      await client.sendMessage({ ...request, configuration: { returnImmediately: true } }, withKey(at));
    }
    process.kill();
    const next = await open();
    const answersOf = (process: { readonly client: typeof client }) =>
      Promise.all(
        requests.map((request, at) =>
          process.client.sendMessage(request, withKey(at)).then(
            (answer) => taskOf(answer).status?.state,
            (error: unknown) => String(error),
          ),
        ),
      );
    const waiting = answersOf(next); // repeats that watch the task to its end
    await clock.advance(60_000);
    const left = expect.stringContaining("before it read this message");
    const expected = [TaskState.COMPLETED, TaskState.COMPLETED, left];
    expect(await waiting).toEqual(expected);
    expect(await answersOf(next)).toEqual(expected);
    expect(await answersOf(await open())).toEqual(expected);
  });

  it("that is not taken before the end is refused then, to a blocking sender and on a stream", async () => {
    const { process, id, clock } = await beginDurable(async function* (task) {
      yield task.working();
      await task.sleep(5_000);
      await task.inbox.take();
      yield task.append("a", "one");
    });
    const taken = process.client.sendMessage(say("taken", { taskId: id }));
    await clock.settle();
    const blocking = process.client.sendMessage(say("left", { taskId: id }));
    const stream = readStream(() => process.client.sendStreamingMessage(say("left", { taskId: id })));
    const refusals = [blocking, stream.ended].map((sent) =>
      expect(sent).rejects.toMatchObject({
        message: expect.stringContaining("before it read this message"),
      }),
    );
    await clock.advance(5_000);
    await Promise.all(refusals);
    expect(taskOf(await taken).status?.state).toBe(TaskState.COMPLETED);
    expect(wordsOf(stream.events)).toEqual(["task working", "artifact a"]);
  });
});

it("answers to many tasks that come at once are checked one in a slice of long work, with turns for other calls in between", async () => {
  const checks = createTurnCount();
  const turns: number[] = [];
  let turn = 0;
  let isAsked = false;
  const schema = {
    get type() {
      if (isAsked) {
        checks.count();
        turns.push(turn);
        for (const until = performance.now() + 20; performance.now() < until; );
      }
      return "number";
    },
  };
  const { open } = createDurableServers(async function* (task) {
    yield* task.ask({ text: "How many?", schema });
  });
  const { client } = await open();
  const ids: string[] = [];
  for (let task = 0; task < 20; task++) ids.push((await sendTask(client)).id);
  isAsked = true;
  const countTurns = () => {
    turn += 1;
    if (isAsked) setImmediate(countTurns);
  };
  countTurns();
  await Promise.all(ids.map((taskId) => sendTask(client, say("1", { taskId }))));
  isAsked = false;
  expect([checks.total, checks.mostInATurn]).toEqual([20, 1]);
  const apart = turns.slice(1).map((at, check) => at - (turns[check] ?? 0));
  expect(apart.filter((between) => between >= 4).length).toBeGreaterThan(15); // a turn may be long on a busy machine
});

describe("a question whose answers do not fit", () => {
  it.each([
    ["five times by default", undefined, 5],
    ["as often as the agent wants", 1, 1],
    ["not at all", 0, 0],
  ] as const)(
    "is repeated %s, and then the task is CANCELED, also after a restart",
    async (_, given, repeats) => {
      const maxRepeats = given === undefined ? {} : { maxRepeats: given };
      const { process, id, open } = await beginDurable(async function* (task) {
        yield* task.ask({ text: "Which?", choices: ["A"], ...maxRepeats });
      });
      let current = process;
      for (let repeat = 0; repeat < repeats; repeat++) {
        const again = await sendTask(current.client, say("Z", { taskId: id }));
        expect(again.status?.state).toBe(TaskState.INPUT_REQUIRED);
        current.kill();
        current = await open();
      }
      const task = await sendTask(current.client, say("Z", { taskId: id }));
      expect(endOf(task)).toEqual([TaskState.CANCELED, "answer-invalid"]);
      expect(partsOf(task)?.[0]).toContain("Please answer with one of: A.");
    },
  );

  it("is a mistake of the agent when its limit is no number", async () => {
    const { process, id } = await beginDurable(async function* (task) {
      yield* task.ask({ text: "Which?", maxRepeats: Number.NaN });
    });
    expect((await process.client.getTask({ id })).status?.state).toBe(TaskState.FAILED);
  });
});
