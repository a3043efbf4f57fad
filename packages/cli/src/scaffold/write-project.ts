import { access, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CliError } from "../cli-error.ts";

/** Text files by their path inside a project. */
export type ProjectFiles = ReadonlyMap<string, string>;

/**
 * Writes all files of a project, or none of them.
 *
 * @param directory created when it is missing; what else is in it stays
 * @param shown the directory as the user knows it
 * @throws CliError USAGE when one of the files is there already
 */
export async function writeProject(directory: string, files: ProjectFiles, shown: string): Promise<void> {
  const present: string[] = [];
  for (const path of files.keys()) {
    if (await exists(join(directory, path))) {
      present.push(path);
    }
  }
  if (present.length > 0) {
    throw new CliError(
      "A2ACLI_ERR_USAGE",
      `${shown} has ${present.join(", ")} already; nothing was written`,
      {
        hint: "choose another directory with --dir",
      },
    );
  }
  try {
    for (const [path, content] of files) {
      const target = join(directory, path);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, content, { flag: "wx" });
    }
  } catch (error) {
    throw new CliError("A2ACLI_ERR_USAGE", `${shown} cannot be written to`, { cause: error });
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
