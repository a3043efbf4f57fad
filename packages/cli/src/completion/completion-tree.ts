import type { Command, Option } from "commander";
import { settingOptions } from "../options.ts";

/** One command, as a shell needs to know it. */
export interface CompletionNode {
  /** The words after `a2a`, such as `task get`; empty for `a2a` itself. */
  readonly path: string;
  readonly commands: readonly CompletionWord[];
  readonly options: readonly CompletionOption[];
}

/** Something to complete to. */
export interface CompletionWord {
  readonly word: string;
  readonly description: string;
}

/** An option with what may follow it. */
export interface CompletionOption {
  readonly long: string;
  readonly short: string | undefined;
  readonly description: string;
  /** `none` takes no value; `any` takes one that cannot be guessed, or is a file. */
  readonly value: "none" | "any" | readonly string[];
}

/** The commands below and including this one that people see, this one first. */
export function listCompletionNodes(
  command: Command,
  path: readonly string[] = [],
): readonly CompletionNode[] {
  // `a2a task help` works, and `a2a help task` is the one that is taught.
  const visible = command
    .createHelp()
    .visibleCommands(command)
    .filter((child) => path.length === 0 || child.name() !== "help");
  return [
    {
      path: path.join(" "),
      commands: visible.map((child) => ({
        word: child.name(),
        description: child.summary() || child.description(),
      })),
      options: command.createHelp().visibleOptions(command).flatMap(toCompletionOption),
    },
    ...visible.flatMap((child) => listCompletionNodes(child, [...path, child.name()])),
  ];
}

function toCompletionOption(option: Option): readonly CompletionOption[] {
  const { long, short, description } = option;
  if (long === undefined) return [];
  const takesValue = option.required || option.optional;
  const choices = option.argChoices ?? settingOptions.find(({ flag }) => `--${flag}` === long)?.choices;
  return [{ long, short, description, value: takesValue ? (choices ?? "any") : "none" }];
}
