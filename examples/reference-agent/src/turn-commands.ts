import { bytes, fileUrl, json, text } from "@a2a-connect/core";
import { type Turn, TurnAbort, type TurnEvent } from "@a2a-connect/server";
import type { Command } from "./command.ts";
import { chunks, filler } from "./filler.ts";
import { pause } from "./pause.ts";

type TurnCommand = Command<Turn, TurnEvent>;

/** What is done in one turn: a crash ends it. */
export const turnCommands: readonly TurnCommand[] = [
  {
    usage: "echo TEXT          a direct Message",
    pattern: /^echo (.+)$/s,
    *run(turn, [words = ""]) {
      yield turn.reply(words);
    },
  },
  {
    usage: "task TEXT          WORKING, an artifact, COMPLETED",
    pattern: /^task (.+)$/s,
    *run(turn, [words = ""]) {
      yield turn.working();
      yield turn.artifact({ name: "result", text: words });
    },
  },
  {
    usage: "burst N            N chunks of 1 KB without ever waiting",
    pattern: /^burst (\d+)$/,
    limits: [100_000],
    *run(turn, _words, [count = 0]) {
      yield* chunks(turn, count);
    },
  },
  {
    usage: "parts              an artifact with all four kinds of part",
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
    usage: "big BYTES          an artifact of that size",
    pattern: /^big (\d+)$/,
    limits: [16 * 2 ** 20],
    *run(turn, _words, [size = 0]) {
      yield turn.artifact({ name: "big", text: filler("big ", size) });
    },
  },
  {
    usage: "fail WHY           FAILED",
    pattern: /^fail (.+)$/s,
    *run(turn, [why = ""]) {
      yield turn.fail(why);
    },
  },
  {
    usage: "reject WHY         REJECTED",
    pattern: /^reject (.+)$/s,
    *run(turn, [why = ""]) {
      yield turn.reject(why);
    },
  },
  {
    usage: "throw              an error inside the agent",
    pattern: /^throw$/,
    async *run(turn) {
      yield turn.working();
      throw new Error("thrown on purpose; callers must not see these words");
    },
  },
  {
    usage: "hang               never ends and ignores its signal: cancel it",
    pattern: /^hang$/,
    async *run(turn) {
      yield turn.working();
      await new Promise(() => {});
    },
  },
  {
    usage: "until-canceled     WORKING; when it is canceled, an artifact with the metadata of the cancel",
    pattern: /^until-canceled$/,
    async *run(turn) {
      yield turn.working();
      yield turn.artifact({ name: "cancel", parts: [json(await cancelOf(turn.signal))] });
    },
  },
  {
    usage: "silent             says nothing, so that its task stays SUBMITTED: cancel it",
    pattern: /^silent$/,
    async *run(turn) {
      yield* [];
      await cancelOf(turn.signal);
    },
  },
  {
    usage:
      "seen               an artifact with the media types that the caller takes, and the active extensions",
    pattern: /^seen$/,
    *run({ acceptedOutputModes, extensions, artifact }) {
      yield artifact({
        name: "seen",
        parts: [json({ acceptedOutputModes: [...acceptedOutputModes], extensions: [...extensions] })],
      });
    },
  },
  {
    usage: "question TEXT      INPUT_REQUIRED; the next message is the next command of the same task",
    pattern: /^question (.+)$/s,
    *run(turn, [words = ""]) {
      yield turn.inputRequired(words);
    },
  },
  {
    usage: "sign-in TEXT       the same with AUTH_REQUIRED",
    pattern: /^sign-in (.+)$/s,
    *run(turn, [words = ""]) {
      yield turn.authRequired(words);
    },
  },
  {
    usage: "piece TEXT         the same after an artifact",
    pattern: /^piece (.+)$/s,
    *run(turn, [words = ""]) {
      yield turn.artifact({ name: "piece", text: words });
      yield turn.inputRequired("What is next?");
    },
  },
  {
    usage: "throw-now          an error inside the agent before there is a task",
    pattern: /^throw-now$/,
    *run() {
      yield* [];
      throw new Error("thrown on purpose; callers must not see these words");
    },
  },
  {
    usage: "wrong              an artifact that the schema does not allow, before there is a task",
    pattern: /^wrong$/,
    *run(turn) {
      yield turn.artifact({ parts: [] });
    },
  },
  {
    usage: "work-wrong         the same after WORKING and a good artifact",
    pattern: /^work-wrong$/,
    *run(turn) {
      yield turn.working();
      yield turn.artifact({ text: "half" });
      yield turn.artifact({ parts: [] });
    },
  },
  {
    usage: "turn TEXT          10 chunks with TEXT, 200 ms apart",
    pattern: /^turn (.+)$/s,
    run: (turn, [words = ""]) => slowChunks(turn, words),
  },
];

/** What is done in one turn, too: a crash makes it begin again. */
export const restartingCommands: readonly TurnCommand[] = [
  {
    usage: "turn-restart TEXT  10 chunks with TEXT, 200 ms apart",
    pattern: /^turn-restart (.+)$/s,
    run: (turn, [words = ""]) => slowChunks(turn, words),
  },
];

/** Resolves with the metadata of the cancel when there is one. */
async function cancelOf(signal: AbortSignal): Promise<NonNullable<TurnAbort["metadata"]>> {
  if (!signal.aborted) {
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }
  const { reason } = signal;
  return reason instanceof TurnAbort ? (reason.metadata ?? {}) : {};
}

async function* slowChunks(turn: Turn, words: string): AsyncGenerator<TurnEvent> {
  for (let index = 1; index <= 10; index++) {
    yield turn.append("turn", `${words} ${index}\n`);
    await pause(200, turn.signal);
  }
}
