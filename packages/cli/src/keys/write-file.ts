import { randomBytes } from "node:crypto";
import { access, chmod, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { CliError } from "../cli-error.ts";

/** Who may read a file: its owner alone, or everybody. */
export type FileAccess = "private" | "public";

const modes: Readonly<Record<FileAccess, number>> = { private: 0o600, public: 0o644 };

/**
 * Writes a file that is not there yet; with `force`, one that is.
 *
 * @throws CliError USAGE when it is there and must not be overwritten, or cannot be written
 */
export async function writeNewFile(
  path: string,
  text: string,
  { access: who, force }: { readonly access: FileAccess; readonly force: boolean },
): Promise<void> {
  if (force) return await replaceFile(path, text, modes[who]);
  try {
    await writeFile(path, text, { flag: "wx", mode: modes[who] });
  } catch (error) {
    throw isPresent(error) ? alreadyThere(path) : notWritten(path, error);
  }
}

/** @throws CliError USAGE when one of the files is there */
export async function requireAbsent(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere) throw alreadyThere(path);
  }
}

/**
 * Puts another text in a file's place, all of it or nothing.
 *
 * @param mode default: that of the file that was there, or what is usual
 * @throws CliError USAGE when it cannot be written
 */
export async function replaceFile(path: string, text: string, mode?: number): Promise<void> {
  const target = await realpath(path).catch(() => path); // a link goes on being one
  const beside = `${target}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const before = mode ?? (await stat(target).catch(() => undefined))?.mode;
    await writeFile(beside, text, { flag: "wx", ...(before === undefined ? {} : { mode: before & 0o777 }) });
    if (before !== undefined) await chmod(beside, before & 0o777); // what the umask took away
    await rename(beside, target);
  } catch (error) {
    await rm(beside, { force: true });
    throw notWritten(path, error);
  }
}

function isPresent(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "EEXIST";
}

function alreadyThere(path: string): CliError {
  return new CliError("A2ACLI_ERR_USAGE", `${path} is there already; nothing was written`, {
    hint: "choose another file with --out; --force overwrites, and what was signed with a lost key cannot be signed by it again",
  });
}

function notWritten(path: string, cause: unknown): CliError {
  return new CliError("A2ACLI_ERR_USAGE", `${path} cannot be written`, { cause });
}
