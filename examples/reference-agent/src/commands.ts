import { setImmediate as nextTurn } from "node:timers/promises";
import { bytes, fileUrl, json, text } from "@a2a-connect/core";
import type { Turn, TurnEvent, TurnExecutor } from "@a2a-connect/server";
import { pause } from "./pause.ts";

/** One command: the whole first text part has to match. */
interface Command {
  readonly usage: string;
  readonly pattern: RegExp;
  /** Upper bounds of the numbers that the pattern captures, in order; 0 is the lowest. */
  readonly limits?: readonly number[];
  readonly run: (
    turn: Turn,
    words: readonly string[],
    numbers: readonly number[],
  ) => ReturnType<TurnExecutor>;
}

const hour = 3_600_000;
const chunkBytes = 1_000;

const commands: readonly Command[] = [
  {
    usage: "echo TEXT        a direct Message",
    pattern: /^echo (.+)$/s,
    *run(turn, [words = ""]) {
      yield turn.reply(words);
    },
  },
  {
    usage: "task TEXT        WORKING, an artifact, COMPLETED",
    pattern: /^task (.+)$/s,
    *run(turn, [words = ""]) {
      yield turn.working();
      yield turn.artifact({ name: "result", text: words });
    },
  },
  {
    usage: "stream N [MS]    N chunks of 1 KB, MS milliseconds apart",
    pattern: /^stream (\d+)(?: (\d+))?$/,
    limits: [100_000, hour],
    async *run(turn, _words, [count = 0, ms = 0]) {
      for (const chunk of chunks(turn, count)) {
        yield chunk;
        await (ms === 0 ? nextTurn() : pause(ms, turn.signal));
      }
    },
  },
  {
    usage: "burst N          the same without ever waiting",
    pattern: /^burst (\d+)$/,
    limits: [100_000],
    *run(turn, _words, [count = 0]) {
      yield* chunks(turn, count);
    },
  },
  {
    usage: "replace N KB     N updates of KB kilobytes, each replacing the one before",
    pattern: /^replace (\d+) (\d+)$/,
    limits: [1_000_000, 1_024],
    async *run(turn, _words, [count = 0, kilobytes = 0]) {
      for (let round = 1; round <= count; round++) {
        yield turn.artifact({ id: "replaced", text: filler(`update ${round} `, kilobytes * 1_024 || 16) });
        await nextTurn();
      }
    },
  },
  {
    usage: "ask QUESTION     INPUT_REQUIRED, then an artifact with the answer",
    pattern: /^ask (.+)$/s,
    *run(turn, [question = ""]) {
      yield turn.task === undefined
        ? turn.inputRequired(question)
        : turn.artifact({ name: "answer", text: turn.text });
    },
  },
  {
    usage: "auth             AUTH_REQUIRED, then COMPLETED",
    pattern: /^auth$/,
    *run(turn) {
      yield turn.task === undefined
        ? turn.authRequired(
            "Sign in where this agent keeps its credentials, then send any message to this task.",
          )
        : turn.complete("Thank you, that is enough.");
    },
  },
  {
    usage: "sleep MS         COMPLETED after MS milliseconds",
    pattern: /^sleep (\d+)$/,
    limits: [hour],
    async *run(turn, _words, [ms = 0]) {
      yield turn.working();
      await pause(ms, turn.signal);
      yield turn.complete(`slept ${ms} ms`);
    },
  },
  {
    usage: "steps N MS       N journaled steps (needs a durable executor)",
    pattern: /^steps (\d+) (\d+)$/,
    limits: [1_000, hour],
    *run(turn) {
      yield turn.reject("Steps are kept by durable executors, which this version does not have yet.", {
        reason: "unsupported",
      });
    },
  },
  {
    usage: "parts            an artifact with all four kinds of part",
    pattern: /^parts$/,
    *run(turn) {
      yield turn.artifact({
        name: "parts",
        parts: [
          text("text"),
          bytes(new Uint8Array([0, 1, 2, 253, 254, 255]), { filename: "bytes.bin" }),
          fileUrl("https://example.com/file.txt", { mediaType: "text/plain" }),
          json({ nested: { list: [1, "two", null] } }),
        ],
      });
    },
  },
  {
    usage: "big BYTES        an artifact of that size",
    pattern: /^big (\d+)$/,
    limits: [16 * 2 ** 20],
    *run(turn, _words, [size = 0]) {
      yield turn.artifact({ name: "big", text: filler("big ", size) });
    },
  },
  {
    usage: "fail WHY         FAILED",
    pattern: /^fail (.+)$/s,
    *run(turn, [why = ""]) {
      yield turn.fail(why);
    },
  },
  {
    usage: "reject WHY       REJECTED",
    pattern: /^reject (.+)$/s,
    *run(turn, [why = ""]) {
      yield turn.reject(why);
    },
  },
  {
    usage: "throw            an error inside the agent",
    pattern: /^throw$/,
    async *run(turn) {
      yield turn.working();
      throw new Error("thrown on purpose; callers must not see these words");
    },
  },
  {
    usage: "hang             never ends and ignores its signal: cancel it",
    pattern: /^hang$/,
    async *run(turn) {
      yield turn.working();
      await new Promise(() => {});
    },
  },
];

/** One line for each command. */
export const commandUsage: readonly string[] = commands.map(({ usage }) => usage);

/**
 * Does what the words of a new task say; a follow-up is the answer to the question of its task, whatever it says.
 * Anything that is no command is echoed.
 */
export function runCommand(turn: Turn): ReturnType<TurnExecutor> {
  const words = firstText(turn.task?.history[0] ?? turn.message);
  for (const { pattern, limits = [], usage, run } of commands) {
    const match = pattern.exec(words)?.slice(1);
    if (match !== undefined) {
      const numbers = match.map((word: string | undefined) => Number(word ?? 0)); // a group may be left out
      const over = limits.findIndex((limit, index) => (numbers[index] ?? 0) > limit);
      return over === -1 ? run(turn, match, numbers) : refuse(turn, usage, limits[over]);
    }
  }
  return echo(turn);
}

function firstText({ parts }: Turn["message"]): string {
  const part = parts.find(({ content }) => content.case === "text");
  return part?.content.case === "text" ? part.content.value : "";
}

function* refuse(turn: Turn, usage: string, limit: number | undefined): Generator<TurnEvent> {
  yield turn.reject(`A number is too large: at most ${limit}. Usage: ${usage}`, { reason: "out-of-range" });
}

function* echo(turn: Turn): Generator<TurnEvent> {
  yield turn.artifact({ name: "echo", parts: turn.message.parts });
  yield turn.complete(turn.text === "" ? "Received." : turn.text);
}

function* chunks(turn: Turn, count: number): Generator<TurnEvent> {
  for (let index = 1; index <= count; index++) {
    yield turn.append("stream", filler(`chunk ${index} `, chunkBytes));
  }
}

/** `head` repeated up to `length` characters. */
function filler(head: string, length: number): string {
  return head.repeat(Math.ceil(length / head.length)).slice(0, length) || " ";
}
