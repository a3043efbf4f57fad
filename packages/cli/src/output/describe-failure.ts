import { CliError } from "../cli-error.ts";
import { type Failure, type FailureSituation, localFailure } from "./failure.ts";

/** Puts a name to whatever was thrown. What only a call can throw is looked at in a file of its own, loaded for it. */
export async function describeFailure(error: unknown, situation: FailureSituation): Promise<Failure> {
  if (error instanceof CliError) {
    return localFailure(error.code, error.message, error.hint);
  }
  const { describeCallFailure } = await import("./describe-call-failure.ts");
  return describeCallFailure(error, situation);
}
