import { CommanderError } from "commander";
import { CliError, type CliErrorCode, cliErrors } from "../cli-error.ts";

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
}

/** Puts a name to whatever was thrown. What only a call can throw is looked at in a file of its own, loaded for it. */
export async function describeFailure(error: unknown, situation: FailureSituation): Promise<Failure> {
  if (error instanceof CliError) {
    return localFailure(error.code, error.message, error.hint);
  }
  if (error instanceof CommanderError) {
    const message = error.message.replace(/^error: /, "").replace(/\n/g, " ");
    return error.code === "commander.help"
      ? localFailure("A2ACLI_ERR_USAGE", "a command is missing", "a2a help lists the commands")
      : localFailure("A2ACLI_ERR_USAGE", message, "a2a help COMMAND lists its arguments and options");
  }
  const { describeCallFailure } = await import("./describe-call-failure.ts");
  return describeCallFailure(error, situation);
}

/** A failure of the command itself. */
export function localFailure(code: CliErrorCode, message: string, hint: string | undefined): Failure {
  return { code, message, hint: hint ?? null, a2aCode: null, exitCode: cliErrors[code] };
}
