import { setTimeout as pause } from "node:timers/promises";
import { partText } from "@a2a-connect/core";
import type { Message } from "@a2a-connect/proto";
import {
  type AgentDefinition,
  type DurableEvent,
  type DurableExecutor,
  type DurableTask,
  defineAgent,
  type TurnExecutor,
} from "@a2a-connect/server";
import type { Effects } from "./effects.ts";

/** What comes first in a message: which work is to be done, and by what kind of executor. */
export const commands = ["stream", "steps", "ask", "inbox", "sleep", "turn", "restart", "reply"] as const;

/** One of them. */
export type Command = (typeof commands)[number];

/** Steps of the command `steps`. One fails once before it succeeds, in every run. */
export const stepNames: readonly string[] = ["first", "flaky", "third"];

/**
 * An agent with a command for everything that is written on behalf of a task. Each is the same every time, so that what
 * is seen of an undisturbed run is what has to be seen of a disturbed one.
 *
 * @param effects where its steps leave their traces
 */
export function createFaultAgent(effects: Effects): AgentDefinition {
  const durable: Partial<Record<Command, DurableExecutor>> = {
    stream,
    steps: (task) => steps(task, effects),
    ask,
    inbox,
    sleep: (task) => sleep(task, effects),
  };
  const skill = (id: string) => ({ id, name: id, description: id, tags: [] });
  return defineAgent({
    card: {
      name: "Fault agent",
      skills: [
        ...Object.entries(durable).map(([id, execute]) => ({
          ...skill(id),
          durable: true as const,
          execute,
        })),
        { ...skill("turn"), execute: turn },
        { ...skill("restart"), execute: turn, recovery: "restart" },
        { ...skill("reply"), execute: reply },
      ],
    },
    lifecycle: { asks: true, asksForAuth: true },
    taskAfterMs: 20_000, // by a clock that runs 20 times as fast a direct Message would have 10 ms
    route: (message) => commands.find((command) => partText(message).startsWith(command)),
  });
}

async function* stream(task: DurableTask): AsyncGenerator<DurableEvent, void, Message> {
  const { chunks, pauseMs } = readNumbers(task);
  for (let chunk = 1; chunk <= chunks; chunk++) {
    yield task.append("stream", `chunk ${chunk} ${"ü".repeat(50 * chunk)}`, { last: chunk === chunks });
    await task.sleep(pauseMs);
  }
}

async function* steps(task: DurableTask, effects: Effects): AsyncGenerator<DurableEvent, void, Message> {
  const thrown = task.random();
  yield task.working(`dice ${thrown}`);
  for (const [index, name] of stepNames.entries()) {
    const options = { retries: 1, backoff: { initialMs: 1 } };
    const result = await task.step(
      name,
      ({ attempt }) => {
        if (name === "flaky" && attempt === 1) throw new Error("not the first time");
        effects.did(task.taskId, name);
        return { index };
      },
      options,
    );
    effects.returned(task.taskId, name);
    yield task.artifact({ name, data: { index: result.index } });
  }
  yield task.complete(`dice ${thrown}`);
}

async function* ask(task: DurableTask): AsyncGenerator<DurableEvent, void, Message> {
  const { text } = yield* task.ask({ text: "Yes or no?", choices: ["yes", "no"] });
  yield task.artifact({ name: "answer", text });
  yield* task.askForAuth("Sign in, please.");
}

async function* inbox(task: DurableTask): AsyncGenerator<DurableEvent, void, Message> {
  yield task.working("waiting for two messages");
  const first = await task.inbox.take();
  yield task.artifact({ name: "first", text: partText(first) });
  const second = await task.inbox.take();
  yield task.artifact({ name: "second", text: partText(second) });
}

async function* sleep(task: DurableTask, effects: Effects): AsyncGenerator<DurableEvent, void, Message> {
  yield task.working("sleeping");
  try {
    await task.sleep(3_600_000);
  } finally {
    await task.step("clean up", () => effects.did(task.taskId, "clean up"));
    effects.returned(task.taskId, "clean up");
  }
}

const turn: TurnExecutor = async function* (turn) {
  const { chunks, pauseMs } = readNumbers(turn);
  yield turn.working("begun");
  for (let chunk = 1; chunk <= chunks; chunk++) {
    yield turn.append("stream", `chunk ${chunk} `);
    await pause(pauseMs);
  }
};

const reply: TurnExecutor = function* (turn) {
  yield turn.reply(`to ${turn.text}`);
};

/** `stream`, `turn` and `restart` may be followed by how many chunks they give, and the milliseconds between two. */
function readNumbers({ text }: { readonly text: string }): {
  readonly chunks: number;
  readonly pauseMs: number;
} {
  const [, chunks = "6", pauseMs = "1"] = /^\w+ (\d+) (\d+)$/.exec(text) ?? [];
  return { chunks: Number(chunks), pauseMs: Number(pauseMs) };
}
