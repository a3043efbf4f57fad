import { homedir } from "node:os";
import type { Writable } from "node:stream";
import type { CliIo, TextSink } from "./cli-io.ts";

/** Nobody reads what the command prints any more. It ends quietly. */
export class ClosedOutputError extends Error {
  override readonly name = "ClosedOutputError";
}

/** The command's process as it is. The second Ctrl-C ends it at once. */
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
    interrupted: watchInterrupts(),
  };
}

function createSink(stream: Writable, isTerminal: boolean): TextSink {
  let closed = false;
  stream.on("error", () => {
    closed = true;
  });
  return {
    isTerminal,
    write: (text) =>
      new Promise((resolve, reject) => {
        if (closed) {
          reject(new ClosedOutputError());
          return;
        }
        stream.write(text, (error) => {
          if (error === null || error === undefined) {
            resolve();
          } else {
            closed = true;
            reject(new ClosedOutputError());
          }
        });
      }),
  };
}

/** A terminal, npm and a watcher may each send the same signal: within this time several are one. */
const sameSignalMs = 500;

/** Diagnostics that nobody reads are no reason to end. */
function withoutFailures({ isTerminal, write }: TextSink): TextSink {
  return { isTerminal, write: (text) => write(text).catch(() => {}) };
}

function watchInterrupts(): AbortSignal {
  const controller = new AbortController();
  let firstAt = 0;
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    process.on(signal, () => {
      const again = controller.signal.aborted && Date.now() - firstAt >= sameSignalMs;
      if (again) {
        process.exit(code);
      }
      firstAt = controller.signal.aborted ? firstAt : Date.now();
      controller.abort();
    });
  }
  return controller.signal;
}
