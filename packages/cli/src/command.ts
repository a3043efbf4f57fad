import { type Command, InvalidArgumentError, Option } from "commander";
import type { CommandContext, CommandRun } from "./context.ts";
import {
  type CommandKind,
  type RawValue,
  type SettingFlag,
  type SettingOption,
  settingOptions,
} from "./options.ts";
import type { GivenFlags } from "./settings/resolve.ts";
import { parseDuration } from "./settings/values.ts";

/**
 * Makes what `load` gives the action of a command: it gets its context, with the settings resolved, and then the arguments of a
 * commander action: positional arguments, the command's own options, the command. What the action needs is loaded only when it
 * runs, so that `--help` is quick. Adds the options that all commands of its kind have (default: `agent`).
 */
export type SetAction = <Args extends unknown[]>(
  command: Command,
  load: () => Promise<(context: CommandContext, ...args: Args) => Promise<void>>,
  kind?: CommandKind,
) => void;

/**
 * One file of `commands/`: adds one command, or one group of them. All of these files are loaded whenever the command
 * starts, so what costs time to load (client, core, proto, server, yaml) is imported by what the action loads.
 */
export type AddCommand = (program: Command, setAction: SetAction) => void;

export function createSetAction(run: CommandRun): SetAction {
  return (command, load, kind = "agent") => {
    addSettingOptions(command, kind);
    command.action(async (...given: unknown[]) => {
      const [{ runAction }, act] = await Promise.all([import("./context.ts"), load()]);
      // The arguments are those that the command declares; act says what it expects of them.
      await runAction(run, readGivenFlags(command), (context) => act(context, ...(given as never)));
    });
  };
}

/**
 * Adds the options of a2a-cli §7.2, but for those that the command has already. Where they do not matter, they are taken and not
 * shown in help; what talks to no agent takes the general ones, unseen.
 */
export function addSettingOptions(command: Command, kind: CommandKind): void {
  for (const option of settingOptions) {
    const isOfKind = kind === "agent" || option.kinds?.includes(kind) === true;
    if (kind !== "local" || isOfKind) addSettingOption(command, option, !isOfKind || kind === "local");
  }
}

/** What was typed, by long flag, on the command or on one that it belongs to; the nearest wins. */
export function readGivenFlags(command: Command): GivenFlags {
  const flags: Partial<Record<SettingFlag, RawValue>> = {};
  for (let level: Command | null = command; level !== null; level = level.parent) {
    for (const { flag } of settingOptions) {
      const name = new Option(`--${flag}`).attributeName();
      const isGiven = ["cli", "implied"].includes(level.getOptionValueSource(name) ?? "");
      if (flags[flag] === undefined && isGiven) {
        flags[flag] = level.getOptionValue(name) as RawValue; // what addSettingOption's parser stored
      }
    }
  }
  return flags;
}

function addSettingOption(command: Command, option: SettingOption, hidden: boolean): void {
  const flag = `--${option.flag}`;
  if (command.options.some(({ long }) => long === flag)) return;
  const dashes = option.short?.length === 1 ? "-" : "--";
  const short = option.short === undefined ? "" : `${dashes}${option.short}, `;
  const argument = option.argument === undefined ? "" : ` <${option.argument}>`;
  const main = new Option(`${short}${flag}${argument}`, option.description).hideHelp(hidden);
  if (option.repeatable === true) main.argParser(collect);
  const isGeneral = option.kinds?.includes("local") === true;
  command.addOption(main.helpGroup(isGeneral ? "General options:" : "Agent options:"));
  if (option.argument === undefined && option.negatable !== false) {
    command.addOption(new Option(`--no-${option.flag}`).hideHelp());
  }
  for (const [alias, value] of Object.entries(option.aliases ?? {})) {
    // commander itself knows `--no-…`.
    command.addOption(
      new Option(alias).hideHelp().implies(alias.startsWith("--no-") ? {} : { [option.flag]: value }),
    );
  }
}

export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** A parser of option values that are whole numbers from `min` to `max`. */
export function wholeNumber(min: number, max: number = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!(value >= min && value <= max)) {
      const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `from ${min} to ${max}`;
      throw new InvalidArgumentError(`It must be a whole number ${range}.`);
    }
    return value;
  };
}

export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms < 1) throw new InvalidArgumentError("It must be a duration such as 30s or 2m.");
  return ms;
}

/** An option whose value is a duration. @param preset when it is not given, such as `10s` */
export function durationOption(flags: string, description: string, preset: string): Option {
  return new Option(flags, description).argParser(duration).default(duration(preset), preset);
}
