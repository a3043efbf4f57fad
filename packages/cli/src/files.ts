import { createReadStream, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { addAbortSignal, type Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { CliError, codeOf, usageError } from "./cli-error.ts";

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

/** The rest of a sentence about a file, such as `cannot be read: it is a directory`. @param error what the file system threw */
export function describeFileError(
  error: unknown,
  use: "read" | "written",
): { readonly problem: string; readonly hint: string | undefined } {
  const given = codeOf(error) ?? "";
  const code = sameAs[given] ?? given;
  const [reason, hint] = faults[`${use} ${code}`] ?? faults[code] ?? [];
  return { problem: `cannot be ${use}${reason === undefined ? "" : `: ${reason}`}`, hint };
}

/**
 * All bytes of a file or of a stream such as the standard input, unless there are too many. @param name begins messages about it
 * @throws CliError USAGE, or what `refuse` makes; the signal's reason
 */
export async function readInput(
  source: string | Readable,
  name: string,
  maxBytes: number,
  {
    refuse = usageError,
    signal = new AbortController().signal,
  }: {
    readonly refuse?: (message: string, hint?: string, cause?: unknown) => CliError;
    /** Ends the wait for a user who types, or for a pipe that stays open. */
    readonly signal?: AbortSignal | undefined;
  } = {},
): Promise<Buffer> {
  const stream = typeof source === "string" ? createReadStream(source) : source;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of addAbortSignal(signal, stream)) {
      const bytes = Buffer.from(chunk);
      size += bytes.byteLength;
      if (size > maxBytes) throw refuse(`${name} has more than the ${maxBytes} bytes that a2a reads`);
      chunks.push(bytes);
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof CliError) throw error;
    const { problem, hint } = describeFileError(error, "read");
    throw refuse(`${name} ${problem}`, hint, error);
  }
  return Buffer.concat(chunks);
}

/** The path of a file that the user names, also by a `file:` URL. @throws CliError USAGE for one of another machine */
export function toPath(name: string, cwd: string): string {
  if (!/^file:/i.test(name)) return resolve(cwd, name);
  try {
    return fileURLToPath(name);
  } catch (cause) {
    const hint = "write file:///absolute/path, or a plain path";
    throw usageError(`"${name}" does not name a file on this machine`, hint, cause);
  }
}

/** A file of this package, by its path in it, also where the code has been bundled into `dist/`. */
export function publishedFile(path: string): URL {
  return new URL(`../${path}`, import.meta.url);
}

export function readVersion(): string {
  const manifest = JSON.parse(readFileSync(publishedFile("package.json"), "utf8")) as {
    version: string; // our own package.json
  };
  return manifest.version;
}
