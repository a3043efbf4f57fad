import { stat } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type AgentDefinition, defineAgent } from "@a2a-connect/server";
import { assertAgentName } from "@a2a-connect/server/host";
import { type CliError, describeCauses, usageError } from "../cli-error.ts";
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
  const several = Array.isArray(alone)
    ? alone.map((value, index): Candidate => [undefined, value, `agent ${index + 1} of ${file}`])
    : entriesOfAgents(alone, file);
  return several === undefined
    ? { kind: "one", agent: checkAgent(alone, `the default export of ${file}`, `the agent of ${file}`) }
    : { kind: "several", agents: checkAgents(several, file) };
}

/** What may be an agent, the name that the module gives it, and what messages call it. */
type Candidate = readonly [name: string | undefined, value: unknown, what: string];

/** Agents by their names; without one, by what is made of that in the card. */
function checkAgents(candidates: readonly Candidate[], file: string): Record<string, AgentDefinition> {
  if (candidates.length === 0) throw notAnAgent(`the default export of ${file} is an array without agents`);
  const agents: Record<string, AgentDefinition> = {};
  for (const [given, value, what] of candidates) {
    const agent = checkAgent(value, what);
    const name = given ?? toName(agent.card.name);
    if (Object.hasOwn(agents, name)) {
      throw notAnAgent(
        `two agents of ${file} would be called "${name}": export an object with a name for each instead`,
      );
    }
    try {
      assertAgentName(name);
    } catch (error) {
      throw notAnAgent(`${file}: ${describeCauses(error)}`);
    }
    agents[name] = agent;
  }
  return agents;
}

/** `Table booker` is served as `table-booker`. */
function toName(cardName: string): string {
  const name = cardName.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return name.slice(0, 64).replaceAll(/^-|-$/g, "") || "agent";
}

/** @param what names it when it is no agent @param whose names it when it is one that makes no sense */
function checkAgent(candidate: unknown, what: string, whose: string = what): AgentDefinition {
  if (!isAgent(candidate)) throw notAnAgent(`${what} is not an agent: it has no card with a name`);
  try {
    return defineAgent(candidate);
  } catch (error) {
    throw notAnAgent(`${whose} is not valid: ${describeCauses(error)}`);
  }
}

function notAnAgent(message: string): CliError {
  const hint =
    "write: export default defineAgent({ card: { name: … }, async *execute(turn) { … } }); see `a2a new`";
  return usageError(message, hint);
}

/** Agents by their names, of which one may be none; undefined for anything else. */
function entriesOfAgents(value: unknown, file: string): readonly Candidate[] | undefined {
  const entries = isObject(value) && !isAgent(value) ? Object.entries(value) : [];
  return entries.some(([, each]) => isAgent(each))
    ? entries.map(([name, each]) => [name, each, `the agent ${JSON.stringify(name)} of ${file}`])
    : undefined;
}

/** As far as a look can tell; `defineAgent` checks the rest. */
function isAgent(value: unknown): value is AgentDefinition {
  return isObject(value) && isObject(value["card"]) && typeof value["card"]["name"] === "string";
}
