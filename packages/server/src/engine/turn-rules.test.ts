import { createHash } from "node:crypto";
import { setImmediate as nextTurn } from "node:timers/promises";
import { bytes, fileUrl, json, lifecycleExtension, readLifecycleReport, text } from "@a2a-connect/core";
import { type Task, TaskState } from "@a2a-connect/proto";
import {
  createEngineHarness,
  createTurnCount,
  type EngineHarnessOptions,
  reasonOf,
  say,
  taskOf,
  wordsOf,
} from "@a2a-connect/testing";
import { Code } from "@connectrpc/connect";
import { describe, expect, it, vi } from "vitest";
import { agentOf, startAgent, startScripted } from "../../test-support/agents.ts";
import { countedPart } from "../../test-support/counted-data.ts";
import { createHeldStore } from "../../test-support/held-store.ts";
import { detached, endOf, sendStream, sendTask } from "../../test-support/tasks.ts";
import type { AgentDefinition, TurnAgent, TurnExecutor } from "../agent/agent-definition.ts";
import type { TurnEvent } from "../agent/task-event.ts";
import type { Turn } from "../agent/turn.ts";

/** Runs one message to its end. */
async function run(
  execute: TurnExecutor,
  { limits, ...rest }: Partial<TurnAgent> & Pick<EngineHarnessOptions, "limits"> = {},
) {
  const harness = await startAgent(execute, rest, limits === undefined ? {} : { limits });
  return { ...harness, task: await sendTask(harness.client) };
}

describe("when a task exists", () => {
  it("exists from the first yield that is no reply", async () => {
    const { client, script } = await startScripted();
    const answer = client.sendMessage(detached());
    const { turn, yields } = await script.nextTurn();
    await yields(turn.working());
    const { id } = taskOf(await answer);
    expect(id).toBe(turn.taskId);
  });

  for (const [taskAfterMs, until] of [
    [undefined, 200],
    [50, 50],
  ] as const) {
    it(`exists after ${until} ms without a yield (taskAfterMs ${taskAfterMs})`, async () => {
      const { client, clock } = await startScripted(taskAfterMs === undefined ? {} : { taskAfterMs });
      const answer = client.sendMessage(detached());
      await clock.advance(until - 1);
      expect((await client.listTasks({})).totalSize).toBe(0);
      await clock.advance(1);
      expect((await client.listTasks({})).totalSize).toBe(1);
      expect(taskOf(await answer).status?.state).toBe(TaskState.SUBMITTED);
    });
  }

  it("is refused when it cannot be created after that time, and its executor is told to stop", async () => {
    const told = Promise.withResolvers<unknown>();
    const { client, clock } = await startAgent(async function* (turn) {
      turn.signal.addEventListener("abort", () => told.resolve(turn.signal.reason), { once: true });
      await told.promise;
      yield turn.working();
    });
    const answer = client.sendMessage(detached());
    const refused = expect(answer).rejects.toMatchObject({ code: Code.Internal });
    await clock.advance(199);
    const now = vi.spyOn(clock, "now").mockImplementationOnce(() => {
      throw new Error("the time is not known");
    });
    await clock.advance(1);
    expect(now).toHaveBeenCalled();
    now.mockRestore();
    await refused;
    expect(await told.promise).toMatchObject({ cause: "lost" });
  });

  it("never exists after a reply that came in time", async () => {
    const { client, script, clock } = await startScripted();
    const answer = client.sendMessage(say("go"));
    const { turn, yields, closed } = await script.nextTurn();
    await clock.advance(199);
    expect(await yields(turn.reply("hello"))).toBe("ended");
    expect((await answer).payload.case).toBe("message");
    await closed;
    await clock.settle();
    expect(clock.alarms).toBe(0);
    await clock.advance(10_000);
    expect((await client.listTasks({})).totalSize).toBe(0);
  });

  it("makes a reply that came too late the message of COMPLETED (A-16)", async () => {
    const { client, script, clock } = await startScripted();
    const answer = client.sendMessage(say("go"));
    const { turn, yields } = await script.nextTurn();
    await clock.advance(200);
    await yields(turn.reply("hello"));
    const { status } = taskOf(await answer);
    expect([status?.state, status?.message?.parts]).toEqual([TaskState.COMPLETED, [text("hello")]]);
  });

  it("is completed by an executor that yields nothing", async () => {
    const { task } = await run(() => []);
    expect(task.status?.state).toBe(TaskState.COMPLETED);
  });

  it("answers Internal when the executor throws before, and the words go to the log only (B-8)", async () => {
    const { client, log } = await startAgent(() => {
      throw new Error("secret");
    });
    const failure = await client.sendMessage(say("go")).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: Code.Internal, rawMessage: "Internal error" });
    expect((await client.listTasks({})).totalSize).toBe(0);
    expect(log).toContainEqual(expect.objectContaining({ level: "error", error: new Error("secret") }));
  });

  it("answers INVALID_AGENT_RESPONSE when the executor gives something that may not be, before (B-8)", async () => {
    const { client } = await startAgent((turn) => [turn.reply([])]);
    await expect(client.sendMessage(say("go"))).rejects.toMatchObject({
      code: Code.Internal,
      rawMessage: expect.stringContaining("at least one part"),
    });
  });
});

describe("how a turn ends", () => {
  it("is FAILED by a throw, with a reason and a sentence that is not the exception's (B-8)", async () => {
    const { task, log } = await run(async function* (turn) {
      yield turn.working();
      throw new Error("secret");
    });
    expect(endOf(task)).toEqual([TaskState.FAILED, "internal"]);
    expect(JSON.stringify(task.status?.message?.parts)).not.toContain("secret");
    expect(task.status?.message?.parts[0]?.content.value).not.toBe("");
    expect(log).toContainEqual(expect.objectContaining({ level: "error", taskId: task.id }));
  });

  const endings: readonly (readonly [string, (turn: Turn) => TurnEvent, TaskState, string | undefined])[] = [
    ["complete", (turn) => turn.complete("why"), TaskState.COMPLETED, undefined],
    ["fail", (turn) => turn.fail("why"), TaskState.FAILED, "agent-failed"],
    ["fail with a reason", (turn) => turn.fail("why", { reason: "mine" }), TaskState.FAILED, "mine"],
    ["reject", (turn) => turn.reject("why"), TaskState.REJECTED, "agent-rejected"],
    ["reject with a reason", (turn) => turn.reject("why", { reason: "mine" }), TaskState.REJECTED, "mine"],
  ];
  for (const [name, event, state, reason] of endings) {
    it(`ends with ${name}, and takes nothing afterwards (B-2, B-3)`, async () => {
      let cleaned = false;
      let resumed = false;
      const { task, client, clock } = await run(async function* (turn) {
        try {
          yield event(turn);
          resumed = true;
          yield turn.artifact({ text: "late" });
        } finally {
          cleaned = true;
        }
      });
      expect(endOf(task)).toEqual([state, reason]);
      expect(task.status?.message?.parts).toEqual([text("why")]);
      await clock.settle();
      expect([cleaned, resumed]).toEqual([true, false]);
      expect((await client.getTask({ id: task.id })).artifacts).toEqual([]);
    });
  }

  it("does not wait for a finally that hangs: the next message is taken", async () => {
    const { task, client } = await run(async function* (turn) {
      try {
        yield turn.task === undefined ? turn.inputRequired("?") : turn.complete();
      } finally {
        await new Promise(() => {});
      }
    });
    const next = await sendTask(client, say("yes", { taskId: task.id }));
    expect(next.status?.state).toBe(TaskState.COMPLETED);
  });

  it("starts the next turn with the whole task, the same skill and the new message (B-5, C-2)", async () => {
    const { client, script, clock } = await startScripted();
    const first = client.sendMessage(say("one"));
    const turn1 = await script.nextTurn();
    await turn1.yields(turn1.turn.append("a", "draft"));
    await turn1.yields(turn1.turn.inputRequired("?"));
    const { id } = taskOf(await first);
    const second = client.sendMessage(say("two", { taskId: id }));
    const turn2 = await script.nextTurn();
    expect(turn2.turn.text).toBe("two");
    expect(turn2.turn.task?.history.map(({ parts }) => parts[0]?.content.value)).toEqual(["one", "?", "two"]);
    expect(turn2.turn.task?.artifacts.map(({ artifactId }) => artifactId)).toEqual(["a"]);
    turn2.returns();
    expect(taskOf(await second).status?.state).toBe(TaskState.COMPLETED);
    await clock.settle();
    expect(script.begun).toBe(2);
  });

  it("takes plain lists and generators that are not async, and throws a mistake into them", async () => {
    const caught: unknown[] = [];
    const { task } = await run(function* (turn) {
      try {
        yield turn.inputRequired([]);
      } catch (error) {
        caught.push(error);
      }
      yield turn.complete("fine");
    });
    expect(task.status?.state).toBe(TaskState.COMPLETED);
    expect(caught).toEqual([expect.objectContaining({ name: "AgentMistake" })]);
    const list = await run((turn) => [turn.working(), turn.inputRequired([])]);
    expect([list.task.status?.state, reasonOf(list.task)]).toEqual([
      TaskState.FAILED,
      "invalid-agent-response",
    ]);
  });
});

describe("statuses", () => {
  it("drops a working() without words that changes nothing, and keeps every other", async () => {
    const { client } = await startAgent(function* (turn) {
      yield turn.working();
      yield turn.working();
      yield turn.working("half");
      yield turn.working([], { progress: 0.75 });
    });
    const stream = sendStream(client);
    await stream.ended;
    expect(wordsOf(stream.events)).toEqual(["task submitted", "working", "working", "working", "completed"]);
    const reports = stream.events.map(({ payload }) =>
      payload.case === "statusUpdate" ? readLifecycleReport(payload.value.status?.message?.metadata) : {},
    );
    expect(reports[3]).toEqual({ progress: 0.75 });
  });

  it("stamps every status, never earlier than the one before (B-4, B-9)", async () => {
    const { client, script, clock } = await startScripted();
    const stream = sendStream(client);
    const { turn, yields, returns } = await script.nextTurn();
    await yields(turn.working("1"));
    await clock.advance(10);
    await yields(turn.working("2"));
    await clock.advance(-50);
    returns();
    await stream.ended;
    const at = stream.events.map(({ payload }) => {
      const status =
        payload.case === "task" || payload.case === "statusUpdate" ? payload.value.status : undefined;
      return Number(status?.timestamp?.seconds) * 1_000 + Number(status?.timestamp?.nanos) / 1e6;
    });
    expect(at.map((each) => each - (at[0] ?? 0))).toEqual([0, 0, 10, 10]);
  });

  it("needs words for a question, and the executor may try again", async () => {
    const { client, script } = await startScripted();
    const answer = client.sendMessage(say("go"));
    const { turn, yields } = await script.nextTurn();
    await expect(yields(turn.inputRequired([]))).rejects.toMatchObject({ name: "AgentMistake" });
    await yields(turn.inputRequired("Now?"));
    expect(taskOf(await answer).status?.message?.parts).toEqual([text("Now?")]);
  });
});

describe("artifacts", () => {
  const tenThousandBytes = { limits: { maxTaskBytes: 10_000 } };
  const sha256 = (content: string | Uint8Array) => createHash("sha256").update(content).digest("hex");
  const sealOf = (artifact: { metadata?: Record<string, unknown> | undefined } | undefined) =>
    artifact?.metadata?.[lifecycleExtension];

  it("begins with the first append of a turn and adds with the next (A-29)", async () => {
    const { client } = await startAgent(function* (turn) {
      yield turn.append("a", "1 ");
      yield turn.append("a", "2");
      if (turn.task === undefined) yield turn.inputRequired("again?");
    });
    const stream = sendStream(client);
    await stream.ended;
    expect(wordsOf(stream.events)).toEqual([
      "task submitted",
      "artifact a",
      "artifact a +",
      "input-required",
    ]);
    const { id } = stream.events[0] ? taskOf(stream.events[0]) : { id: "" };
    const task = await sendTask(client, say("yes", { taskId: id }));
    expect(task.artifacts.map(({ parts }) => parts)).toEqual([[text("1 "), text("2")]]);
  });

  it("goes on with an artifact of an earlier turn only when told to", async () => {
    const { client } = await startAgent(function* (turn) {
      yield turn.append("a", turn.text, { continue: true });
      if (turn.text === "1") yield turn.inputRequired("again?");
    });
    const { id } = await sendTask(client, say("1"));
    const task = await sendTask(client, say("2", { taskId: id }));
    expect(task.artifacts.map(({ parts }) => parts)).toEqual([[text("1"), text("2")]]);
  });

  it("names unnamed artifacts by their ordinal within the task", async () => {
    const { client } = await startAgent(function* (turn) {
      yield turn.artifact({ text: "x" });
      yield turn.artifact({ id: "named", text: "y" });
      if (turn.task === undefined) yield turn.inputRequired("again?");
    });
    const { id, artifacts } = await sendTask(client, say("1"));
    expect(artifacts.map(({ artifactId }) => artifactId)).toEqual(["artifact-1", "named"]);
    const task = await sendTask(client, say("2", { taskId: id }));
    expect(task.artifacts.map(({ artifactId }) => artifactId)).toEqual(["artifact-1", "named", "artifact-3"]);
  });

  it("replaces a whole artifact of the same id (A-29)", async () => {
    const { task } = await run(function* (turn) {
      yield turn.artifact({ id: "a", name: "old", text: "1", metadata: { k: 1 } });
      yield turn.artifact({ id: "a", text: "2" });
    });
    expect(task.artifacts).toMatchObject([{ artifactId: "a", name: "", parts: [text("2")] }]);
    expect(task.artifacts[0]?.metadata).toBeUndefined();
  });

  it("seals with size and SHA-256 over all chunks (lifecycle extension)", async () => {
    const raw = new Uint8Array([0, 1, 255]);
    const { task, client } = await run(async function* (turn) {
      yield turn.append("a", "ünï");
      yield turn.append("a", [bytes(raw), fileUrl("https://example.com/x")]);
      yield turn.append("a", json({ b: [1, null], a: "é" }), { last: true });
    });
    const content = Buffer.concat([
      Buffer.from("ünï"),
      raw,
      Buffer.from("https://example.com/x"),
      Buffer.from('{"a":"é","b":[1,null]}'),
    ]);
    expect(sealOf(task.artifacts[0])).toEqual({ size: content.length, sha256: sha256(content) });
    expect(await client.getTask({ id: task.id })).toEqual(task);
  });

  it("seals one with much data in several turns of the event loop", async () => {
    const reads = createTurnCount();
    let isCounting = false;
    const { task } = await run(async function* (turn) {
      for (let chunk = 0; chunk < 20; chunk++) {
        yield turn.append(
          "a",
          countedPart(() => isCounting && reads.count()),
        );
      }
      isCounting = true;
      yield turn.append("a", "end", { last: true });
      isCounting = false;
    });
    expect(task.artifacts[0]?.parts).toHaveLength(21);
    expect(reads.total).toBeGreaterThanOrEqual(20);
    expect(reads.mostInATurn).toBeLessThan(5);
  });

  for (const [what, late] of [
    ["a chunk", (turn: Turn) => turn.append("a", "x")],
    ["a continued chunk", (turn: Turn) => turn.append("a", "x", { continue: true })],
    ["a replacement", (turn: Turn) => turn.artifact({ id: "a", text: "x" })],
  ] as const) {
    for (const when of ["in the same turn", "in a later turn", "after a restart"] as const) {
      it(`refuses ${what} for a sealed artifact ${when}`, async () => {
        const agent = agentOf(async function* (turn) {
          if (turn.task === undefined) {
            yield turn.artifact({ id: "a", text: "final", last: true });
            if (when !== "in the same turn") return yield turn.inputRequired("?");
          }
          yield late(turn);
        });
        const harness = await createEngineHarness({ agent });
        let task = await sendTask(harness.client);
        if (when !== "in the same turn") {
          const restarted = { agent, store: harness.store, randomId: () => crypto.randomUUID() };
          const { client } = when === "after a restart" ? await createEngineHarness(restarted) : harness;
          task = await sendTask(client, say("yes", { taskId: task.id }));
        }
        expect(endOf(task)).toEqual([TaskState.FAILED, "invalid-agent-response"]);
        expect(task.artifacts.map(({ parts }) => parts)).toEqual([[text("final")]]);
      });
    }
  }

  it("replaces a sealed artifact that was declared replaceable", async () => {
    const { task } = await run(async function* (turn) {
      yield turn.artifact({ id: "a", text: "1", last: true, replaceable: true });
      yield turn.artifact({ id: "a", text: "22", last: true });
    });
    expect(task.status?.state).toBe(TaskState.COMPLETED);
    expect(sealOf(task.artifacts[0])).toEqual({ size: 2, sha256: sha256("22") });
  });

  it("seals an artifact that was declared replaceable once more, when it has gone on to its end", async () => {
    const { task } = await run(async function* (turn) {
      yield turn.artifact({ id: "a", text: "1", last: true, replaceable: true });
      yield turn.append("a", "2", { continue: true });
      yield turn.append("a", "3", { last: true });
    });
    expect(sealOf(task.artifacts[0])).toEqual({ size: 3, sha256: sha256("123") });
  });

  it("refuses media types that the skill does not declare", async () => {
    const { task } = await run(
      (turn) => [
        turn.working(),
        turn.artifact({ parts: [bytes(new Uint8Array(1), { mediaType: "image/png" })] }),
      ],
      { card: { name: "Agent", defaultOutputModes: ["text/*"] } },
    );
    expect(task).toMatchObject({ status: { state: TaskState.FAILED }, artifacts: [] });
    expect(JSON.stringify(task.status?.message?.parts)).toContain("image/png");
  });

  it("refuses an artifact without parts", async () => {
    const { task } = await run((turn) => [turn.working(), turn.artifact({})]);
    expect(reasonOf(task)).toBe("invalid-agent-response");
  });

  for (const mode of ["chunks", "artifacts"] as const) {
    it(`fails a task that grows too large with ${mode} as task-too-large, and keeps what was there`, async () => {
      const { task } = await run(function* (turn) {
        for (let at = 0; at < 100; at += 1)
          yield turn.append(mode === "chunks" ? "a" : `a${at}`, "x".repeat(1_000));
      }, tenThousandBytes);
      expect(endOf(task)).toEqual([TaskState.FAILED, "task-too-large"]);
      const parts = task.artifacts.flatMap((artifact) => artifact.parts);
      expect(parts.length).toBeGreaterThan(4);
      expect(parts.length).toBeLessThan(10);
    });
  }

  for (const [kind, agent] of [
    ["turn", agentOf((turn) => (turn.task === undefined ? [turn.inputRequired("?")] : []))],
    [
      "durable executor",
      {
        card: { name: "Agent" },
        durable: true,
        async *execute(task) {
          yield* task.ask("?");
        },
      },
    ],
  ] as [string, AgentDefinition][]) {
    it(`takes an answer that just fits, and the ${kind} goes on with it`, async () => {
      const { client, log } = await createEngineHarness({ agent, limits: { maxTaskBytes: 2_000 } });
      const { id: taskId } = await sendTask(client);
      const answer = async (length: number) => await sendTask(client, say("x".repeat(length), { taskId }));
      let task: Task | undefined;
      for (let length = 2_000; task === undefined && length > 1_000; length -= 1) {
        task = await answer(length).catch(() => undefined);
      }
      expect([task?.status?.state, task?.history.length, log]).toEqual([TaskState.COMPLETED, 3, []]);
    });
  }

  it("lets an artifact be replaced for ever within the limit", async () => {
    const { task } = await run(function* (turn) {
      for (let at = 0; at < 50; at += 1) yield turn.artifact({ id: "a", text: `${at}`.padEnd(5_000) });
    }, tenThousandBytes);
    expect(task.status?.state).toBe(TaskState.COMPLETED);
  });
});

describe("what yield means", () => {
  for (const [what, limits] of [
    ["many events are", { maxUncommitted: 4 }],
    ["many bytes are", { maxUncommittedBytes: 4_000 }],
  ] as const) {
    it(`resumes when an event is accepted, before it is durable, and waits when too ${what} not`, async () => {
      const store = createHeldStore();
      const { client, clock, script } = await startScripted({}, { store, limits });
      store.hold();
      void client.sendMessage(say("go")).catch(() => {});
      const { turn, yields } = await script.nextTurn();
      const resumed: number[] = [];
      for (let at = 0; at < 8; at += 1) {
        void yields(turn.append("a", `${at}`.padEnd(1_000))).then(() => resumed.push(at));
      }
      await clock.settle();
      expect(resumed.length).toBeGreaterThan(1);
      expect(resumed.length).toBeLessThan(8);
      store.release();
      await clock.settle();
      expect(resumed).toHaveLength(8);
    });
  }

  it("resumes few executors in a turn of the event loop, however many never await", async () => {
    let stop = false;
    let yielded = 0;
    const { client } = await startAgent(function* (turn) {
      while (!stop) {
        yielded += 1;
        yield turn.append("a", "x");
      }
    });
    const answers = Array.from({ length: 50 }, () => client.sendMessage(say("go")));
    while (yielded < 50 * 64) await nextTurn();
    let most = 0;
    for (let turns = 0, before = yielded; turns < 20; turns += 1, before = yielded) {
      await nextTurn();
      most = Math.max(most, yielded - before);
    }
    stop = true;
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThanOrEqual(2 * 8 * 64); // the engine's turn and the test's may be the same
    for (const answer of answers) expect(taskOf(await answer).status?.state).toBe(TaskState.COMPLETED);
  });

  it("lets the process breathe while an executor never awaits", async () => {
    let stop = false;
    const { client } = await startAgent(function* (turn) {
      while (!stop) yield turn.append("a", "x");
    });
    const answer = client.sendMessage(say("go"));
    await new Promise((resolve) => setTimeout(resolve));
    stop = true;
    expect(taskOf(await answer).status?.state).toBe(TaskState.COMPLETED);
  });
});

describe("the id of an artifact", () => {
  it("may have 512 characters", async () => {
    const id = "x".repeat(512);
    const { task } = await run((turn) => [turn.artifact({ id, text: "a" }), turn.append(id, "b")]);
    expect(task.artifacts.map(({ artifactId }) => artifactId)).toEqual([id]);
  });

  for (const [tool, yielded] of [
    ["artifact", (turn: Turn, id: string) => turn.artifact({ id, text: "a" })],
    ["append", (turn: Turn, id: string) => turn.append(id, "a")],
  ] as const) {
    it(`may not have one more, which ends the task and names the artifact (${tool})`, async () => {
      const { task } = await run((turn) => [turn.working(), yielded(turn, `report ${"x".repeat(506)}`)]);
      expect(endOf(task)).toEqual([TaskState.FAILED, "invalid-agent-response"]);
      expect(task.status?.message?.parts).toEqual([
        text(`the id of artifact "report ${"x".repeat(33)}…" has 513 characters; at most 512 are taken`),
      ]);
      expect(task.artifacts).toEqual([]);
    });
  }
});
