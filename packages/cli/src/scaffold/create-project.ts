import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { usageError } from "../cli-error.ts";
import { quote } from "../commands-to-copy.ts";
import type { CommandContext } from "../context.ts";
import { publishedFile, readVersion } from "../files.ts";

/** The kinds of agents, each with a folder of `templates/`: a message to begin with, and what the agent does. */
export const kinds = {
  turn: {
    example: "What is A2A?",
    summary: "Answers questions word by word, and asks for one when it gets none.",
  },
  durable: {
    example: "A table for two, please",
    summary: "Offers a table and books it when told to. Its tasks survive a crash at any point.",
  },
} as const;

/** `a2a new`: writes a project that works, with its test, and says what to do next. @param path a name, or a folder that ends in it */
export async function createProject(
  { io, output }: Pick<CommandContext, "io" | "output">,
  path: string,
  { durable = false, dir = path }: { readonly durable?: boolean; readonly dir?: string },
): Promise<void> {
  const name = basename(path);
  requireProjectName(name);
  const kind = durable ? "durable" : "turn";
  const { example, summary } = kinds[kind];
  const words = name.replaceAll(/[-._]/g, " ");
  const title = words.charAt(0).toUpperCase() + words.slice(1);
  // All packages of a2a-connect have the version of this command.
  const values = { name, title, version: readVersion(), example, summary };
  const files = new Map([...fillTemplate("project", values), ...fillTemplate(kind, values)]);
  await writeProject(resolve(io.cwd, dir), files, dir);
  const paths = [...files.keys()];
  await output.document({ name, directory: resolve(io.cwd, dir), files: paths });
  await output.fields({ Project: name, Directory: dir, Files: paths.join(", ") });
  const steps = [
    `cd ${quote(dir)}`,
    "npm install",
    "npm test",
    "npm run dev",
    `npx a2a-connect send -a http://localhost:4000 "${example}"   # in another terminal`,
  ];
  await output.block("Next steps", steps.join("\n"));
}

/** The files of a folder of `templates/`, with values in place of `{{name}}`. */
function fillTemplate(folder: string, values: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const url = publishedFile(`templates/${folder}/`);
  return new Map(
    readdirSync(url)
      .sort()
      .map((path) => [
        path.replace(/^(?=(?:git|docker)ignore$)/, "."), // npm publishes no file of that name
        readFileSync(new URL(path, url), "utf8").replaceAll(
          /\{\{(\w+)\}\}/g,
          (_, key: string) => values[key] ?? "",
        ),
      ]),
  );
}

/** Names that npm or Node take for something else. */
const taken: ReadonlySet<string> = new Set(["node_modules", "test", "node", "package", "favicon.ico"]);

function requireProjectName(name: string): void {
  if (/^[a-z][a-z0-9]*(?:[-._][a-z0-9]+)*$/.test(name) && name.length <= 64 && !taken.has(name)) return;
  const suggestion = suggestName(name);
  throw usageError(
    `"${name}" cannot be the name of a project: a name begins with a letter and has only lowercase letters, digits and single hyphens`,
    suggestion && `a2a new ${suggestion}`,
  );
}

function suggestName(name: string): string | undefined {
  const plain = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^[-0-9]+|-$/g, "")
    .slice(0, 64);
  return plain === "" || taken.has(plain) ? undefined : plain;
}

/** Writes all files of a project, or none of them. @param directory made when it is missing @param shown as the user knows it */
async function writeProject(
  directory: string,
  files: ReadonlyMap<string, string>,
  shown: string,
): Promise<void> {
  const present = [...files.keys()].filter((path) => existsSync(join(directory, path)));
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
