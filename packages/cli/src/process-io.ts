import { homedir } from "node:os";
import type { Writable } from "node:stream";
import type { CliIo, TextSink } from "./cli-io.ts";
import { watchInterrupts } from "./interrupts.ts";
import { LostOutputError } from "./output/lost-output-error.ts";

/** The command's process as it is. */
export function createProcessIo(): CliIo {
  return {
    stdout: createSink(process.stdout, process.stdout.isTTY),
    stderr: withoutFailures(createSink(process.stderr, process.stderr.isTTY)),
    get stdin() {
      return process.stdin; // opening it keeps a process alive, so only who reads it does
    },
    env: process.env,
    cwd: process.cwd(),
    home: process.env["HOME"] ?? homedir(),
    interrupted: watchInterrupts(process),
  };
}

function createSink(stream: Writable, isTerminal: boolean): TextSink {
  let lost: LostOutputError | undefined;
  const lose = (error: unknown): LostOutputError => {
    lost ??= new LostOutputError(error);
    return lost;
  };
  stream.on("error", lose);
  return {
    isTerminal,
    write: (text) =>
      new Promise((resolve, reject) => {
        if (lost !== undefined) {
          reject(lost);
          return;
        }
        stream.write(text, (error) => {
          if (error === null || error === undefined) resolve();
          else reject(lose(error));
        });
      }),
  };
}

/** Diagnostics that nobody reads are no reason to end. */
function withoutFailures({ isTerminal, write }: TextSink): TextSink {
  return { isTerminal, write: (text) => write(text).catch(() => {}) };
}
