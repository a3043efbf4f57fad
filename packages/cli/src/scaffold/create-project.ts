import { access, mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { CliError, usageError } from "../cli-error.ts";
import type { CommandContext } from "../context.ts";
import { quote } from "../task/hints.ts";
import { durableAgent } from "./durable-agent.ts";
import { type AgentTemplate, type ProjectFiles, type ProjectName, projectFiles } from "./project-files.ts";
import { turnAgent } from "./turn-agent.ts";

/** What `a2a new` is told. */
interface CreateOptions {
  readonly durable: boolean;
  /** As the user wrote it. */
  readonly directory: string;
  readonly version: string;
}

/** The template of a kind of agent. */
export function findTemplate(name: ProjectName, durable: boolean): AgentTemplate {
  return durable ? durableAgent(name) : turnAgent(name);
}

/**
 * Writes the project and says what to do next.
 *
 * @throws CliError USAGE when the name is none, or something would be overwritten
 */
export async function createProject(
  { io, output }: Pick<CommandContext, "io" | "output">,
  givenName: string,
  { durable, directory, version }: CreateOptions,
): Promise<void> {
  const name = parseProjectName(givenName);
  const template = findTemplate(name, durable);
  const files = projectFiles({ name, version }, template);
  await writeProject(resolve(io.cwd, directory), files, directory);
  const paths = [...files.keys()];
  await output.document({ name: name.name, directory: resolve(io.cwd, directory), files: paths });
  await output.field("Project", name.name);
  await output.field("Directory", directory);
  await output.field("Files", paths.join(", "));
  const steps = [
    `cd ${quote(directory)}`,
    "npm install",
    "npm test",
    "npm run dev",
    `npx a2a send -a http://localhost:4000 "${template.example}"   # in another terminal`,
  ];
  await output.block("Next steps", steps.join("\n"));
}

/** Names that npm or Node take for something else. */
const taken: ReadonlySet<string> = new Set(["node_modules", "test", "node", "package", "favicon.ico"]);

/** @throws CliError USAGE when the name is none that a package may have */
export function parseProjectName(name: string): ProjectName {
  if (!/^[a-z][a-z0-9]*(?:[-._][a-z0-9]+)*$/.test(name) || name.length > 64 || taken.has(name)) {
    const suggestion = suggestName(name);
    throw new CliError(
      "A2ACLI_ERR_USAGE",
      `"${name}" cannot be the name of a project: lowercase letters, digits and single hyphens, beginning with a letter`,
      suggestion === undefined ? {} : { hint: `a2a new ${suggestion}` },
    );
  }
  const words = name.replaceAll(/[-._]/g, " ");
  return { name, title: words.charAt(0).toUpperCase() + words.slice(1) };
}

function suggestName(name: string): string | undefined {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^[-0-9]+|-+$/g, "")
    .slice(0, 64);
  return plain === "" || taken.has(plain) ? undefined : plain;
}

/**
 * Writes all files of a project, or none of them.
 *
 * @param directory created when it is missing; what else is in it stays
 * @param shown the directory as the user knows it
 * @throws CliError USAGE when one of the files is there already
 */
async function writeProject(directory: string, files: ProjectFiles, shown: string): Promise<void> {
  const present: string[] = [];
  for (const path of files.keys()) {
    if (await exists(join(directory, path))) present.push(path);
  }
  if (present.length > 0) {
    throw usageError(
      `${shown} has ${present.join(", ")} already; nothing was written`,
      "choose another directory with --dir",
    );
  }
  try {
    for (const [path, content] of files) {
      const target = join(directory, path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, content, { flag: "wx" });
    }
  } catch (error) {
    throw usageError(`${shown} cannot be written to`, undefined, error);
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
