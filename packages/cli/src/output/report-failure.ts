import { CliError } from "../cli-error.ts";
import type { CommandRun } from "../command-run.ts";
import { createOutput } from "./create-output.ts";
import { describeFailure } from "./describe-failure.ts";
import { findOutputFormat } from "./output-format.ts";

/**
 * Prints what went wrong: the envelope of a2a-cli Appendix B on stdout in `json`, sentences on stderr in `text`.
 *
 * @returns the exit code that belongs to it
 */
export async function reportFailure(run: CommandRun, error: unknown): Promise<number> {
  const output = run.output ?? createOutput(run.io, findOutputFormat(run.argv, run.io.env));
  const credentials = run.settings?.bearer ?? run.settings?.apiKey;
  const failure = await describeFailure(causeOf(run, error), { hasCredentials: credentials !== undefined });
  if (output.format === "json" && (output.streaming || !output.answered)) {
    const { code, message, hint, a2aCode } = failure;
    await output.document({ error: { code, message, hint, a2aCode } });
  } else {
    await output.note(`error: ${failure.message} [${failure.code}]`);
    if (failure.hint !== null) {
      await output.note(`hint: ${failure.hint}`);
    }
  }
  if (run.settings?.debug === true && error instanceof Error && failure.code === "A2ACLI_ERR_INTERNAL") {
    const { maskSettings } = await import("../wire-log/wire-log.ts");
    await output.note(`debug: ${maskSettings(run.settings).text(error.stack ?? "")}`);
  }
  return failure.exitCode;
}

/** After `--timeout` has expired, whatever it broke is a timeout, unless the command has said so in its own words. */
function causeOf({ timeout }: CommandRun, error: unknown): unknown {
  return timeout?.aborted === true && !(error instanceof CliError) ? timeout.reason : error;
}
