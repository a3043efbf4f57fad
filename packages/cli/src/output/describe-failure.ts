import { CommanderError } from "commander";
import { CliError } from "../cli-error.ts";
import { type Failure, type FailureSituation, localFailure } from "./failure.ts";

/** Puts a name to whatever was thrown. What only a call can throw is looked at in a file of its own, loaded for it. */
export async function describeFailure(error: unknown, situation: FailureSituation): Promise<Failure> {
  if (error instanceof CliError) {
    return localFailure(error.code, error.message, error.hint);
  }
  if (error instanceof CommanderError) {
    // What follows the name of an unknown option may be a credential.
    const message = error.message
      .replace(/^error: /, "")
      .replace(/(option '--[\w-]+)=[^']*/, "$1")
      .replace(/\n/g, " ");
    return error.code === "commander.help"
      ? localFailure("A2ACLI_ERR_USAGE", "a command is missing", "a2a help lists the commands")
      : localFailure("A2ACLI_ERR_USAGE", message, "a2a help COMMAND lists its arguments and options");
  }
  const { describeCallFailure } = await import("./describe-call-failure.ts");
  return describeCallFailure(error, situation);
}
