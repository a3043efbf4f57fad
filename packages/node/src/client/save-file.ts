import { randomUUID } from "node:crypto";
import { constants, copyFile, link, lstat, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { SaveFile } from "@a2a-connect/client/internal";
import { hasCode } from "./file-lock.ts";
import { findFreeNumber } from "./free-number.ts";
import { numberedName, safeFileName } from "./safe-file-name.ts";

/** Files of one name in a directory. */
const maxNumber = 10_000;

/**
 * Writes a file with a name that another party chose: below `directory`, which is created when it is missing, under
 * `safeFileName(name)`, or `name-2.ext` and so on when that exists. It neither replaces nor follows an existing file or
 * link.
 *
 * The file gets its name when it is complete. When writing fails, nothing remains.
 */
export const saveFile: SaveFile = async (directory, name, content) => {
  await mkdir(directory, { recursive: true });
  const temporary = join(directory, `.${randomUUID()}.part`);
  try {
    await writeNew(temporary, content);
    return await giveName(temporary, directory, safeFileName(name));
  } finally {
    await rm(temporary, { force: true });
  }
};

async function writeNew(path: string, content: AsyncIterable<Uint8Array> | Uint8Array): Promise<void> {
  await using file = await open(path, "wx");
  await file.writeFile(content);
}

async function giveName(temporary: string, directory: string, name: string): Promise<string> {
  const pathOf = (number: number) => join(directory, number === 1 ? name : numberedName(name, number));
  const isThere = (number: number) => exists(pathOf(number));
  for (let from = 1; ; from += 1) {
    const number = await findFreeNumber(isThere, from, maxNumber);
    if (number === undefined) {
      throw new Error(`there are ${maxNumber} files called ${name} in ${directory} already`);
    }
    try {
      await linkOrCopy(temporary, pathOf(number));
      return pathOf(number);
    } catch (thrown) {
      if (!hasCode(thrown, "EEXIST")) throw thrown;
      from = number; // another process was faster
    }
  }
}

/** Links are not followed: a link to nothing counts as existing, too. */
async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (thrown) {
    if (hasCode(thrown, "ENOENT")) return false;
    throw thrown;
  }
}

/** A link, unlike a rename, never replaces an existing file. Not every file system has links. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (thrown) {
    if (hasCode(thrown, "EEXIST")) throw thrown;
    await copyFile(from, to, constants.COPYFILE_EXCL);
  }
}
