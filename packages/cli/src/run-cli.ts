import { CommanderError } from "commander";
import type { CliIo } from "./cli-io.ts";
import { CommandRun } from "./command-run.ts";
import { ClosedOutputError } from "./process-io.ts";
import { createProgram } from "./program.ts";

/** The exit code of a command that was interrupted: 128 and the number of SIGINT, as shells have it. */
const interruptedExitCode = 130;

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
    return run.exitCode ?? (io.interrupted.aborted ? interruptedExitCode : 0);
  } catch (error) {
    if (error instanceof ClosedOutputError) {
      throw error;
    }
    if (error instanceof CommanderError && error.exitCode === 0) {
      await io.stdout.write(printed.join(""));
      return 0;
    }
    if (io.interrupted.aborted) {
      return run.exitCode ?? interruptedExitCode;
    }
    const { reportFailure } = await import("./output/report-failure.ts");
    return await reportFailure(run, error);
  }
}
