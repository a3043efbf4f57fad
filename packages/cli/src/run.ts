import { Command, CommanderError } from "commander";
import { type CliIo, LostOutputError } from "./cli-io.ts";
import { type AddCommand, addSettingOptions, createSetAction } from "./command.ts";
import { addAuth } from "./commands/auth.ts";
import { addCard } from "./commands/card.ts";
import { addCompletion } from "./commands/completion.ts";
import { addConfig, addUse } from "./commands/config.ts";
import { addConformance } from "./commands/conformance.ts";
import { addDoctor, addSmoke } from "./commands/doctor.ts";
import { addHelp } from "./commands/help.ts";
import { addKeys } from "./commands/keys.ts";
import { addChat, addSend } from "./commands/send.ts";
import { addDemoServer, addInspect, addNew, addServe } from "./commands/serve.ts";
import { addTask } from "./commands/task.ts";
import type { CommandRun } from "./context.ts";
import { readVersion } from "./files.ts";
import { createHelpConfiguration } from "./help.ts";
import { interruptedExitCode } from "./interrupts.ts";

/**
 * Runs the command once. @returns the exit code (a2a-cli §11.6); errors have been printed. It is decided before anything is printed
 * about it, and output that is lost can only make it worse.
 */
export async function runCli(argv: readonly string[], io: CliIo): Promise<number> {
  const run: CommandRun = { argv, io };
  try {
    return await runProgram(run);
  } catch (error) {
    if (!(error instanceof LostOutputError)) throw error;
    return await afterLostOutput(run, error);
  }
}

/**
 * The exit code of a command whose output does not arrive: what it had decided on, unless that was success. A reader who has
 * enough is in order (`a2a task list | head`), but not where the exit code is what the command is for: that ends as quietly, and
 * with 1.
 */
async function afterLostOutput(run: CommandRun, { isClosed, message }: LostOutputError): Promise<number> {
  if (!isClosed) {
    await run.io.stderr.write(`error: the output could not be written: ${message} [A2ACLI_ERR_INTERNAL]\n`);
  }
  const exitCode = exitCodeOf(run);
  return exitCode === 0 && (!isClosed || run.needsReader === true) ? 1 : exitCode;
}

/** What the command has decided on. */
function exitCodeOf({ io: { interrupted }, exitCode }: CommandRun): number {
  return exitCode ?? (interrupted.aborted ? interruptedExitCode(interrupted) : 0);
}

async function runProgram(run: CommandRun): Promise<number> {
  const { io } = run;
  const printed: string[] = [];
  const program = createProgram(run, (text) => printed.push(text));
  try {
    // Nothing typed is a question, too.
    await program.parseAsync(run.argv.length === 0 ? ["help"] : [...run.argv], { from: "user" });
    return exitCodeOf(run);
  } catch (error) {
    if (error instanceof LostOutputError) throw error;
    if (error instanceof CommanderError && error.exitCode === 0) {
      await io.stdout.write(printed.join(""));
      return 0;
    }
    if (io.interrupted.aborted && run.exitCode !== undefined) return run.exitCode;
    const { reportFailure } = await import("./failures.ts");
    const exitCode = await reportFailure(run, error, program);
    return io.interrupted.aborted ? interruptedExitCode(io.interrupted) : exitCode;
  }
}

const commands: readonly AddCommand[] = [
  addCard,
  addSend,
  addTask,
  addChat,
  addServe,
  addNew,
  addDemoServer,
  addInspect,
  addDoctor,
  addSmoke,
  addConformance,
  addAuth,
  addKeys,
  addConfig,
  addUse,
  addCompletion,
  addHelp,
];

/** The `a2a` command. Errors are thrown as CommanderErrors and not printed; `print` gets help and version. */
function createProgram(run: CommandRun, print: (text: string) => void): Command {
  const program = new Command("a2a")
    .description("Talk to A2A agents, serve them, examine them.")
    .exitOverride()
    .configureOutput({ writeOut: print, writeErr: () => {}, outputError: () => {} })
    .configureHelp(createHelpConfiguration(run.io))
    .enablePositionalOptions()
    .helpCommand(false)
    .version(readVersion(), "-v, --version", "print the version and exit")
    .helpOption("-h, --help", "show usage and exit");
  addSettingOptions(program, "agent");
  const setAction = createSetAction(run);
  for (const add of commands) add(program, setAction);
  return program;
}
