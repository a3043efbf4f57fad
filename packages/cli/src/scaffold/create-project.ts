import { resolve } from "node:path";
import type { CommandContext } from "../command-context.ts";
import { quote } from "../task/hints.ts";
import { findTemplate, projectFiles } from "./project-files.ts";
import { parseProjectName } from "./project-name.ts";
import { writeProject } from "./write-project.ts";

/** What `a2a new` is told. */
export interface CreateOptions {
  readonly durable: boolean;
  /** As the user wrote it. */
  readonly directory: string;
  readonly version: string;
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
  const files = projectFiles({ name, durable, version });
  await writeProject(resolve(io.cwd, directory), files, directory);
  const { example } = findTemplate({ name, durable });
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
    `npx a2a send -a http://localhost:4000 "${example}"   # in another terminal`,
  ];
  await output.block("Next steps", steps.join("\n"));
}
