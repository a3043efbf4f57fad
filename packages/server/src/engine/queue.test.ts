import { findA2AError } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import {
  createEngineHarness,
  type EngineHarnessOptions,
  readStream,
  reasonOf,
  say,
  taskOf,
  wordsOf,
} from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { startScripted } from "../../test-support/agents.ts";
import { createHeldStore } from "../../test-support/held-store.ts";
import { detached, sendTask, stateOf, subscribe } from "../../test-support/tasks.ts";
import { decodeEvent } from "./task-log.ts";

const now = { configuration: { returnImmediately: true } };

/** A scripted agent that takes messages while it works, with one task whose first turn has begun. */
async function begin(
  whileWorking: "queue" | "refuse" = "queue",
  options: Partial<EngineHarnessOptions> = {},
) {
  const store = createHeldStore();
  const { startTask, ...harness } = await startScripted({ whileWorking }, { store, ...options });
  const first = await startTask();
  const { id } = first;
  const send = (words: string, more: object = {}) =>
    harness.client.sendMessage({ ...say(words, { taskId: id }), ...more });
  return { ...harness, store, first, id, send };
}

describe("a message to a working turn", () => {
  it("is refused unless the agent says otherwise, and changes nothing", async () => {
    const { send, client, id } = await begin("refuse");
    await expect(send("two")).rejects.toMatchObject({
      message: expect.stringContaining("is at work"),
    });
    expect((await client.getTask({ id })).history).toHaveLength(1);
  });

  it("gets a turn of its own, in the order of arrival, with its details; the task completes with the last", async () => {
    const { send, script, first, clock, client, id } = await begin();
    const answers = [send("two", { metadata: { n: 2 } }), send("three", { metadata: { n: 3 } })];
    await clock.settle();
    first.returns();
    for (const [words, n, before] of [
      ["two", 2, 3],
      ["three", 3, 3],
    ] as const) {
      const { turn, returns } = await script.nextTurn();
      expect([turn.text, turn.metadata, turn.task?.history.length]).toEqual([words, { n }, before]);
      expect(await stateOf(client, id)).toBe(TaskState.WORKING);
      returns();
    }
    for (const answer of await Promise.all(answers))
      expect(taskOf(answer).status?.state).toBe(TaskState.COMPLETED);
    expect(script.begun).toBe(3);
  });

  it("is taken from one of two callers that know the same generation, until the task goes on (R-4)", async () => {
    const { client, first, id } = await begin("queue", { protocolVersions: ["1.0", "1.1"] });
    const send = (words: string, ifGenerationMatch: bigint) =>
      client.sendMessage(
        { ...say(words, { taskId: id }), configuration: { returnImmediately: true, ifGenerationMatch } },
        { headers: { "a2a-version": "1.1" } },
      );
    const refusal = (sent: Promise<unknown>) =>
      sent.then(
        () => undefined,
        (error) => findA2AError(error)?.reason,
      );
    expect(await refusal(send("two", 2n))).toBeUndefined();
    expect(await refusal(send("three", 2n))).toBe("TASK_GENERATION_MISMATCH");
    await first.yields(first.turn.append("a", "1"));
    expect(await refusal(send("four", 2n))).toBe("TASK_GENERATION_MISMATCH");
    expect(await refusal(send("five", 3n))).toBeUndefined();
  });

  it("answers a question that is asked while it waits", async () => {
    const { send, script, first, clock, client, id } = await begin();
    const sent = send("two");
    await clock.settle();
    void first.yields(first.turn.inputRequired("Which?"));
    const { turn, yields } = await script.nextTurn();
    expect(turn.text).toBe("two");
    void yields(turn.complete("thanks"));
    await sent;
    const stream = subscribe(client, id, { "last-event-id": "0" });
    await stream.ended;
    expect(wordsOf(stream.events)).toEqual([
      "task submitted",
      "working",
      "input-required",
      "working",
      "completed",
    ]);
  });

  it("is refused when the turn ends the task itself: to a blocking sender and in place of a stream's last event", async () => {
    const { send, first, clock, client, id } = await begin();
    const blocking = send("two");
    const stream = readStream(() => client.sendStreamingMessage(say("three", { taskId: id })));
    const refused = [blocking, stream.ended].map((sent) =>
      expect(sent).rejects.toMatchObject({
        message: expect.stringContaining("before it read this message"),
      }),
    );
    await clock.settle();
    void first.yields(first.turn.complete("enough"));
    await Promise.all(refused);
    expect(wordsOf(stream.events)).toEqual(["task working"]);
  });

  for (const [what, end] of [
    ["fails", "fail"],
    ["is canceled", "cancel"],
  ] as const) {
    it(`is refused when the task ${what}`, async () => {
      const { send, first, clock, client, id } = await begin();
      const refused = expect(send("two")).rejects.toMatchObject({
        message: expect.stringContaining("ended"),
      });
      await clock.settle();
      if (end === "fail") void first.yields(first.turn.fail("no"));
      else await Promise.all([client.cancelTask({ id }), clock.advance(10_000)]);
      await refused;
    });
  }

  it("never runs beside another turn, however many come while the next one is being written", async () => {
    const { send, script, store, first, clock } = await begin();
    await send("two", now);
    store.hold();
    first.returns();
    await clock.settle();
    const sent = [send("three", now), send("four", now)];
    await clock.settle();
    store.release();
    await Promise.all(sent);
    await clock.settle();
    expect(script.begun).toBe(2);
    for (const words of ["two", "three", "four"]) {
      const { turn, returns } = await script.nextTurn();
      expect(turn.text).toBe(words);
      expect(script.begun).toBe(["two", "three", "four"].indexOf(words) + 2);
      returns();
      await clock.settle();
    }
  });

  it("does not run beside the answer to a question that is being written", async () => {
    const { send, script, store, first, clock } = await begin();
    await send("two", now);
    store.hold();
    void first.yields(first.turn.inputRequired("Which?"));
    await clock.settle();
    const answer = send("three", now); // the question was accepted, and no caller can have seen it yet
    await clock.settle();
    store.release();
    await answer;
    await clock.settle();
    expect(script.begun).toBe(2);
    const second = await script.nextTurn();
    second.returns();
    await clock.settle();
    const third = await script.nextTurn();
    expect([second.turn.text, third.turn.text].sort()).toEqual(["three", "two"]);
  });

  it("starts no turn when the task is canceled while that is being written", async () => {
    const { send, script, store, first, clock, client, id } = await begin();
    await send("two", now);
    store.hold();
    first.returns();
    await clock.settle(); // the next turn is being written
    const canceled = client.cancelTask({ id });
    await clock.settle();
    store.release();
    const task = await canceled;
    await clock.settle();
    expect([reasonOf(task), script.begun]).toEqual(["canceled", 1]);
  });

  it("is refused when what comes with it would make the task too large, for its metadata stays in the log", async () => {
    const { send, first, client, id } = await begin("queue", { limits: { maxTaskBytes: 50_000 } });
    const metadata = { note: "x".repeat(20_000) };
    await send("two", { ...now, metadata });
    await send("three", {
      ...now,
      configuration: { ...now.configuration, acceptedOutputModes: Array(20).fill("y".repeat(1_000)) },
    });
    const refusal = await send("four", { ...now, metadata }).catch((error: unknown) => error);
    expect(findA2AError(refusal)?.reason).toBe("TASK_TOO_LARGE");
    await send("five", now);
    first.returns();
    expect((await client.getTask({ id })).history).toHaveLength(4);
  });

  it("goes on with a message after a question that has just fitted", async () => {
    const courses = new Set<string>();
    for (let length = 1_100; length < 1_900; length += 10) {
      const { client, clock, store } = await createEngineHarness({
        agent: {
          card: { name: "Queue" },
          whileWorking: "queue",
          async *execute(turn) {
            if (turn.text === "one") {
              yield turn.working();
              await new Promise<void>((resolve) => void clock.schedule(1_000, resolve));
              yield turn.inputRequired("?");
            }
          },
        },
        limits: { maxTaskBytes: 2_400 },
      });
      const { id } = await sendTask(client, detached("one"));
      await client.sendMessage(detached("x".repeat(length), { taskId: id }));
      await clock.advance(1_000);
      const events = await store.events({ tenant: "", principal: "anonymous" }, id, 0, 100);
      courses.add(wordsOf(events.map(decodeEvent)).join(", "));
    }
    expect([...courses]).toEqual([
      "task submitted, working, input-required, working, completed",
      "task submitted, working, failed", // here the question did not fit
    ]);
  });
});
