import { type Command, InvalidArgumentError, Option } from "commander";
import type { CommandContext, CommandRun } from "./context.ts";
import { type RawValue, type SettingFlag, type SettingOption, settingOptions } from "./options.ts";
import type { GivenFlags } from "./settings/resolve.ts";
import { parseDuration } from "./settings/values.ts";

/**
 * Makes what `load` gives the action of a command: it gets its context, with the settings resolved, and then the arguments of a
 * commander action: positional arguments, the command's own options, the command. Errors are printed in the chosen format, and
 * what was opened is closed. What the action needs is loaded only when it runs, so that `--help` is quick.
 *
 * Adds the options that all commands of its kind have: `agent` for those that talk to an agent (the default), `called` for those
 * that call it in ways of their own, `card` for those that fetch a card and no more, `local` for those that do none of it.
 */
export type SetAction = <Args extends unknown[]>(
  command: Command,
  load: () => Promise<(context: CommandContext, ...args: Args) => Promise<void>>,
  kind?: CommandKind,
) => void;

type CommandKind = "agent" | "called" | "card" | "local";

/**
 * One file of `commands/`: adds one command, or one group of them. All of these files are loaded whenever the command
 * starts, so what costs time to load (client, core, proto, server, yaml) is imported by what the action loads.
 */
export type AddCommand = (program: Command, setAction: SetAction) => void;

/** Sets actions for one run. */
export function createSetAction(run: CommandRun): SetAction {
  return <Args extends unknown[]>(
    command: Command,
    load: () => Promise<(context: CommandContext, ...args: Args) => Promise<void>>,
    kind: CommandKind = "agent",
  ): void => {
    addSettingOptions(command, kind);
    command.action(async (...given: unknown[]) => {
      const [{ runAction }, act] = await Promise.all([import("./context.ts"), load()]);
      // The arguments are those that the command declares; act says what it expects of them.
      await runAction(run, readGivenFlags(command), (context) => act(context, ...(given as Args)));
    });
  };
}

/** Options that make sense for any command, whether or not it talks to an agent. */
const generalFlags: ReadonlySet<SettingFlag> = new Set<SettingFlag>(["output", "config", "verbose", "debug"]);

/** Those that make sense where nothing but a card is fetched. */
const cardFlags: ReadonlySet<SettingFlag> = new Set<SettingFlag>([
  ...generalFlags,
  "agent-card",
  "card-key",
  "timeout",
  "svc-param",
  "insecure",
]);

/** Those that make sense where an agent is called otherwise than by the client. */
const calledFlags: ReadonlySet<SettingFlag> = new Set<SettingFlag>([
  ...generalFlags,
  "agent-card",
  "bearer",
  "api-key",
  "svc-param",
  "allow-credential",
]);

/**
 * Adds the options of a2a-cli §7.2, but for those that the command has already. Where they do not matter, they are taken and not
 * shown in help; what talks to no agent takes the general ones, unseen.
 */
export function addSettingOptions(command: Command, kind: CommandKind): void {
  const shown = kind === "card" ? cardFlags : kind === "called" ? calledFlags : undefined;
  for (const option of settingOptions) {
    const isShown = kind === "agent" || shown?.has(option.flag) === true;
    if (kind !== "local" || generalFlags.has(option.flag)) addSettingOption(command, option, !isShown);
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
  if (option.repeatable === true) {
    main.argParser(collect);
  }
  command.addOption(main.helpGroup(generalFlags.has(option.flag) ? "General options:" : "Agent options:"));
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

/** The parser of an option that may be given several times. */
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

/** The parser of option values that are durations, in milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined || ms < 1) throw new InvalidArgumentError("It must be a duration such as 30s or 2m.");
  return ms;
}
