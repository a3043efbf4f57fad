import { CliError } from "../cli-error.ts";
import type { CommandRun } from "../command-run.ts";
import { lookCommand } from "../task/hints.ts";
import { maskSettings } from "../wire-log/mask-settings.ts";
import { createOutput } from "./create-output.ts";
import { describeFailure } from "./describe-failure.ts";
import { findOutputFormat } from "./output-format.ts";

/**
 * Prints what went wrong: the envelope of a2a-cli Appendix B on stdout in `json`, sentences on stderr in `text`. Agents
 * that repeat a credential in their answer are not quoted with it.
 *
 * @returns the exit code that belongs to it
 */
export async function reportFailure(run: CommandRun, error: unknown): Promise<number> {
  const output = run.output ?? createOutput(run.io, findOutputFormat(run.argv, run.io.env));
  const { settings } = run;
  const mask = settings === undefined ? (text: string) => text : maskSettings(settings).text;
  const failure = await describeFailure(causeOf(run, error), {
    hasCredentials: (settings?.bearer ?? settings?.apiKey) !== undefined,
    a2aVersion: settings?.a2aVersion,
    lookCommand: settings === undefined ? undefined : lookCommand(settings),
  });
  if (output.format === "json" && (output.streaming || !output.answered)) {
    const { code, message, hint, a2aCode } = failure;
    await output.document({ error: { code, message: mask(message), hint, a2aCode } });
  } else {
    await output.note(`error: ${mask(failure.message)} [${failure.code}]`);
    if (failure.hint !== null) {
      await output.note(`hint: ${failure.hint}`);
    }
  }
  if (settings?.debug === true && error instanceof Error && failure.code === "A2ACLI_ERR_INTERNAL") {
    await output.note(`debug: ${mask(error.stack ?? "")}`);
  }
  return failure.exitCode;
}

/** After `--timeout` has expired, whatever it broke is a timeout, unless the command has said so in its own words. */
function causeOf({ timeout }: CommandRun, error: unknown): unknown {
  return timeout?.aborted === true && !(error instanceof CliError) ? timeout.reason : error;
}
