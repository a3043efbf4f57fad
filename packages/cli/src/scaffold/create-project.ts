import { resolve } from "node:path";
import type { CommandContext } from "../context.ts";
import { quote } from "../task/hints.ts";
import { durableAgent } from "./durable-agent.ts";
import { type AgentTemplate, projectFiles } from "./project-files.ts";
import { type ProjectName, parseProjectName } from "./project-name.ts";
import { turnAgent } from "./turn-agent.ts";
import { writeProject } from "./write-project.ts";

/** What `a2a new` is told. */
export interface CreateOptions {
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
