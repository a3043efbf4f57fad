import { randomBytes } from "node:crypto";
import { access, chmod, mkdir, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { type CliError, usageError } from "../cli-error.ts";
import type { CliIo } from "../cli-io.ts";
import { describeFileError } from "../files.ts";

/** Who may read a file: its owner alone, or all users. */
export type FileAccess = "private" | "public";

const modes: Readonly<Record<FileAccess, number>> = { private: 0o600, public: 0o644 };

/**
 * Writes a file that is not there yet; with `force`, one that is.
 *
 * @param file as the user named it
 * @throws CliError USAGE when it is there and must not be overwritten, or cannot be written
 */
export async function writeNewFile(
  file: string,
  text: string,
  { cwd }: Pick<CliIo, "cwd">,
  { access: who, force }: { readonly access: FileAccess; readonly force: boolean },
): Promise<void> {
  if (force) return await replaceFile(file, text, { cwd }, modes[who]);
  try {
    await writeFile(resolve(cwd, file), text, { flag: "wx", mode: modes[who] });
  } catch (error) {
    throw isPresent(error) ? alreadyThere(file) : notWritten(file, error);
  }
}

/** @throws CliError USAGE when one of the files is there */
export async function requireAbsent(files: readonly string[], { cwd }: Pick<CliIo, "cwd">): Promise<void> {
  for (const file of files) {
    const isThere = await access(resolve(cwd, file)).then(
      () => true,
      () => false,
    );
    if (isThere) throw alreadyThere(file);
  }
}

/**
 * Puts another text in a file's place, all of it or nothing. What is no file, such as a pipe, has it written into.
 *
 * @param file as the user named it
 * @param mode default: that of the file that was there, or what is usual
 * @throws CliError USAGE when it cannot be written
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

/**
 * Keeps a line in a file that its owner alone can read, as its directory is, which is made when it is missing.
 *
 * @param file absolute
 * @throws CliError USAGE when it cannot be written
 */
export async function keepPrivately(file: string, line: string, io: Pick<CliIo, "cwd">): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await chmod(dirname(file), 0o700);
  await replaceFile(file, `${line}\n`, io, modes.private);
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

function isPresent(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EEXIST";
}

function alreadyThere(file: string): CliError {
  return usageError(
    `${file} exists already; nothing was written`,
    "choose another file with --out, or overwrite it with --force; a key that is overwritten cannot sign again",
  );
}

function notWritten(file: string, cause: unknown): CliError {
  const { problem, hint } = describeFileError(cause, "written");
  return usageError(`${file} ${problem}`, hint, cause);
}
