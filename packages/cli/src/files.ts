import { createReadStream, readFileSync } from "node:fs";
import { addAbortSignal, type Readable } from "node:stream";
import { CliError } from "./cli-error.ts";

/** Why a file cannot be read or written, for people. */
interface FileError {
  /** The rest of a sentence about the file, such as `is a directory`. */
  readonly problem: string;
  readonly hint: string | undefined;
}

/** What Node's codes say, and what to do about it; where reading and writing differ, by both. */
const faults: Readonly<Record<string, readonly [reason: string, hint: string]>> = {
  "read ENOENT": ["there is no such file", "check its spelling, and the directory that it is relative to"],
  "written ENOENT": ["its directory does not exist", "make it first: mkdir -p"],
  "read EACCES": ["you are not allowed to", "ls -l shows its permissions, chmod changes them"],
  "written EACCES": [
    "you are not allowed to write there",
    "choose another place, or have its owner allow it",
  ],
  ENOTDIR: ["part of its path is not a directory", "check the spelling of the path"],
  EISDIR: ["it is a directory", "name a file in it"],
  EROFS: ["the file system is read-only", "choose another place"],
  ENOSPC: ["there is no space left", "make room, or choose another place"],
  ELOOP: ["its symbolic links lead in a circle", "name the file itself"],
  ENAMETOOLONG: ["its name is too long", "choose a shorter one"],
};

const sameAs: Readonly<Record<string, string>> = { EPERM: "EACCES", EDQUOT: "ENOSPC" };

/** @param error what the file system threw @param use what was tried */
export function describeFileError(error: unknown, use: "read" | "written"): FileError {
  const given = error instanceof Error && "code" in error ? String(error.code) : "";
  const code = sameAs[given] ?? given;
  const [reason, hint] = faults[`${use} ${code}`] ?? faults[code] ?? [];
  return { problem: `cannot be ${use}${reason === undefined ? "" : `: ${reason}`}`, hint };
}

/**
 * All bytes of a file or of a stream such as the standard input, unless there are too many.
 *
 * @param source the path of a file, or the stream
 * @param refuse makes the error from the rest of a sentence about the source, such as `has more than 10 bytes`
 * @param signal ends the wait for a user who types, or for a pipe that stays open
 * @throws what `refuse` makes; the signal's reason
 */
export async function readInput(
  source: string | Readable,
  maxBytes: number,
  refuse: (problem: string, hint?: string, cause?: unknown) => CliError,
  signal: AbortSignal = new AbortController().signal,
): Promise<Buffer> {
  const stream = typeof source === "string" ? createReadStream(source) : source;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of addAbortSignal(signal, stream)) {
      const bytes = Buffer.from(chunk);
      size += bytes.byteLength;
      if (size > maxBytes) throw refuse(`has more than the ${maxBytes} bytes that it may have`);
      chunks.push(bytes);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CliError) throw error;
    const { problem, hint } = describeFileError(error, "read");
    throw refuse(problem, hint, error);
  }
  return Buffer.concat(chunks);
}

/** A file of this package, by its path in it, also where the code has been bundled into `dist/`. */
export function publishedFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}

/** The version of this command. */
export function readVersion(): string {
  const manifest = JSON.parse(readFileSync(publishedFile("package.json"), "utf8")) as {
    version: string; // our own package.json
  };
  return manifest.version;
}
