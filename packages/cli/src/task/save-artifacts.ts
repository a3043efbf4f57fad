import { mkdir, rmdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { ArtifactReader } from "@a2a-connect/client/internal";
import { untilAborted } from "@a2a-connect/core/internal";
import { codeOf, usageError } from "../cli-error.ts";
import { describeFileError } from "../files.ts";

/** Where to save the artifacts of a task. */
export interface SavePlace {
  readonly cwd: string;
  readonly taskId: string;
  /** What the user has named, relative to `cwd`; empty or undefined: a new directory. */
  readonly directory: string | undefined;
  readonly signal: AbortSignal;
}

/**
 * Saves artifacts, and gives the paths of each when it is saved. The agent chooses the names of the files, and programs obey files
 * of some names where they run (`Makefile`, `package.json`). So files come into the working directory only if the user names it.
 *
 * @throws CliError USAGE when the directory is none, or cannot be written
 */
export async function* saveArtifacts(
  readers: readonly ArtifactReader[],
  { cwd, taskId, directory: named, signal }: SavePlace,
): AsyncGenerator<readonly [ArtifactReader, readonly string[]], void, undefined> {
  if (readers.length === 0) return;
  const isNew = named === undefined || named === "";
  const directory = isNew ? await createTaskDirectory(cwd, taskId) : resolve(cwd, named);
  try {
    for (const reader of readers) {
      signal.throwIfAborted();
      const paths = await untilAborted(reader.save(directory), signal).catch((error: unknown) => {
        throw explainDirectory(error, directory);
      });
      yield [reader, paths];
    }
  } finally {
    if (isNew) await rmdir(directory).catch(() => {}); // fails when there are files in it
  }
}

/**
 * Creates `task-ID`, or `task-ID-2` and so on when that exists. What exists may be a link out of a project that was cloned, or have
 * the files of another agent, whose task has the same id.
 *
 * @returns its path
 */
export async function createTaskDirectory(cwd: string, taskId: string): Promise<string> {
  const name = `task-${taskId.slice(0, maxIdLength).replace(/[^\w-]/g, "_")}`;
  for (let number = 1; ; number += 1) {
    const directory = join(cwd, number === 1 ? name : `${name}-${number}`);
    try {
      await mkdir(directory);
      return directory;
    } catch (error) {
      if (codeOf(error) !== "EEXIST") throw explainDirectory(error, cwd);
    }
  }
}

const maxIdLength = 100;

function explainDirectory(error: unknown, directory: string): unknown {
  const code = codeOf(error);
  if (code === "EEXIST") return usageError(`${directory} is a file, not a directory`, hint, error);
  if (!["ENOTDIR", "EACCES", "EPERM", "EROFS"].includes(String(code))) return error;
  return usageError(`${directory} ${describeFileError(error, "written").problem}`, hint, error);
}

const hint = "name another directory";
