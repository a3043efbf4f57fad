import type { Command } from "commander";
import { CliError } from "../cli-error.ts";
import type { AddCommand } from "../command.ts";

/** `a2a help [COMMAND…]`: the same as `a2a COMMAND --help`. */
export const addHelp: AddCommand = (program) => {
  program
    .command("help")
    .description("Show usage of the tool or of a command")
    .argument("[command...]", "such as: task get")
    .action((names: readonly string[]) => {
      findCommand(program, names).help();
    });
};

function findCommand(program: Command, names: readonly string[]): Command {
  let command = program;
  for (const name of names) {
    const next = command.commands.find((candidate) => candidate.name() === name);
    if (next === undefined) {
      throw new CliError("A2ACLI_ERR_USAGE", `there is no command "${names.join(" ")}"`, {
        hint: "a2a help lists the commands",
      });
    }
    command = next;
  }
  return command;
}
