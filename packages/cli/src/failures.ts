import { type Command, CommanderError } from "commander";
import { CliError, type Failure, type FailureSituation, localFailure, usageError } from "./cli-error.ts";
import { type CliIo, LostOutputError } from "./cli-io.ts";
import { lookCommand } from "./commands-to-copy.ts";
import type { CommandRun } from "./context.ts";
import { createOutput, type Output } from "./output.ts";
import type { Settings } from "./settings/resolve.ts";
import { maskSettings } from "./wire-log/masking.ts";

/**
 * Prints what went wrong: the envelope of a2a-cli Appendix B on stdout in `json`, sentences on stderr in `text`. Agents
 * that repeat a credential in their answer are not quoted with it.
 *
 * @returns the exit code that belongs to it
 */
export async function reportFailure(run: CommandRun, error: unknown, program: Command): Promise<number> {
  const { settings } = run;
  const mask = settings === undefined ? (text: string) => text : maskSettings(settings).text;
  const failure = await describeFailure(causeOf(run, error, program), {
    hasCredentials: (settings?.bearer ?? settings?.apiKey) !== undefined,
    a2aVersion: settings?.a2aVersion,
    lookCommand: settings === undefined ? undefined : lookCommand(settings),
  });
  const output = run.output ?? createOutput(run.io, findOutputFormat(run.argv, run.io.env));
  const told = { ...failure, message: mask(failure.message) };
  const isDocument = output.format === "json" && (output.streaming || !output.answered);
  if (!isDocument || !(await printDocument(output, told))) {
    await output.note(`error: ${told.message} [${told.code}]`);
    if (told.hint !== null) await output.note(`hint: ${told.hint}`);
  }
  if (settings?.debug === true && error instanceof Error && failure.code === "A2ACLI_ERR_INTERNAL") {
    await output.note(`debug: ${mask(error.stack ?? "")}`);
  }
  return failure.exitCode;
}

/** @returns false when stdout has no reader: the exit code stays what it is, and stderr may have one */
async function printDocument(output: Output, { code, message, hint, a2aCode }: Failure): Promise<boolean> {
  try {
    await output.document({ error: { code, message, hint, a2aCode } });
    return true;
  } catch (error) {
    if (error instanceof LostOutputError) return false;
    throw error;
  }
}

/** After an interruption or `--timeout`, any error is that one, unless the command has said in its own words what it means. */
function causeOf({ argv, io, timeout }: CommandRun, error: unknown, program: Command): unknown {
  if (error instanceof CliError) return error;
  // a2a-cli has no code for it.
  if (io.interrupted.aborted)
    return new CliError("A2ACLI_ERR_INTERNAL", "interrupted before the command had finished");
  if (timeout?.aborted === true) return timeout.reason;
  return error instanceof CommanderError ? toUsageError(error, program, argv) : error;
}

/** Puts a name to what was thrown. Errors of calls are described by a file of its own, loaded when there is one. */
export async function describeFailure(error: unknown, situation: FailureSituation): Promise<Failure> {
  if (error instanceof CliError) return localFailure(error.code, error.message, error.hint);
  const { describeCallFailure } = await import("./call-failures.ts");
  return describeCallFailure(error, situation);
}

/** How a failure is printed when the options could not be read: as what was typed, or the environment, looks like. */
function findOutputFormat(
  argv: readonly string[],
  env: CliIo["env"],
): Pick<Settings, "output" | "stream" | "verbose"> {
  const words = argv.join(" ");
  const typed = [...words.matchAll(/(?:^| )(?:--output[ =]|-o ?=?)(json|text)\b/g)].at(-1)?.[1];
  return {
    output: (typed ?? env["A2ACLI_OUTPUT"]) === "json" ? "json" : "text",
    stream: argv.includes("--stream"),
    verbose: false,
  };
}

/** What commander found wrong with the command line, with the help that tells how it is meant. */
function toUsageError(error: CommanderError, program: Command, argv: readonly string[]): CliError {
  const path = findPath(program, argv);
  const names = path.slice(1).map((command) => command.name());
  const help = ["a2a help", ...names].join(" ");
  const children = path.at(-1)?.commands.map((command) => command.name()) ?? [];
  if (names.length === 0) return usageError(messageOf(error), `${help} lists the commands`, error);
  if (children.length === 0) {
    return usageError(messageOf(error), `${help} lists its arguments and options`, error);
  }
  const typed = ["a2a", ...names].join(" ");
  const message = error.code === "commander.help" ? `a command is missing: ${typed} …` : messageOf(error);
  return usageError(message, `${typed} has ${children.join(", ")}; ${help} says more`, error);
}

/** The command that was meant, and those that it belongs to. What is no name of a command is a flag or its value. */
function findPath(program: Command, argv: readonly string[]): readonly Command[] {
  const path = [program];
  for (const word of argv) {
    const next = path.at(-1)?.commands.find((command) => command.name() === word);
    if (next !== undefined) path.push(next);
  }
  return path;
}

/** What follows the name of an unknown option may be a credential. */
function messageOf({ code, message }: CommanderError): string {
  return code === "commander.help"
    ? "a command is missing"
    : message
        .replace(/^error: /, "")
        .replace(/(option '--[\w-]+)=[^']*/, "$1")
        .replace(/\n/g, " ");
}
