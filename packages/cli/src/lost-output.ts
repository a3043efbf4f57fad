import { codeOf } from "./cli-error.ts";

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

interface LosingCommand {
  /** What the command had decided on. */
  readonly exitCode: number;
  readonly needsReader: boolean;
  readonly stderr: { write(text: string): Promise<void> };
}

/**
 * The exit code of a command whose output does not arrive: what it had decided on, unless that was success. A reader who has
 * enough is in order (`a2a task list | head`), but not where the exit code is what the command is for: that ends as quietly, and
 * with 1.
 */
export async function afterLostOutput(
  error: LostOutputError,
  { exitCode, needsReader, stderr }: LosingCommand,
): Promise<number> {
  if (error.isClosed && !needsReader) return exitCode;
  if (!error.isClosed) {
    await stderr.write(`error: the output could not be written: ${error.message} [A2ACLI_ERR_INTERNAL]\n`);
  }
  return exitCode === 0 ? 1 : exitCode;
}
