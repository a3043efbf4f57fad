/** What a stream says when nobody is at its other end any more. */
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
  /** Whether whoever read has gone, as `head` does when it has enough; otherwise writing failed, as on a full disk. */
  readonly isClosed: boolean;

  constructor(cause: unknown) {
    const { code, message } = describe(cause);
    super(message, { cause });
    this.isClosed = closedCodes.has(code);
  }
}

/** The system's own sentence, without the code and the call that Node puts around it. */
function describe(cause: unknown): { readonly code: string; readonly message: string } {
  if (!(cause instanceof Error)) return { code: "", message: "writing failed" };
  const code = "code" in cause && typeof cause.code === "string" ? cause.code : "";
  return { code, message: cause.message.replace(/^[A-Z\d_]+: /, "").replace(/, write$/, "") };
}
