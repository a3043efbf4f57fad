import { CliError } from "../cli-error.ts";
import type { CommandRun } from "../command-run.ts";
import { lookCommand } from "../task/hints.ts";
import { maskSettings } from "../wire-log/mask-settings.ts";
import { createOutput } from "./create-output.ts";
import { describeFailure } from "./describe-failure.ts";
import type { Failure } from "./failure.ts";
import { LostOutputError } from "./lost-output-error.ts";
import type { Output } from "./output.ts";
import { findOutputFormat } from "./output-format.ts";

/**
 * Prints what went wrong: the envelope of a2a-cli Appendix B on stdout in `json`, sentences on stderr in `text`. Agents
 * that repeat a credential in their answer are not quoted with it.
 *
 * @returns the exit code that belongs to it
 */
export async function reportFailure(run: CommandRun, error: unknown): Promise<number> {
  const { settings } = run;
  const mask = settings === undefined ? (text: string) => text : maskSettings(settings).text;
  const failure = await describeFailure(causeOf(run, error), {
    hasCredentials: (settings?.bearer ?? settings?.apiKey) !== undefined,
    a2aVersion: settings?.a2aVersion,
    lookCommand: settings === undefined ? undefined : lookCommand(settings),
  });
  const output = run.output ?? createOutput(run.io, findOutputFormat(run.argv, run.io.env));
  const told = { ...failure, message: mask(failure.message) };
  const isDocument = output.format === "json" && (output.streaming || !output.answered);
  if (!isDocument || !(await printDocument(output, told))) await printSentences(output, told);
  if (settings?.debug === true && error instanceof Error && failure.code === "A2ACLI_ERR_INTERNAL") {
    await output.note(`debug: ${mask(error.stack ?? "")}`);
  }
  return failure.exitCode;
}

/** @returns false when nobody gets it: the exit code stays what it is, and sentences may be seen */
async function printDocument(output: Output, { code, message, hint, a2aCode }: Failure): Promise<boolean> {
  try {
    await output.document({ error: { code, message, hint, a2aCode } });
    return true;
  } catch (error) {
    if (error instanceof LostOutputError) return false;
    throw error;
  }
}

async function printSentences(output: Output, { code, message, hint }: Failure): Promise<void> {
  await output.note(`error: ${message} [${code}]`);
  if (hint !== null) await output.note(`hint: ${hint}`);
}

/** After `--timeout` has expired, whatever it broke is a timeout, unless the command has said so in its own words. */
function causeOf({ timeout }: CommandRun, error: unknown): unknown {
  return timeout?.aborted === true && !(error instanceof CliError) ? timeout.reason : error;
}
