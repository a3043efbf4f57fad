import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { parse } from "yaml";
import { usageError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import { readInput } from "../files.ts";
import { agentNames } from "../settings/book.ts";
import { findConfigFile, parseConfig } from "../settings/config-file.ts";

const maxListBytes = 4 * 1024 * 1024;

/**
 * The agents to be tried, each as `--agent-card` would have it: references as they are, lists in files (a line each, a YAML list, or
 * the agents of an `a2a.config.yaml`) taken apart. Nothing given: the agents of the nearest `a2a.config.yaml`.
 */
export async function readTargets(
  given: readonly string[],
  io: Pick<CliIo, "cwd">,
): Promise<readonly string[]> {
  const named = given.length === 0 ? await agentNames(io) : [];
  const lists = await Promise.all(given.map((each) => expand(each, io)));
  const targets = [...new Set([...named, ...lists.flat()])];
  if (targets.length === 0) {
    throw usageError(
      "there is no agent to try",
      "Give URLs or a file that lists them, or name agents in a2a.config.yaml.",
    );
  }
  return targets;
}

/** A card is a file as well, and stays what it is. */
async function expand(target: string, io: Pick<CliIo, "cwd">): Promise<readonly string[]> {
  if (/^[a-z]+:\/\//i.test(target)) return [target];
  const path = resolve(io.cwd, target);
  if (!(await stat(path).catch(() => undefined))?.isFile()) {
    if (!/\.(txt|ya?ml)$/i.test(target)) return [target]; // a host, or a name
    throw usageError(`there is no file ${path}`, "Give the path of a list, or an agent's URL.");
  }
  const text = (await readInput(path, path, maxListBytes)).toString("utf8");
  return target.endsWith(".json") && !/^\s*\[/.test(text) ? [target] : await readList(path, text, io);
}

async function readList(path: string, text: string, io: Pick<CliIo, "cwd">): Promise<readonly string[]> {
  if (isLines(text)) return linesOf(text);
  const value = parseYaml(path, text);
  if (Array.isArray(value)) return value.map((entry, index) => requireText(entry, path, index));
  const names = Object.keys(parseConfig(path, text).config.agents ?? {});
  const nearest = await findConfigFile(io.cwd);
  if (nearest?.path !== path) {
    // Names are looked up in the nearest file, where they may mean other agents, or none.
    const hint = "Go to its directory and run a2a smoke there.";
    throw usageError(`${path} is not the a2a.config.yaml that applies in this directory`, hint);
  }
  return names;
}

/** Addresses and names, one a line: neither a YAML list nor a mapping. */
function isLines(text: string): boolean {
  const [first = ""] = linesOf(text);
  return !/^[-[{]|^[\w-]+:(\s|$)|^---/.test(first);
}

function linesOf(text: string): string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.replace(/(^|\s)#.*/s, "").trim())
    .filter((line) => line !== "");
}

function parseYaml(path: string, text: string): unknown {
  try {
    return parse(text, { maxAliasCount: 100 });
  } catch (cause) {
    throw usageError(`${path} is not a list of agents: it is not valid YAML`, undefined, cause);
  }
}

function requireText(entry: unknown, path: string, index: number): string {
  if (typeof entry === "string" && entry !== "") return entry;
  throw usageError(`${path}: entry ${index + 1} is not an address`);
}
