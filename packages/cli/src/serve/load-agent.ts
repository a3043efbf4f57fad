import { stat } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type AgentDefinition, defineAgent } from "@a2a-connect/server";
import { assertAgentName } from "@a2a-connect/server/host";
import { type CliError, usageError } from "../cli-error.ts";
import { isObject } from "../json.ts";
import { findFault } from "./module-fault.ts";

/** What a module has to offer: an agent alone, or several by the names that they are served under. */
export type LoadedAgents =
  | { readonly kind: "one"; readonly agent: AgentDefinition }
  | { readonly kind: "several"; readonly agents: Readonly<Record<string, AgentDefinition>> };

/**
 * What a module exports as its default: what `defineAgent` returns, an array of that, or an object with agents by their names.
 * In an array the names are made of those in the cards; an array with one agent is that agent.
 * @throws CliError USAGE when there is no such file, it cannot be loaded (with file and line), or it exports no agent
 */
export async function loadAgents(file: string, cwd: string): Promise<LoadedAgents> {
  const path = resolve(cwd, file);
  if (!(await stat(path).catch(() => undefined))?.isFile()) {
    throw usageError(
      `there is no file ${file}`,
      "name the module that exports your agent, or begin one with `a2a new NAME`",
    );
  }
  return readDefault(await importModule(path, file, cwd), file);
}

async function importModule(path: string, file: string, cwd: string): Promise<Record<string, unknown>> {
  try {
    return await import(pathToFileURL(path).href);
  } catch (error) {
    const { problem, hint, file: at, line } = await findFault(error, path);
    const place = at === undefined ? "" : `${relative(cwd, at)}:${line}: `;
    throw usageError(`${file} cannot be loaded: ${place}${problem}`, hint, error);
  }
}

function readDefault(module: Record<string, unknown>, file: string): LoadedAgents {
  if (!("default" in module)) {
    const others = Object.keys(module);
    const exported = others.length === 0 ? "it exports nothing" : `it exports ${others.join(", ")}`;
    throw notAnAgent(`${file} has no default export: ${exported}`);
  }
  const exported = module["default"];
  const alone = Array.isArray(exported) && exported.length === 1 ? exported[0] : exported;
  const named = Array.isArray(alone) ? nameAgents(alone, file) : entriesOfAgents(alone);
  return named === undefined
    ? { kind: "one", agent: checkAgent(alone, `the default export of ${file}`, `the agent of ${file}`) }
    : { kind: "several", agents: checkNames(named, file) };
}

/** Agents of an array, by names that are made of those in their cards. */
function nameAgents(candidates: readonly unknown[], file: string): readonly (readonly [string, unknown])[] {
  if (candidates.length === 0) throw notAnAgent(`the default export of ${file} is an array without agents`);
  const named = candidates.map((candidate, index) => {
    const agent = checkAgent(candidate, `agent ${index + 1} of ${file}`);
    return [toName(agent.card.name), agent] as const;
  });
  const names = named.map(([name]) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return named;
  throw notAnAgent(
    `two agents of ${file} would be called "${twice}": export an object with a name for each instead`,
  );
}

/** `Table booker` is served as `table-booker`. */
function toName(cardName: string): string {
  const name = cardName.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return name.slice(0, 64).replaceAll(/^-|-$/g, "") || "agent";
}

function checkNames(
  named: readonly (readonly [string, unknown])[],
  file: string,
): Record<string, AgentDefinition> {
  return Object.fromEntries(
    named.map(([name, candidate]) => {
      const agent = checkAgent(candidate, `the agent ${JSON.stringify(name)} of ${file}`);
      try {
        assertAgentName(name);
      } catch (error) {
        throw notAnAgent(`${file}: ${messageOf(error)}`);
      }
      return [name, agent];
    }),
  );
}

/** @param what names it when it is no agent @param whose names it when it is one that makes no sense */
function checkAgent(candidate: unknown, what: string, whose: string = what): AgentDefinition {
  if (!isAgent(candidate)) throw notAnAgent(`${what} is not an agent: it has no card with a name`);
  try {
    return defineAgent(candidate);
  } catch (error) {
    throw notAnAgent(`${whose} is not valid: ${messageOf(error)}`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function notAnAgent(message: string): CliError {
  const hint =
    "write: export default defineAgent({ card: { name: … }, async *execute(turn) { … } }); see `a2a new`";
  return usageError(message, hint);
}

/** Agents by their names, of which one may be none; undefined for anything else. */
function entriesOfAgents(value: unknown): readonly (readonly [string, unknown])[] | undefined {
  const entries = isObject(value) && !isAgent(value) ? Object.entries(value) : [];
  return entries.some(([, candidate]) => isAgent(candidate)) ? entries : undefined;
}

/** As far as a look can tell; `defineAgent` checks the rest. */
function isAgent(value: unknown): value is AgentDefinition {
  return isObject(value) && isObject(value["card"]) && typeof value["card"]["name"] === "string";
}
