import { json } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { createEngineHarness, say } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { endOf, sendTask } from "../../test-support/tasks.ts";
import type { AgentDefinition, TurnExecutor } from "../agent/agent-definition.ts";
import type { TurnEvent } from "../agent/task-event.ts";
import type { Turn } from "../agent/turn.ts";

describe("what JSON cannot hold", () => {
  const refused: Readonly<Record<string, (turn: Turn) => readonly TurnEvent[]>> = {
    "data of an artifact": (turn) => [turn.artifact({ data: { scores: [1, Number.NaN] } })],
    "metadata of an artifact": (turn) => [
      turn.artifact({ text: "x", metadata: { at: Number.POSITIVE_INFINITY } }),
    ],
    "a part of a chunk": (turn) => [turn.append("a", json([[Number.NaN]]))],
    "a part of a status": (turn) => [turn.working(json({ deep: { n: Number.NaN } }))],
    progress: (turn) => [turn.working("so far", { progress: Number.NaN })],
    "a question": (turn) => [turn.working(), turn.inputRequired(json(Number.NEGATIVE_INFINITY))],
  };
  for (const [what, execute] of Object.entries(refused)) {
    it(`is refused at the yield and never stored, in ${what}`, async () => {
      const { client } = await createEngineHarness({
        agent: { card: { name: "Agent" }, execute: (turn) => [turn.working(), ...execute(turn)] },
      });
      const task = await sendTask(client);
      expect(endOf(task)).toEqual([TaskState.FAILED, "invalid-agent-response"]);
      expect(task.status?.message?.parts[0]?.content.value).toContain("NaN or infinite");
      expect(task.artifacts).toEqual([]);
    });
  }

  it("is refused at the yield, if it is the data of an artifact and cannot be sent at all", async () => {
    const mistakes: string[] = [];
    const agent: AgentDefinition = {
      card: { name: "Agent" },
      async *execute(turn) {
        try {
          yield turn.artifact({ id: "sum", data: { total: 1n } as never });
        } catch (error) {
          mistakes.push((error as Error).message);
        }
        yield turn.artifact({ id: "sum", data: { total: 1 } });
      },
    };
    const { client } = await createEngineHarness({ agent });
    const task = await sendTask(client);
    expect(mistakes).toEqual(['artifact "sum": a JSON value cannot be a bigint']);
    expect(task.artifacts).toHaveLength(1);
  });

  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  const lazy = {
    get rows() {
      throw new Error("they cannot be read");
    },
  };
  it.each<readonly [what: string, init: object, why: string]>([
    ["a bigint", { data: { x: 1n } }, "a JSON value cannot be a bigint"],
    ["undefined", { data: { x: undefined } }, "a JSON value cannot be a undefined"],
    ["a hole in a list", { data: Array(2) }, "a JSON value cannot be a undefined"],
    ["a function", { data: { rows: Array(5_000).fill(1), x() {} } }, "a JSON value cannot be a function"],
    ["a getter that throws", { data: lazy }, "they cannot be read"],
    ["a getter that throws in metadata", { text: "x", metadata: { lazy } }, "they cannot be read"],
    ["a revoked proxy", { data: { x: revoked.proxy } }, "revoked"],
  ])(
    "is refused before there is a task, so that its executor may reply instead: %s",
    async (_, init, why) => {
      for (const last of [true, false]) {
        const mistakes: string[] = [];
        const agent: AgentDefinition = {
          card: { name: "Agent" },
          async *execute(turn) {
            try {
              yield turn.artifact({ id: "a", ...init, last });
            } catch (error) {
              mistakes.push((error as Error).message);
            }
            yield turn.reply("instead");
          },
        };
        const { client } = await createEngineHarness({ agent });
        const { payload } = await client.sendMessage(say("go"));
        expect(mistakes).toEqual([expect.stringContaining(`artifact "a": `)]);
        expect(mistakes[0]).toContain(why);
        expect(payload.case).toBe("message");
      }
    },
  );

  it("is refused in a direct Message, too", async () => {
    const agent = {
      card: { name: "Agent" },
      execute: ((turn) => [turn.reply(json(Number.NaN))]) satisfies TurnExecutor,
    };
    const { client } = await createEngineHarness({ agent });
    await expect(client.sendMessage(say("go"))).rejects.toThrow("NaN or infinite");
  });
});

describe("an object with a name of more than 16,383 characters", () => {
  for (const put of [
    (turn: Turn, name: string) => turn.artifact({ id: "a", data: [{ [name]: 0 }] }),
    (turn: Turn, name: string) => turn.artifact({ id: "a", text: "x", metadata: { [name]: 0 } }),
  ]) {
    it(`ends the task, in ${put.toString().includes("metadata") ? "metadata" : "data"}; one of 16,383 is taken`, async () => {
      const name = "x".repeat(16_383);
      const { client } = await createEngineHarness({
        agent: {
          card: { name: "Agent" },
          execute: (turn) => [turn.working(), put(turn, name), put(turn, `${name}x`)],
        },
      });
      const task = await sendTask(client);
      expect(endOf(task)).toEqual([TaskState.FAILED, "invalid-agent-response"]);
      expect(task.status?.message?.parts[0]?.content.value).toContain("a name of more than 16383 characters");
      expect(task.artifacts).toHaveLength(1);
    });
  }
});

describe("an object with more than 100,000 names", () => {
  const names = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, 0]));
  const outputs: Readonly<Record<string, (turn: Turn, content: Record<string, number>) => TurnEvent>> = {
    "data of an artifact": (turn, content) => turn.artifact({ data: { list: [content] } }),
    "metadata of an artifact": (turn, content) => turn.artifact({ text: "x", metadata: content }),
    "a part of a status": (turn, content) => turn.working(json(content)),
  };
  for (const [what, put] of Object.entries(outputs)) {
    it(`fails the task as task-too-large, in ${what}; one with 100,000 is taken`, async () => {
      const { client } = await createEngineHarness({
        agent: {
          card: { name: "Agent" },
          execute: (turn) => [turn.working(), put(turn, names(100_000)), put(turn, names(100_001))],
        },
      });
      const task = await sendTask(client);
      expect(endOf(task)).toEqual([TaskState.FAILED, "task-too-large"]);
      expect(task.status?.message?.parts[0]?.content.value).toContain("more than 100000 names");
      if (what.includes("artifact")) expect(task.artifacts).toHaveLength(1);
    });
  }
});
