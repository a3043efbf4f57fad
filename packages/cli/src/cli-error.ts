import { defined } from "./json.ts";

/** The errors of the command itself: a2a-cli Appendix D, code and exit status. */
export const cliErrors = {
  A2ACLI_ERR_USAGE: 2,
  A2ACLI_ERR_CARD_NOT_FOUND: 3,
  A2ACLI_ERR_CARD_INVALID: 1,
  A2ACLI_ERR_UNREACHABLE: 3,
  A2ACLI_ERR_CREDENTIALS_MISSING: 4,
  A2ACLI_ERR_AUTH_FAILED: 4,
  A2ACLI_ERR_TIMEOUT: 5,
  A2ACLI_ERR_INTERNAL: 1,
} as const;

export type CliErrorCode = keyof typeof cliErrors;

/** A command could not do its job, for a reason that the protocol has no name for. */
export class CliError extends Error {
  readonly code: CliErrorCode;
  /** What to do next, best a command to copy. */
  readonly hint: string | undefined;

  constructor(
    code: CliErrorCode,
    message: string,
    options: { readonly hint?: string | undefined; readonly cause?: unknown } = {},
  ) {
    super(message, defined({ cause: options.cause }));
    this.name = "CliError";
    this.code = code;
    this.hint = options.hint;
  }
}

/** The command was used in a way that cannot be meant. @param hint what to do instead */
export function usageError(message: string, hint?: string, cause?: unknown): CliError {
  return new CliError("A2ACLI_ERR_USAGE", message, { hint, cause });
}

/** What an error says, and what caused it: `fetch failed` alone tells nothing. */
export function describeCauses(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${describeCauses(error.cause)}` : error.message;
}

/** The system's code for a failure. Errors of `fetch` are wrapped, and of several addresses there is a list. */
export function codeOf(error: unknown, depth = 0): string | undefined {
  if (typeof error === "string") return error; // what a TLS socket has as its authorizationError
  if (!(error instanceof Error) || depth > 5) return undefined;
  const own = "code" in error && typeof error.code === "string" ? error.code : undefined;
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  return codeOf(inner, depth + 1) ?? (own === "ABORT_ERR" ? undefined : own);
}

/** What is printed about an error, and the exit code (a2a-cli Appendix B and D). */
export interface Failure {
  /** `A2ACLI_ERR_…`, or the A2A name of what the agent answered. */
  readonly code: string;
  readonly message: string;
  readonly hint: string | null;
  /** The JSON-RPC number of what the agent answered, whichever wire it came over. */
  readonly a2aCode: string | number | null;
  readonly exitCode: number;
}

/** What the caller knows about the call that failed. */
export interface FailureSituation {
  readonly hasCredentials: boolean;
  /** The only version that was to be used, when there was one. */
  readonly a2aVersion?: string | undefined;
  /** The command that shows what became of a message that was not answered, where one is known. */
  readonly lookCommand?: string | undefined;
}

export function localFailure(code: CliErrorCode, message: string, hint: string | undefined): Failure {
  return { code, message, hint: hint ?? null, a2aCode: null, exitCode: cliErrors[code] };
}
