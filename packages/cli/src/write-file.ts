import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, mkdir, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type CliError, codeOf, usageError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { describeFileError } from "./files.ts";

/** Writes a file that is not there yet; with `force`, one that is. @throws CliError USAGE when it is there, or cannot be written */
export async function writeNewFile(
  file: string,
  text: string,
  { cwd }: Pick<CliIo, "cwd">,
  { mode, force }: { readonly mode: number; readonly force: boolean },
): Promise<void> {
  if (force) return await replaceFile(file, text, { cwd }, mode);
  try {
    await writeFile(resolve(cwd, file), text, { flag: "wx", mode });
  } catch (error) {
    throw codeOf(error) === "EEXIST" ? alreadyThere(file) : notWritten(file, error);
  }
}

/** @throws CliError USAGE when one of the files is there */
export function requireAbsent(files: readonly string[], { cwd }: Pick<CliIo, "cwd">): void {
  const present = files.find((file) => existsSync(resolve(cwd, file)));
  if (present !== undefined) throw alreadyThere(present);
}

/**
 * Puts another text in a file's place, all of it or nothing. What is no file, such as a pipe, has it written into.
 * @param mode default: that of the file that was there, or what is usual @throws CliError USAGE when it cannot be written
 */
export async function replaceFile(
  file: string,
  text: string,
  { cwd }: Pick<CliIo, "cwd">,
  mode?: number,
): Promise<void> {
  const path = resolve(cwd, file);
  try {
    const target = await realpath(path).catch(() => path); // a link goes on being one
    const before = await stat(target).catch(() => undefined);
    if (before === undefined || before.isFile()) await replaceWhole(target, text, mode ?? before?.mode);
    else await writeFile(target, text);
  } catch (error) {
    throw notWritten(file, error);
  }
}

/** Keeps a line in a file that its owner alone can read, as its directory, which is made. @throws CliError USAGE when it cannot be */
export async function keepPrivately(file: string, line: string, io: Pick<CliIo, "cwd">): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await chmod(dirname(file), 0o700);
  await replaceFile(file, `${line}\n`, io, 0o600);
}

async function replaceWhole(target: string, text: string, mode: number | undefined): Promise<void> {
  const beside = `${target}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    await writeFile(beside, text, { flag: "wx", ...(mode === undefined ? {} : { mode: mode & 0o777 }) });
    if (mode !== undefined) await chmod(beside, mode & 0o777); // what the umask took away
    await rename(beside, target);
  } catch (error) {
    await rm(beside, { force: true }).catch(() => undefined); // the first error is the one to tell
    throw error;
  }
}

/** A file that is not overwritten. @param why the rest of a sentence about it */
export function alreadyThere(file: string, why = "exists already"): CliError {
  return usageError(
    `${file} ${why}; nothing was written`,
    "choose another file with --out, or overwrite it with --force; a key that is overwritten cannot sign again",
  );
}

function notWritten(file: string, cause: unknown): CliError {
  const { problem, hint } = describeFileError(cause, "written");
  return usageError(`${file} ${problem}`, hint, cause);
}
