import { type Command, CommanderError } from "commander";
import { CliError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { CommandRun } from "./command-run.ts";
import { interruptedExitCode } from "./interrupts.ts";
import { ClosedOutputError } from "./process-io.ts";
import { createProgram } from "./program.ts";

/**
 * Runs the command once.
 *
 * @param argv what was typed after the name of the command
 * @returns the exit code (a2a-cli §11.6); errors have been printed
 */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  const run = new CommandRun(argv, io);
  try {
    return await runProgram(run);
  } catch (error) {
    if (error instanceof ClosedOutputError) {
      return 0; // whoever read has enough: `a2a task list | head`
    }
    throw error;
  }
}

async function runProgram(run: CommandRun): Promise<number> {
  const { io } = run;
  const printed: string[] = [];
  const program = createProgram(run, (text) => printed.push(text));
  try {
    // Nothing typed is a question, too.
    await program.parseAsync(run.argv.length === 0 ? ["help"] : [...run.argv], { from: "user" });
    return run.exitCode ?? (io.interrupted.aborted ? interruptedExitCode(io.interrupted) : 0);
  } catch (error) {
    if (error instanceof ClosedOutputError) {
      throw error;
    }
    if (error instanceof CommanderError && error.exitCode === 0) {
      await io.stdout.write(printed.join(""));
      return 0;
    }
    if (io.interrupted.aborted && run.exitCode !== undefined) {
      return run.exitCode;
    }
    const { reportFailure } = await import("./output/report-failure.ts");
    if (io.interrupted.aborted) {
      await reportFailure(run, error instanceof CliError ? error : interruption());
      return interruptedExitCode(io.interrupted);
    }
    return await reportFailure(run, await nameFailure(error, program, run.argv));
  }
}

/** Whatever an interruption broke, unless the command has said in its own words what it means. a2a-cli has no code for it. */
function interruption(): CliError {
  return new CliError("A2ACLI_ERR_INTERNAL", "interrupted before it was done");
}

async function nameFailure(error: unknown, program: Command, argv: readonly string[]): Promise<unknown> {
  if (!(error instanceof CommanderError)) {
    return error;
  }
  const { toUsageError } = await import("./usage-error.ts");
  return toUsageError(error, program, argv);
}
