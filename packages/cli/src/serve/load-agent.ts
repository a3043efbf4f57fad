import { stat } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type AgentDefinition, defineAgent } from "@a2a-connect/server";
import { CliError } from "../cli-error.ts";
import { type Fault, findFault } from "./module-fault.ts";

const howTo =
  "write: export default defineAgent({ card: { name: … }, async *execute(turn) { … } }); see `a2a new`";

/**
 * The agent that a module exports as its default: what `defineAgent` returns, or an array with one of them.
 *
 * @param file as the user wrote it, relative to `cwd`
 * @throws CliError USAGE when there is no such file, it cannot be loaded (with file and line), or it exports no agent
 */
export async function loadAgent(file: string, cwd: string): Promise<AgentDefinition> {
  const path = resolve(cwd, file);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || !found.isFile()) {
    throw new CliError("A2ACLI_ERR_USAGE", `there is no file ${file}`, {
      hint: "name the module that exports your agent, or begin one with `a2a new NAME`",
    });
  }
  return readDefault(await importModule(path, file, cwd), file);
}

async function importModule(path: string, file: string, cwd: string): Promise<Record<string, unknown>> {
  try {
    return await import(pathToFileURL(path).href);
  } catch (error) {
    const fault = await findFault(error, path);
    throw new CliError("A2ACLI_ERR_USAGE", `${file} cannot be loaded: ${sayFault(fault, cwd)}`, {
      cause: error,
      ...(fault.hint === undefined ? {} : { hint: fault.hint }),
    });
  }
}

function sayFault({ file, line, problem }: Fault, cwd: string): string {
  return file === undefined ? problem : `${relative(cwd, file)}:${line}: ${problem}`;
}

function readDefault(module: Record<string, unknown>, file: string): AgentDefinition {
  if (!("default" in module)) {
    const others = Object.keys(module);
    const exported = others.length === 0 ? "it exports nothing" : `it exports ${others.join(", ")}`;
    throw notAnAgent(`${file} has no default export: ${exported}`);
  }
  const candidates = Array.isArray(module["default"]) ? module["default"] : [module["default"]];
  if (candidates.length !== 1) {
    throw notAnAgent(`${file} exports ${candidates.length} agents, and one server has one`);
  }
  const [agent] = candidates;
  if (!isAgent(agent)) {
    throw notAnAgent(`the default export of ${file} is no agent: it has no card with a name`);
  }
  try {
    return defineAgent(agent);
  } catch (error) {
    throw notAnAgent(
      `the agent of ${file} makes no sense: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function notAnAgent(message: string): CliError {
  return new CliError("A2ACLI_ERR_USAGE", message, { hint: howTo });
}

/** As far as a look can tell; `defineAgent` checks the rest. */
function isAgent(value: unknown): value is AgentDefinition {
  if (typeof value !== "object" || value === null || !("card" in value)) {
    return false;
  }
  const { card } = value;
  return typeof card === "object" && card !== null && "name" in card && typeof card.name === "string";
}
