import { readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { usageError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import { findNearestWord } from "../nearest-word.ts";
import { environmentName, settingOptions } from "../options.ts";

/** A configuration file that was found, and what it says (a2a-cli §8.3). */
export interface SettingsFile {
  readonly path: string;
  /** Whether the user has named it, or it was found above the working directory. */
  readonly source: "file" | "found-env";
  readonly values: Readonly<Record<string, string | undefined>>;
  readonly exposed: boolean;
}

/**
 * The files that apply, the one that wins first: the one of `--config` or else the nearest `.env` above the working
 * directory, then `~/.config/a2a-cli/.env`. @throws CliError USAGE when `--config` names a file that cannot be read
 */
export function readSettingsFiles(
  { cwd, home }: Pick<CliIo, "cwd" | "home">,
  config: string | undefined,
): readonly SettingsFile[] {
  const globalPath = join(home, ".config", "a2a-cli", ".env");
  const path = config && resolve(cwd, config);
  const local = path === undefined ? findLocalFile(cwd) : readSettingsFile(path, "file");
  if (path !== undefined && local === undefined) {
    throw usageError(`cannot read the configuration file ${path}`, "--config takes the path of an .env file");
  }
  const files = local?.path === globalPath ? [] : [local];
  return [...files, readSettingsFile(globalPath, "file")].filter((file) => file !== undefined);
}

function findLocalFile(directory: string): SettingsFile | undefined {
  const file = readSettingsFile(join(directory, ".env"), "found-env");
  const parent = dirname(directory);
  return file ?? (parent === directory ? undefined : findLocalFile(parent));
}

function readSettingsFile(path: string, source: SettingsFile["source"]): SettingsFile | undefined {
  try {
    const values = parseEnv(readFileSync(path, "utf8"));
    const exposed = process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0;
    return { path, source, values, exposed };
  } catch {
    return undefined; // not there, or not for us
  }
}

/**
 * A sentence about the `A2ACLI_…` names of one source (`where`) that nothing reads, with what may be meant; undefined when there are
 * none. Values are not repeated: a misspelt name may be that of a credential.
 */
export function describeUnknownNames(
  where: string,
  values: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const unknown = Object.keys(values).filter(
    (name) => name.startsWith("A2ACLI_") && !knownNames.has(name) && (values[name] ?? "") !== "",
  );
  return unknown.length === 0
    ? undefined
    : `${where}: ${unknown.map(describeName).join(" and ")} ${unknown.length === 1 ? "has" : "have"} no effect`;
}

const knownNames: ReadonlySet<string> = new Set(
  settingOptions.filter(({ flagOnly }) => flagOnly !== true).map(({ flag }) => environmentName(flag)),
);

function describeName(name: string): string {
  const flagOnly = settingOptions.find(({ flag }) => environmentName(flag) === name);
  if (flagOnly !== undefined) return `${name} (only the flag --${flagOnly.flag})`;
  const [word = "", ...known] = [name, ...knownNames].map((each) => each.slice("A2ACLI_".length));
  const nearest = findNearestWord(word, known);
  return nearest === undefined ? name : `${name} (did you mean A2ACLI_${nearest}?)`;
}
