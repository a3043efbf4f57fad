import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { LegacyProfile } from "@a2a-connect/signing/internal";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { type Document, isMap, isScalar, LineCounter, parseDocument } from "yaml";
import { type CliError, codeOf, usageError } from "../cli-error.ts";
import { publishedFile } from "../files.ts";
import { isObject } from "../json.ts";

export const configFileName = "a2a.config.yaml";

// What the file may say. `a2a.config.schema.json` says what each member is for, and what is checked.

/** The names of its variables: exactly one way to present oneself. */
export interface AuthConfig {
  readonly tokenEnv?: string;
  readonly apiKeyEnv?: string;
  readonly clientIdEnv?: string;
  readonly clientSecretEnv?: string;
  readonly tokenUrl?: string;
  readonly audience?: string;
  readonly scopes?: readonly string[];
}

export interface AgentConfig {
  readonly url: string;
  readonly binding?: string;
  readonly auth?: AuthConfig;
  readonly version?: string;
  readonly protocolVersion?: string;
  readonly key?: string;
  readonly profiles?: readonly LegacyProfile[];
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ConfigFile {
  readonly server?: {
    readonly url?: string;
    readonly store?: string;
    readonly auth?: { readonly oidc?: string; readonly apiKeys?: string };
  };
  readonly agents?: Readonly<Record<string, AgentConfig>>;
}

/** A configuration file that was found and fits its schema. */
export interface FoundConfig {
  readonly path: string;
  readonly config: ConfigFile;
  /** `file:line` of a member, for messages. */
  locate(path: readonly (string | number)[]): string;
}

/** The nearest `a2a.config.yaml` at or above a directory, if any. @throws CliError USAGE with file, line and member when it is wrong */
export async function findConfigFile(cwd: string): Promise<FoundConfig | undefined> {
  for (let directory = cwd; ; directory = dirname(directory)) {
    const path = join(directory, configFileName);
    const text = await readIfThere(path);
    if (text !== undefined) return parseConfig(path, text);
    if (dirname(directory) === directory) return undefined;
  }
}

export function parseConfig(path: string, text: string): FoundConfig {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, stringKeys: true });
  const [broken] = document.errors;
  if (broken !== undefined) {
    const { line } = lines.linePos(broken.pos[0]);
    throw refused(`${path}:${line}`, `is not valid YAML: ${broken.code.toLowerCase().replaceAll("_", " ")}`);
  }
  const locate = (member: readonly (string | number)[]): string =>
    `${path}:${lineOf(document, lines, member)}`;
  // Aliases are expanded a hundred times at most; a value that is left out altogether is an empty file.
  const config: unknown = document.toJS({ maxAliasCount: 100 }) ?? {};
  findSecret(config, locate);
  const validate = schemaValidator();
  if (!validate(config)) {
    const problem = mostTelling(validate.errors ?? []);
    const member = pathOf(problem, config);
    throw refused(locate(member), `${member.join(".") || "the file"} ${say(problem)}`);
  }
  return { path, config, locate };
}

let validator: ValidateFunction<ConfigFile> | undefined;

/** Made for the first file: most commands find none, and would start a sixth later. */
function schemaValidator(): ValidateFunction<ConfigFile> {
  validator ??= new Ajv({ allErrors: true, strict: false, verbose: true }).compile<ConfigFile>(
    JSON.parse(readFileSync(publishedFile("a2a.config.schema.json"), "utf8")),
  );
  return validator;
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error) ?? "")) return undefined;
    throw refused(path, "cannot be read", error);
  }
}

function refused(where: string, sentence: string, cause?: unknown): CliError {
  return usageError(`${where}: ${sentence}`, undefined, cause);
}

/** Members that people write a secret into, wherever they stand, and what belongs there instead. */
const secretMembers: ReadonlyMap<string, string> = new Map([
  ["token", "tokenEnv"],
  ["bearer", "tokenEnv"],
  ["accesstoken", "tokenEnv"],
  ["authorization", "auth.tokenEnv"],
  ["proxyauthorization", "auth.tokenEnv"],
  ["cookie", "auth.tokenEnv"],
  ["apikey", "apiKeyEnv"],
  ["xapikey", "auth.apiKeyEnv"],
  ["clientid", "clientIdEnv"],
  ["clientsecret", "clientSecretEnv"],
  ["secret", "clientSecretEnv"],
  ["password", "tokenEnv"],
]);

/** Says so before the schema would call a secret an unknown member, and never repeats it. */
function findSecret(
  value: unknown,
  locate: FoundConfig["locate"],
  path: readonly (string | number)[] = [],
): void {
  if (!isObject(value)) return;
  for (const [name, member] of Object.entries(value)) {
    const here = [...path, name];
    const instead = secretMembers.get(name.toLowerCase().replaceAll(/[-_]/g, ""));
    // An agent may be called "token".
    if (instead !== undefined && !(path.length === 1 && path[0] === "agents")) {
      throw usageError(
        `${locate(here)}: ${here.join(".")} would hold a secret, and this file must not hold secrets.`,
        `Put it into an environment variable, and the variable's name into ${instead}.`,
      );
    }
    findSecret(member, locate, here);
  }
}

/** A secret in the wrong place comes first; a misspelt member says more than what is missing because of it. */
function mostTelling(errors: readonly ErrorObject[]): ErrorObject {
  const telling =
    errors.find(({ keyword, schemaPath }) => keyword === "pattern" && schemaPath.includes("variable")) ??
    errors.find(({ keyword }) => keyword === "additionalProperties") ??
    errors[0];
  if (telling === undefined) throw new Error("a schema that refuses says why");
  return telling;
}

function pathOf({ instancePath, keyword, params, propertyName }: ErrorObject, config: unknown): string[] {
  const path = instancePath
    .split("/")
    .slice(1)
    .map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~"));
  const own: unknown =
    keyword === "additionalProperties"
      ? params["additionalProperty"]
      : (propertyName ?? params["propertyName"]);
  return typeof own === "string" && isObject(config) ? [...path, own] : path;
}

/** The rest of a sentence about the member. Repeats nothing of its value, which may be a secret in the wrong place. */
function say({ keyword, params, message, parentSchema, propertyName }: ErrorObject): string {
  if (keyword === "additionalProperties") return "is not known here";
  if (keyword === "propertyNames" || propertyName !== undefined) return "cannot be used as a name here";
  const more = params["allowedValues"]?.join(", ") ?? parentSchema?.["description"];
  return more === undefined ? `${message}` : `${message}: ${more}`;
}

/** The line that a member begins on; that of its nearest ancestor when it has none. */
function lineOf(document: Document.Parsed, lines: LineCounter, path: readonly (string | number)[]): number {
  let node: unknown = document.contents;
  let offset = 0;
  for (const name of path) {
    if (!isMap(node)) break;
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(name));
    if (pair === undefined) break;
    if (isScalar(pair.key) && pair.key.range != null) offset = pair.key.range[0];
    node = pair.value;
  }
  return lines.linePos(offset).line;
}
