import { partText } from "@a2a-connect/core";
import { type Task, TaskState } from "@a2a-connect/proto";
import { createEngineHarness, createTurnCount, reasonOf, say } from "@a2a-connect/testing";
import { beforeAll, describe, expect, it } from "vitest";
import { agentOf } from "../../test-support/agents.ts";
import { heapOf } from "../../test-support/collect-garbage.ts";
import { sendTask } from "../../test-support/tasks.ts";
import type { AgentDefinition, DurableExecutor, TurnExecutor } from "../agent/agent-definition.ts";
import type { DurableTask } from "../agent/durable-task.ts";
import type { Turn } from "../agent/turn.ts";
import { AgentMistake } from "./agent-mistake.ts";
import type { LogRecord } from "./engine-context.ts";

/** What plain JavaScript may do: the types refuse most of it. */
type Loose<Tools> = (tools: Tools) => AsyncGenerator<unknown, unknown, never>;

const turnMistakes: Record<string, [code: Loose<Turn>, sentence: RegExp]> = {
  "yields a string": [
    async function* (turn) {
      yield turn.working();
      yield "hello";
    },
    /yielded a string, which is no event; yield what the executor's tools return/,
  ],
  "yields nothing": [
    async function* (turn) {
      yield turn.working();
      yield;
    },
    /yielded undefined/,
  ],
  "yields an object of its own": [
    async function* (turn) {
      yield turn.working();
      yield { text: "hello" };
    },
    /yielded an object/,
  ],
  "yields another generator": [
    async function* (turn) {
      yield turn.working();
      yield (async function* () {})();
    },
    /write "yield\*"/,
  ],
  "makes an event and does not yield it": [
    async function* (turn) {
      yield turn.working();
      turn.append("poem", "roses");
    },
    /an event was made by append\(…\) and not yielded: write "yield" before the call/,
  ],
  "makes an event as the first thing and does not yield it": [
    async function* (turn) {
      turn.artifact({ text: "lost" });
      if (turn.text === "") yield turn.working();
    },
    /made by artifact\(…\) and not yielded/,
  ],
  "returns an event": [
    async function* (turn) {
      yield turn.working();
      return turn.fail("no");
    },
    /made by fail\(…\) and not yielded/,
  ],
  "returns a value": [
    async function* (turn) {
      yield turn.working();
      return "done";
    },
    /returned a string, and a returned value is lost; yield an event with it before/,
  ],
};

const durableMistakes: Record<string, [code: Loose<DurableTask>, sentence: RegExp]> = {
  "yields a string": [
    async function* () {
      yield "hello";
    },
    /yielded a string, which is no event/,
  ],
  "yields a question in place of asking it": [
    async function* (task) {
      yield task.ask("Which?");
    },
    /write "yield\*" to pass on the events of another generator, such as ask/,
  ],
  "awaits a question": [
    async function* (task) {
      yield task.working();
      await (task.ask("Which?") as unknown);
    },
    /a question was made and not asked: write "yield\*" before the call, not "await"/,
  ],
  "makes an event and does not yield it": [
    async function* (task) {
      yield task.working();
      task.append("poem", "roses");
    },
    /made by append\(…\) and not yielded/,
  ],
  "leaves a step running": [
    async function* (task) {
      yield task.working();
      void task.step("mail", () => new Promise(() => {}));
    },
    /did not wait for its step "mail": write "await" before the call/,
  ],
  "leaves the error of a step": [
    async function* (task) {
      yield task.working();
      void task.step("mail", () => Promise.reject(new Error("no such address")));
      await task.step("other", () => 1);
    },
    /did not wait for its step "mail"/,
  ],
  "returns a value": [
    async function* (task) {
      yield task.working();
      return await task.step("sum", () => 42);
    },
    /returned a number, and a returned value is lost/,
  ],
};

// Other tests of this process may have used up the calls that note their place; a mistake permits more.
beforeAll(() => run(agentOf(turnMistakes["returns an event"]?.[0] as TurnExecutor)));

describe("a turn executor that", () => {
  for (const [what, [code, sentence]] of Object.entries(turnMistakes)) {
    it(`${what} ends its task FAILED, with a sentence that says what to write`, async () => {
      expectMistake(await run(agentOf(code as TurnExecutor)), sentence);
    });
  }

  it("catches the mistake at its yield may go on", async () => {
    const { task } = await run(
      agentOf(async function* (turn) {
        yield turn.working();
        try {
          yield "hello" as never;
        } catch {
          yield turn.complete("caught");
        }
      }),
    );
    expect(task.status?.state).toBe(TaskState.COMPLETED);
  });

  it("catches thousands of mistakes before it has a task lets others have their turns", async () => {
    const refused = createTurnCount();
    const { task } = await run(
      agentOf(async function* (turn) {
        for (let item = 0; item < 2_000; item += 1) {
          try {
            yield `item ${item}` as never;
          } catch {
            refused.count();
          }
        }
        yield turn.complete("caught");
      }),
    );
    expect([task.status?.state, refused.total]).toEqual([TaskState.COMPLETED, 2_000]);
    expect(refused.mostInATurn).toBeLessThanOrEqual(2 * 512);
  });

  it("makes events before it yields them makes no mistake", async () => {
    const { task } = await run(
      agentOf(async function* (turn) {
        yield* ["a", "b", "c"].map((chunk) => turn.append("poem", chunk));
      }),
    );
    expect([task.status?.state, task.artifacts[0]?.parts.length]).toEqual([TaskState.COMPLETED, 3]);
  });
});

it.each([true, false])(
  "a mistake with a long value ends a task that has no room for it (durable: %s)",
  async (isDurable) => {
    const card = { name: "Agent" };
    const data = {
      get rows(): never {
        throw new Error("ﷺ".repeat(12_000));
      },
    };
    const agent: AgentDefinition = isDurable
      ? {
          card,
          durable: true,
          execute: async function* (task) {
            yield task.artifact({ data });
          },
        }
      : {
          card,
          execute: async function* (turn) {
            yield turn.working();
            yield turn.artifact({ data });
          },
        };
    const { client } = await createEngineHarness({ agent, limits: { maxTaskBytes: 64 * 1024 } });
    const { status } = await sendTask(client, say("x".repeat(58_000), { contextId: "ﷺ".repeat(512) }));
    expect(status?.state).toBe(TaskState.FAILED);
  },
);

it("a mistake with a long value keeps nothing of the value in memory but its beginning", () => {
  const mistake = () => new AgentMistake(`artifact "a": ${Buffer.alloc(1_000_000, "x")}`);
  expect(heapOf(() => Array.from({ length: 50 }, mistake))).toBeLessThan(5_000_000);
});

describe("a durable executor that", () => {
  for (const [what, [code, sentence]] of Object.entries(durableMistakes)) {
    it(`${what} ends its task FAILED, with a sentence that says what to write`, async () => {
      expectMistake(await run(durable(code as DurableExecutor)), sentence);
    });
  }

  it("races steps, and leaves the slower one, makes no mistake", async () => {
    const { task } = await run(
      durable(async function* (task) {
        await Promise.race([task.step("slow", () => new Promise(() => {})), task.step("fast", () => 1)]);
        yield task.complete();
      }),
    );
    expect(task.status?.state).toBe(TaskState.COMPLETED);
  });

  it("leaves a step that is over makes no mistake", async () => {
    const { task } = await run(
      durable(async function* (task) {
        void task.step("mail", () => 1);
        await task.step("other", () => 2);
      }),
    );
    expect(task.status?.state).toBe(TaskState.COMPLETED);
  });
});

const durable = (execute: DurableExecutor): AgentDefinition => ({
  card: { name: "Durable" },
  durable: true,
  execute,
});

/** One task of the agent, and what the operator's log has about it. */
async function run(agent: AgentDefinition): Promise<{ task: Task; records: readonly LogRecord[] }> {
  const { client, log } = await createEngineHarness({ agent });
  return { task: await sendTask(client), records: log };
}

function expectMistake({ task, records }: Awaited<ReturnType<typeof run>>, sentence: RegExp): void {
  expect([task.status?.state, reasonOf(task), task.status?.message && partText(task.status.message)]).toEqual(
    [TaskState.FAILED, "invalid-agent-response", expect.stringMatching(sentence)],
  );
  const { error } = records.find(({ message }) => message === "an executor failed") ?? {};
  expect(error).toMatchObject({ message: expect.stringMatching(sentence) });
  if (/not yielded|not asked|did not wait/.test(sentence.source)) {
    const [, firstFrame] = String((error as Error).stack).split("\n");
    expect(firstFrame).toMatch(/agent-mistake\.test\.ts:\d+/);
  }
}
