import { randomUUID } from "node:crypto";
import { constants, copyFile, link, mkdir, open, rm } from "node:fs/promises";
import { join } from "node:path";
import type { SaveFile } from "@a2a-connect/client";
import { numberedName, safeFileName } from "./safe-file-name.ts";

/** Names that are tried before it is given up. */
const maxNumber = 10_000;

/**
 * Writes a file that others named: below `directory`, which is made when it is missing, under `safeFileName(name)`, or
 * `name-2.ext` and so on where that is taken. What is there already, links included, is neither replaced nor followed.
 *
 * The file appears under its name when it is complete; when writing fails nothing stays behind.
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
  for (let number = 1; number <= maxNumber; number += 1) {
    const path = join(directory, number === 1 ? name : numberedName(name, number));
    try {
      await linkOrCopy(temporary, path);
      return path;
    } catch (thrown) {
      if (!isTaken(thrown)) throw thrown;
    }
  }
  throw new Error(`there are ${maxNumber} files called ${name} in ${directory} already`);
}

/** A link, unlike a rename, never takes the place of a file that is there. Not every file system has them. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
  } catch (thrown) {
    if (isTaken(thrown)) throw thrown;
    await copyFile(from, to, constants.COPYFILE_EXCL);
  }
}

function isTaken(thrown: unknown): boolean {
  return thrown instanceof Error && "code" in thrown && thrown.code === "EEXIST";
}
