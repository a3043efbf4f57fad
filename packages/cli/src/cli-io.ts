import { homedir } from "node:os";
import type { Readable, Writable } from "node:stream";
import { codeOf } from "./cli-error.ts";
import { watchInterrupts } from "./interrupts.ts";

/** Where text goes, in order. */
export interface TextSink {
  /** Resolves when it was taken. @throws LostOutputError (as a rejection) when it is not, from then on always */
  write(text: string): Promise<void>;
  readonly isTerminal: boolean;
}

/** What a stream says when its other end is closed. */
const closedCodes: ReadonlySet<string> = new Set([
  "EPIPE",
  "ECONNRESET",
  "EOF",
  "ERR_STREAM_DESTROYED",
  "ERR_STREAM_WRITE_AFTER_END",
]);

/** What the command prints does not arrive where it goes. */
export class LostOutputError extends Error {
  override readonly name = "LostOutputError";
  /** Whether the reader has gone, as `head` does when it has enough; otherwise writing failed, as on a full disk. */
  readonly isClosed: boolean;

  constructor(cause: unknown) {
    // The system's own sentence, without the code and the call that Node puts around it.
    const said = cause instanceof Error ? cause.message : "writing failed";
    super(said.replace(/^[A-Z\d_]+: /, "").replace(/, write$/, ""), { cause });
    this.isClosed = closedCodes.has(codeOf(cause) ?? "");
  }
}

/** Everything the command touches of its process, so that tests can stand in for it. */
export interface CliIo {
  readonly stdout: TextSink;
  readonly stderr: TextSink;
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Where the global configuration is: `$HOME`. */
  readonly home: string;
  /**
   * Aborted by the first Ctrl-C: commands detach, say how to go on, and end. The second one kills, and so does the clock
   * after a while.
   */
  readonly interrupted: AbortSignal;
}

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
        if (lost !== undefined) reject(lost);
        else stream.write(text, (error) => (error ? reject(lose(error)) : resolve()));
      }),
  };
}

/** Diagnostics without a reader are no reason to end. */
function withoutFailures({ isTerminal, write }: TextSink): TextSink {
  return { isTerminal, write: (text) => write(text).catch(() => {}) };
}
