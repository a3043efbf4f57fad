import type { JsonObject } from "@bufbuild/protobuf";
import { isObject, parseJson } from "./json.ts";
import { holdsPrivateKey, parseBinding, parseDuration } from "./settings/values.ts";

/** Words or a switch, as flags, environment and files hold them; several of a repeatable option. */
export type RawValue = string | boolean | readonly string[];

/** What a command does with an agent: talks to it, calls it in ways of its own, only fetches its card, or nothing. */
export type CommandKind = "agent" | "called" | "card" | "local";

/** One row of the options that every command that talks to an agent has (a2a-cli §7.2). */
interface SettingRow {
  readonly short?: string;
  /** The commands that show it in help, beside those that talk to an agent. */
  readonly kinds?: readonly CommandKind[];
  /** What stands for the value in help; a switch has none. */
  readonly argument?: string;
  readonly repeatable?: true;
  /** The value is never shown. */
  readonly secret?: true;
  /** Only as a flag: not read from the environment or a file (§7.2). */
  readonly flagOnly?: true;
  /** Not taken from an `.env` that was found: it says whom to trust. */
  readonly ownOnly?: true;
  readonly description: string;
  readonly builtIn?: string;
  readonly choices?: readonly string[];
  /** Other spellings that are accepted and not shown, each with the value it stands for. */
  readonly aliases?: Readonly<Record<string, boolean>>;
  /** Whether `--no-FLAG` undoes what the environment or a file switched on. Default: switches have it. */
  readonly negatable?: false;
}

/**
 * By the long flag, after which the environment variable and the line of a file are named; in the order of help. Flags, environment,
 * files, help, completion and `config show` all read it.
 */
const table = {
  "agent-card": {
    kinds: ["card", "called"],
    short: "a",
    argument: "ref",
    description: "the agent: host, URL of its card, file, or a name in a2a.config.yaml",
  },
  "card-key": {
    kinds: ["card"],
    argument: "key",
    ownOnly: true,
    description: "public key that must verify the agent's card: a JWK, or a file with a JWK, key set or PEM",
    builtIn: "cards are not verified",
  },
  transport: {
    argument: "binding",
    repeatable: true,
    choices: ["jsonrpc", "http+json", "grpc", "grpc-web", "connect"],
    description: "binding to prefer, repeatable, best first: jsonrpc, http+json, grpc, grpc-web, connect",
    builtIn: "the card's order",
  },
  "a2a-version": {
    short: "protocol",
    argument: "version",
    description: "the only protocol version to use, such as 0.3",
    builtIn: "the highest that both sides support, 1.0 or later",
  },
  output: {
    kinds: ["card", "called", "local"],
    short: "o",
    argument: "format",
    choices: ["text", "json"],
    description: "text for people, json for programs",
    builtIn: "text",
  },
  stream: {
    flagOnly: true,
    negatable: false,
    description: "follow events as they happen; with -o json one line each",
    builtIn: "off",
  },
  wait: {
    negatable: false,
    aliases: { "--watch": true, "--no-wait": false },
    description: "block until the task has ended or waits for you",
    builtIn: "on for send",
  },
  async: {
    negatable: false,
    aliases: { "--return-immediately": true },
    description: "do not wait: print the identifiers and return",
    builtIn: "off",
  },
  "poll-interval": {
    argument: "duration",
    description: "how often to poll while waiting, if the agent cannot stream",
    builtIn: "2s",
  },
  timeout: {
    kinds: ["card"],
    argument: "duration",
    description: "give up after this long; the task goes on",
    builtIn: "none",
  },
  "context-id": { argument: "id", description: "start a new task in this context" },
  "task-id": { argument: "id", description: "continue this task" },
  metadata: {
    argument: "json",
    description: "metadata of the message, a JSON object",
  },
  bearer: {
    kinds: ["called"],
    argument: "token",
    secret: true,
    description: "bearer token; as a flag it shows in process lists and history, so prefer A2ACLI_BEARER",
  },
  "api-key": {
    kinds: ["called"],
    argument: "key",
    secret: true,
    description: "API key; as a flag it shows in process lists and history, so prefer A2ACLI_API_KEY",
  },
  "svc-param": {
    kinds: ["card", "called"],
    argument: "k:v",
    repeatable: true,
    description: "service parameter, sent as header or gRPC metadata, repeatable",
  },
  "allow-credential": {
    kinds: ["called"],
    argument: "name",
    repeatable: true,
    flagOnly: true,
    description:
      "send this credential, such as A2ACLI_BEARER, to an agent whose address is from a project's file, repeatable",
    builtIn: "ask at a terminal",
  },
  insecure: {
    kinds: ["card"],
    ownOnly: true,
    description: "do not verify TLS certificates (development only)",
    builtIn: "off",
  },
  config: {
    kinds: ["card", "called", "local"],
    argument: "path",
    flagOnly: true,
    description: "an .env file to use in place of the nearest one",
    builtIn: "the nearest .env in this directory or above",
  },
  verbose: {
    kinds: ["card", "called", "local"],
    description: "show everything that was sent and received",
    builtIn: "off",
  },
  debug: {
    kinds: ["card", "called", "local"],
    description: "log requests and answers to stderr, with secrets masked",
    builtIn: "off",
  },
} as const;

export type SettingFlag = keyof typeof table;

export interface SettingOption extends SettingRow {
  readonly flag: SettingFlag;
}

export const settingOptions: readonly SettingOption[] = Object.entries(table).map(([flag, row]) => ({
  ...row,
  flag: flag as SettingFlag, // its keys
}));

/** What is wrong with a value, as the end of a sentence that names the option; undefined when it is fine. */
const problems: Readonly<Partial<Record<SettingFlag, (text: string) => string | undefined>>> = {
  "card-key": (text) =>
    holdsPrivateKey(text) ? "is a private key; give the public one, which a2a keys public prints" : undefined,
  transport: (text) =>
    parseBinding(text) === undefined
      ? "is not a binding; use jsonrpc, http+json, grpc, grpc-web or connect"
      : undefined,
  "a2a-version": (text) => (/^\d+\.\d+$/.test(text) ? undefined : "is not a version such as 1.0"),
  output: (text) => (text === "text" || text === "json" ? undefined : "is neither text nor json"),
  "poll-interval": durationProblem,
  timeout: (text) => durationProblem(text) ?? (parseDuration(text) === 0 ? "is not more than 0" : undefined),
  metadata: (text) =>
    parseObject(text) === undefined ? 'is not a JSON object such as {"k":"v"}' : undefined,
  "svc-param": (text) =>
    parseServiceParameter(text) === undefined ? "is not of the form name:value" : undefined,
};

/** What is wrong with the text of an option, as the end of a sentence that names it; undefined when it is fine. */
export function findProblem({ flag, argument }: SettingOption, text: string): string | undefined {
  return argument === undefined ? "is neither true nor false" : problems[flag]?.(text);
}

function durationProblem(text: string): string | undefined {
  return parseDuration(text) === undefined ? "is not a duration such as 500ms, 2s or 5m" : undefined;
}

/** `agent-card` is `A2ACLI_AGENT_CARD` (§7.2). */
export function environmentName(flag: SettingFlag): string {
  return `A2ACLI_${flag.toUpperCase().replaceAll("-", "_")}`;
}

export function parseObject(text: string): JsonObject | undefined {
  const value = parseJson(text);
  return isObject(value) ? (value as JsonObject) : undefined; // it was parsed from JSON
}

/** `name:value`; the name is one of a header. */
export function parseServiceParameter(text: string): readonly [name: string, value: string] | undefined {
  const match = /^(?<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+):(?<value>[^\r\n\0]*)$/.exec(text.trim());
  const { name, value } = match?.groups ?? {};
  return name === undefined || value === undefined ? undefined : [name.toLowerCase(), value.trim()];
}
