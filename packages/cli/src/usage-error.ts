import type { Command, CommanderError } from "commander";
import { CliError } from "./cli-error.ts";

/** What commander found wrong with the command line, with the help that tells how it is meant. */
export function toUsageError(error: CommanderError, program: Command, argv: readonly string[]): CliError {
  const path = findPath(program, argv);
  const names = path.slice(1).map((command) => command.name());
  const typed = ["a2a", ...names].join(" ");
  const help = ["a2a help", ...names].join(" ");
  const children = path.at(-1)?.commands.map((command) => command.name()) ?? [];
  if (names.length === 0) {
    return usage(error, messageOf(error), "a2a help lists the commands");
  }
  return children.length === 0
    ? usage(error, messageOf(error), `${help} lists its arguments and options`)
    : usage(
        error,
        error.code === "commander.help" ? `a command is missing: ${typed} …` : messageOf(error),
        `${typed} has ${children.join(", ")}; ${help} says more`,
      );
}

/** The command that was meant, and those that it belongs to. What is no name of a command is a flag or its value. */
function findPath(program: Command, argv: readonly string[]): readonly Command[] {
  const path = [program];
  for (const word of argv) {
    const next = path.at(-1)?.commands.find((command) => command.name() === word);
    if (next !== undefined) {
      path.push(next);
    }
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

function usage(cause: unknown, message: string, hint: string): CliError {
  return new CliError("A2ACLI_ERR_USAGE", message, { hint, cause });
}
