import { type Command, Help, type HelpConfiguration, type Option } from "commander";
import type { CliIo } from "./cli-io.ts";
import { type SettingFlag, type SettingOption, settingOptions } from "./options.ts";
import { formatRawValue, resolveSettings, type SettingOrigin } from "./settings/resolve.ts";

/** Help that shows the defaults as they are here and now: what is built in, or what environment and files say (§6.5). */
export function createHelpConfiguration(io: CliIo): HelpConfiguration {
  let origins: ReadonlyMap<SettingFlag, SettingOrigin> | undefined;
  return {
    optionDescription(this: Help, option: Option): string {
      const setting = settingOptions.find(
        ({ flag, description }) => option.long === `--${flag}` && option.description === description,
      );
      if (setting === undefined) return Help.prototype.optionDescription.call(this, option);
      origins ??= findOrigins(io);
      return setting.description + describeDefault(setting, origins.get(setting.flag));
    },
    // The command's own formatHelp, so that commands come before the many options.
    formatHelp: (command: Command, help: Help): string =>
      commandsFirst(Help.prototype.formatHelp.call(help, command, help)),
    subcommandDescription: (command: Command): string => command.summary() || command.description(),
  };
}

function commandsFirst(text: string): string {
  const sections = text.trimEnd().split(/\n\n(?=\S)/);
  const commands = sections.filter((section) => section.startsWith("Commands:"));
  const others = sections.filter((section) => !section.startsWith("Commands:"));
  const at = others.findIndex((section) => /^(?:\w+ )?options:/i.test(section));
  return `${[...others.slice(0, at), ...commands, ...others.slice(at)].join("\n\n")}\n`;
}

function describeDefault(setting: SettingOption, origin: SettingOrigin | undefined): string {
  if (origin !== undefined && origin.source !== "built-in") {
    return ` (default: ${formatRawValue(setting, origin.value)}, from ${origin.where})`;
  }
  return setting.builtIn === undefined ? "" : ` (default: ${setting.builtIn})`;
}

/** None when they are wrong: help is for finding that out. */
function findOrigins(io: CliIo): ReadonlyMap<SettingFlag, SettingOrigin> {
  try {
    return resolveSettings({}, io).origins;
  } catch {
    return new Map();
  }
}
