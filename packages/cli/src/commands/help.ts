import type { Command } from "commander";
import { type CliError, usageError } from "../cli-error.ts";
import type { AddCommand } from "../command.ts";
import { findNearestWord } from "../nearest-word.ts";

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
    if (next === undefined) throw unknownCommand(names, command, name);
    command = next;
  }
  return command;
}

/** The words as far as they are commands, and what the next one may be meant for. */
function unknownCommand(names: readonly string[], group: Command, name: string): CliError {
  const path = names.slice(0, names.indexOf(name));
  const nearest = findNearestWord(
    name,
    group.commands.map((command) => command.name()),
  );
  const question = nearest === undefined ? "" : ` (Did you mean ${[...path, nearest].join(" ")}?)`;
  const hint =
    path.length === 0 ? "a2a help lists the commands" : `a2a help ${path.join(" ")} lists its commands`;
  return usageError(`there is no command "${names.join(" ")}"${question}`, hint);
}
