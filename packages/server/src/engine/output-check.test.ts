import { json, text } from "@a2a-connect/core";
import { type Part, TaskState } from "@a2a-connect/proto";
import { createEngineHarness, say } from "@a2a-connect/testing";
import type { JsonObject } from "@bufbuild/protobuf";
import { describe, expect, it, vi } from "vitest";
import { endOf, sendTask } from "../../test-support/tasks.ts";
import type { DurableTask } from "../agent/durable-task.ts";
import type { StatusEvent, TurnEvent } from "../agent/task-event.ts";
import { createArtifactTool, eventTools } from "../agent/task-tools.ts";
import type { Turn } from "../agent/turn.ts";
import { AgentMistake } from "./agent-mistake.ts";
import { Emitter } from "./emitter.ts";
import { assertMessage } from "./output-check.ts";

// An agent may give one text or list of its caller's for each item of its caller's list: in memory it is there once.

const maxTaskBytes = 200_000;
const limits = { maxTaskBytes };
const items = Array.from({ length: 1_000 }, (_, n) => n);
const instruction = "i".repeat(1_000);
const rows = items.map((n) => ({ n, instruction }));
/** A million values, of 1,001 objects. */
const context = items.map((n) => ({ n, items }));
const parts = items.map(() => text(instruction));
const detailed = (metadata: JsonObject): Part => text("x", { metadata });

const outputs: Readonly<Record<string, (turn: Pick<Turn, "artifact" | "append" | "working">) => TurnEvent>> =
  {
    "a text in data": (turn) => turn.artifact({ data: rows }),
    "a text in a chunk": (turn) => turn.append("a", json(rows)),
    "a text in parts": (turn) => turn.artifact({ parts }),
    "a text in metadata": (turn) => turn.artifact({ text: "x", metadata: { rows } }),
    "a text in parts of a status": (turn) => turn.working(parts),
    "a text in metadata of a part": (turn) => turn.working(detailed({ rows })),
    "a list in data": (turn) => turn.artifact({ data: context }),
    "a list in metadata": (turn) => turn.artifact({ text: "x", metadata: { context } }),
    "a list in metadata of a part": (turn) => turn.working(detailed({ context })),
    "a list in data of a status": (turn) => turn.working(json(context)),
  };

describe("what an agent puts out in thousands of places", () => {
  for (const [what, put] of Object.entries(outputs)) {
    it(`fails the task as too large: ${what}`, async () => {
      const { client, log } = await createEngineHarness({
        agent: { card: { name: "Agent" }, execute: (turn) => [turn.working(), put(turn)] },
        limits,
      });
      const task = await sendTask(client);
      expect(endOf(task)).toEqual([TaskState.FAILED, "task-too-large"]);
      expect(task.status?.message?.parts[0]?.content.value).toContain(
        `takes more than ${maxTaskBytes} bytes`,
      );
      expect(task.artifacts).toEqual([]);
      expect(log.map(({ error }) => error)).toEqual([expect.any(AgentMistake)]);
    });

    it(`is refused before its task is asked, weighed or encoded: ${what}`, () => {
      const emitter = new Emitter(["*/*"], maxTaskBytes, () => {
        throw new Error("this comes too late");
      });
      const event = put({ ...eventTools, artifact: createArtifactTool(() => 1) });
      const emit = () => {
        if (event.kind === "artifact") return emitter.artifact(event);
        return event.kind === "status" ? emitter.status(event) : undefined;
      };
      expect(emit).toThrow(AgentMistake);
    });
  }

  it("fails a durable executor", async () => {
    const { client } = await createEngineHarness({
      agent: {
        card: { name: "Agent" },
        durable: true,
        async *execute(task: DurableTask) {
          yield task.artifact({ data: context });
        },
      },
      limits,
    });
    expect(endOf(await sendTask(client))).toEqual([TaskState.FAILED, "task-too-large"]);
  });

  it("is no last word of a task, and no question", async () => {
    for (const end of ["complete", "inputRequired"] as const) {
      const { client } = await createEngineHarness({
        agent: { card: { name: "Agent" }, execute: (turn) => [turn.working(), turn[end](parts)] },
        limits,
      });
      expect(endOf(await sendTask(client))).toEqual([TaskState.FAILED, "task-too-large"]);
    }
  });

  /** Less than the limit by two bytes a character, and more in UTF-8. */
  const wide = "漢".repeat(0.4 * maxTaskBytes);
  const lastWords: Readonly<Record<string, (turn: Pick<Turn, "complete" | "fail" | "reject">) => TurnEvent>> =
    {
      complete: (turn) => turn.complete(wide),
      fail: (turn) => turn.fail(wide),
      reject: (turn) => turn.reject(wide),
    };
  for (const [end, put] of Object.entries(lastWords)) {
    it(`has no longer last words than a task may have, in bytes: ${end}`, async () => {
      const execute = (turn: Turn) => [turn.working(), put(turn)];
      const { client } = await createEngineHarness({ agent: { card: { name: "Agent" }, execute }, limits });
      const task = await sendTask(client);
      expect(endOf(task)).toEqual([TaskState.FAILED, "task-too-large"]);
      expect(task.status?.message?.parts[0]?.content.value).toBe("the task would be too large");
    });

    it(`has no longer last words than a task may have, in bytes, from a durable executor: ${end}`, async () => {
      const { client } = await createEngineHarness({
        agent: {
          card: { name: "Agent" },
          durable: true,
          async *execute(task: DurableTask) {
            yield put(task) as StatusEvent;
          },
        },
        limits,
      });
      expect(endOf(await sendTask(client))).toEqual([TaskState.FAILED, "task-too-large"]);
    });
  }

  it("ends a full task with few words only", async () => {
    const full = "x".repeat(0.9 * maxTaskBytes);
    const ends: [string, unknown[]][] = [
      ["y".repeat(0.2 * maxTaskBytes), [TaskState.FAILED, "task-too-large"]],
      ["y".repeat(3_000), [TaskState.COMPLETED, undefined]],
    ];
    for (const [words, end] of ends) {
      const execute = (turn: Turn) =>
        turn.text === "go" ? [turn.inputRequired(full)] : [turn.complete(words)];
      const { client } = await createEngineHarness({ agent: { card: { name: "Agent" }, execute }, limits });
      const { id: taskId } = await sendTask(client);
      const answer = say("y".repeat(0.09 * maxTaskBytes), { taskId });
      expect(endOf(await sendTask(client, answer))).toEqual(end);
    }
  });

  it("fails the task that it would be the first event of, and is no direct Message", async () => {
    for (const put of [(turn: Turn) => turn.artifact({ parts }), (turn: Turn) => turn.reply(parts)]) {
      const { client } = await createEngineHarness({
        agent: { card: { name: "Agent" }, execute: (turn: Turn) => [put(turn)] },
        limits,
      });
      expect(endOf(await sendTask(client))).toEqual([TaskState.FAILED, "task-too-large"]);
    }
  });

  it("is read once, also a long text with a wide character, which counts twice", () => {
    const wide = `${"i".repeat(1_500)}漢`;
    const test = vi.spyOn(RegExp.prototype, "test");
    const refused = () => assertMessage({ parts: Array(80).fill(text(wide)) }, "it", maxTaskBytes);
    expect(refused).toThrow("it takes more than");
    assertMessage({ parts: Array(60).fill(text(wide)) }, "it", maxTaskBytes);
    const reads = test.mock.calls.filter(([read]) => read === wide).length;
    test.mockRestore();
    expect(reads).toBe(2);
  });

  it("is visited no further than what may be stored", async () => {
    let visits = 0;
    const counted = new Proxy(items, {
      get(target, name, receiver) {
        visits += 1;
        return Reflect.get(target, name, receiver);
      },
    });
    const metadata = { context: items.map((n) => ({ n, counted })) };
    const { client } = await createEngineHarness({
      agent: {
        card: { name: "Agent" },
        execute: (turn) => [turn.working(), turn.artifact({ text: "x", metadata })],
      },
      limits,
    });
    expect(endOf(await sendTask(client))).toEqual([TaskState.FAILED, "task-too-large"]);
    expect(visits).toBeLessThan((4 * maxTaskBytes) / 128); // each element: `length` and itself, and no second pass
  });
});
