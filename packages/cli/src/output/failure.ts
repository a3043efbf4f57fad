import { type CliErrorCode, cliErrors } from "../cli-error.ts";

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
  /** Whether a credential was given. */
  readonly hasCredentials: boolean;
  /** The only version that was to be used, when there was one. */
  readonly a2aVersion?: string | undefined;
  /** The command that shows what became of a message that was not answered, where one is known. */
  readonly lookCommand?: string | undefined;
}

/** A failure of the command itself. */
export function localFailure(code: CliErrorCode, message: string, hint: string | undefined): Failure {
  return { code, message, hint: hint ?? null, a2aCode: null, exitCode: cliErrors[code] };
}
