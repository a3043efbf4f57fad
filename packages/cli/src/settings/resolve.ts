import { dirname, resolve } from "node:path";
import type { JsonObject } from "@bufbuild/protobuf";
import { usageError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import {
  environmentName,
  findProblem,
  parseObject,
  parseServiceParameter,
  type RawValue,
  type SettingFlag,
  type SettingOption,
  settingOptions,
} from "../options.ts";
import { isCredentialName } from "../wire-log/masking.ts";
import { describeUnknownNames, readSettingsFiles, type SettingsFile } from "./files.ts";
import { isOwn, type Provenance, type SettingSource } from "./provenance.ts";
import { isInlineKey, parseBinding, parseDuration } from "./values.ts";

/** The options that every command that talks to an agent has, resolved; undefined where nothing says one. */
export interface Settings {
  /** Reference to the agent: host, URL, file, or a name in `a2a.config.yaml`. */
  readonly agentCard: string | undefined;
  /** Public key that the agent's card has to be verified by: itself, or the file that has it. */
  readonly cardKey: string | undefined;
  /** Bindings, best first; empty: the card's order. */
  readonly transports: readonly string[];
  readonly a2aVersion: string | undefined;
  readonly output: "json" | "text";
  readonly stream: boolean;
  /** Whether to block until the task has settled: false after `--async`. Where nothing says it, `send` does, and `task get` does not. */
  readonly wait: boolean | undefined;
  readonly verbose: boolean;
  readonly debug: boolean;
  readonly insecure: boolean;
  readonly bearer: string | undefined;
  readonly apiKey: string | undefined;
  readonly contextId: string | undefined;
  readonly taskId: string | undefined;
  readonly metadata: JsonObject | undefined;
  readonly serviceParameters: Readonly<Record<string, string>>;
  /** Names of credentials that may go to an agent that a found file names, such as `A2ACLI_BEARER`. */
  readonly allowedCredentials: readonly string[];
  readonly pollIntervalMs: number;
  readonly timeoutMs: number | undefined;
}

/** Where the effective value of one option is from. */
export interface SettingOrigin extends Provenance {
  readonly option: SettingOption;
  /** As it was given; undefined for what is built in. */
  readonly value: RawValue | undefined;
}

export type GivenFlags = Readonly<Partial<Record<SettingFlag, RawValue>>>;

export interface ResolvedSettings {
  readonly settings: Settings;
  readonly origins: ReadonlyMap<SettingFlag, SettingOrigin>;
  /** The configuration files that were read, the winning one first. */
  readonly files: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * What flags, environment and files say together, the first that names an option deciding it alone: flag, environment, local file,
 * global file, what is built in (a2a-cli §8.3). @throws CliError USAGE for values that cannot be meant, naming their source
 */
export function resolveSettings(
  flags: GivenFlags,
  io: Pick<CliIo, "env" | "cwd" | "home">,
): ResolvedSettings {
  const files = readSettingsFiles(io, typeof flags.config === "string" ? flags.config : undefined);
  const origins = new Map<SettingFlag, SettingOrigin>(
    settingOptions.map((option) => [option.flag, chooseValue(option, flags[option.flag], io, files)]),
  );
  for (const origin of origins.values()) checkValue(origin);
  return {
    settings: toSettings(origins),
    origins,
    files: files.map(({ path }) => path),
    warnings: [
      ...files.flatMap(warningsOf),
      ...[{ path: "environment", values: io.env }, ...files].flatMap(
        ({ path, values }) => describeUnknownNames(path, values) ?? [],
      ),
    ],
  };
}

function chooseValue(
  option: SettingOption,
  flag: RawValue | undefined,
  { env }: Pick<CliIo, "env">,
  files: readonly SettingsFile[],
): SettingOrigin {
  if (flag !== undefined) {
    return { option, source: "flag", where: `--${option.flag}`, value: flag };
  }
  const name = environmentName(option.flag);
  if (option.flagOnly !== true) {
    const variable = env[name];
    if (variable !== undefined && variable !== "") {
      return { option, source: "environment", where: name, value: readText(option, variable) };
    }
    for (const { path, source, values } of files) {
      const line = values[name];
      if (line !== undefined && line !== "" && !(option.ownOnly === true && !isOwn(source))) {
        return { option, source, where: path, value: readText(option, beside(path, option, line)) };
      }
    }
  }
  return { option, source: "built-in", where: option.builtIn ?? "none", value: undefined };
}

/** A file of yours means the key beside it, and not one of the directory that the command happens to run in. */
function beside(path: string, { flag }: SettingOption, text: string): string {
  return flag === "card-key" && !isInlineKey(text) ? resolve(dirname(path), text) : text;
}

/** Switches are words in the environment; of a repeatable option there is one value a line, or between commas. */
function readText(option: SettingOption, text: string): RawValue {
  if (option.repeatable === true) {
    // Service parameters may contain commas.
    const separator = option.flag === "svc-param" ? /\n/ : /[\n,]/;
    return text
      .split(separator)
      .map((item) => item.trim())
      .filter((item) => item !== "");
  }
  if (option.argument === undefined) {
    const word = text.trim().toLowerCase();
    if (["1", "true", "yes", "on"].includes(word)) return true;
    return ["0", "false", "no", "off"].includes(word) ? false : text;
  }
  return text;
}

function checkValue({ option, source, where, value }: SettingOrigin): void {
  for (const text of [value].flat()) {
    const problem = typeof text === "string" ? findProblem(option, text) : undefined;
    if (problem === undefined) continue;
    const isPrivate = option.secret === true || option.flag === "svc-param" || option.flag === "card-key";
    const isFile = source !== "built-in" && rankOf(source) === 0;
    const place = isFile ? `${environmentName(option.flag)} in ${where}` : where;
    throw usageError(`${place}: ${isPrivate ? "its value" : `"${text}"`} ${problem}`);
  }
}

/** Which of two settings that contradict each other wins. */
function rankOf(source: SettingSource): number {
  return ["environment", "flag"].indexOf(source) + 1;
}

export function toSettings(origins: ReadonlyMap<SettingFlag, SettingOrigin>): Settings {
  const text = (flag: SettingFlag): string | undefined => {
    const value = origins.get(flag)?.value;
    return typeof value === "string" ? value : undefined;
  };
  const list = (flag: SettingFlag): readonly string[] => {
    const value = origins.get(flag)?.value;
    return typeof value === "object" ? value : [];
  };
  const on = (flag: SettingFlag): boolean => origins.get(flag)?.value === true;
  const timeout = text("timeout");
  const metadata = text("metadata");
  return {
    agentCard: text("agent-card"),
    cardKey: text("card-key"),
    transports: list("transport").flatMap((name) => parseBinding(name) ?? []),
    a2aVersion: text("a2a-version"),
    output: text("output") === "json" ? "json" : "text",
    stream: on("stream"),
    wait: findWait(origins.get("wait"), origins.get("async")),
    verbose: on("verbose"),
    debug: on("debug"),
    insecure: on("insecure"),
    bearer: text("bearer"),
    apiKey: text("api-key"),
    contextId: text("context-id"),
    taskId: text("task-id"),
    metadata: metadata === undefined ? undefined : parseObject(metadata),
    serviceParameters: Object.fromEntries(
      list("svc-param").flatMap((pair) => [parseServiceParameter(pair) ?? []]),
    ),
    allowedCredentials: list("allow-credential"),
    pollIntervalMs: parseDuration(text("poll-interval") ?? "2s") ?? 2_000,
    timeoutMs: timeout === undefined ? undefined : parseDuration(timeout),
  };
}

/** `--wait` and `--async` are one setting with two names: the higher source decides. */
function findWait(wait: SettingOrigin | undefined, async: SettingOrigin | undefined): boolean | undefined {
  const asked = typeof wait?.value === "boolean" ? wait.value : undefined;
  const refused = typeof async?.value === "boolean" ? !async.value : undefined;
  if (asked === undefined || refused === undefined || asked === refused) return asked ?? refused;
  const lead = rankOf(wait?.source ?? "built-in") - rankOf(async?.source ?? "built-in");
  if (lead === 0) throw usageError("--wait and --async contradict each other");
  return lead > 0 ? asked : refused;
}

/** What of a file does not count, since only the user may say it, and which secrets in it others may read. */
function warningsOf({ path, source, values, exposed }: SettingsFile): readonly string[] {
  const linesOf = (isMeant: (option: SettingOption) => boolean): readonly string[] =>
    settingOptions
      .filter(isMeant)
      .map(({ flag }) => environmentName(flag))
      .filter((name) => (values[name] ?? "") !== "");
  const secrets = exposed ? linesOf(({ secret }) => secret === true) : [];
  const foreign = isOwn(source) ? [] : linesOf(({ ownOnly }) => ownOnly === true);
  return [
    ...(secrets.length === 0
      ? []
      : [`other users may read ${path}, which holds ${secrets.join(" and ")}: chmod 600 ${path}`]),
    ...foreign.map(
      (name) =>
        `a2a ignores ${name} of ${path}, because you did not name that file. Set ${name} in the environment or in ~/.config/a2a-cli/.env, or name the file with --config`,
    ),
  ];
}

/** A value as it may be shown: credentials masked. */
export function maskRawValue(option: SettingOption, value: RawValue | undefined): RawValue | undefined {
  if (option.secret === true) return value === undefined ? undefined : "***";
  return option.flag === "svc-param" && typeof value === "object" ? value.map(maskParameter) : value;
}

export function formatRawValue(option: SettingOption, value: RawValue | undefined): string {
  const shown = maskRawValue(option, value);
  if (shown === undefined) return option.builtIn ?? "none";
  if (typeof shown === "boolean") return shown ? "on" : "off";
  return [shown].flat().join(", ");
}

function maskParameter(parameter: string): string {
  const name = parameter.slice(0, parameter.indexOf(":"));
  return isCredentialName(name) ? `${name}:***` : parameter;
}
