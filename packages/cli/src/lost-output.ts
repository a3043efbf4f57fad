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
