import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { fileUrl, json, text } from "@a2a-connect/core";
import type { Part } from "@a2a-connect/proto";
import type { JsonValue } from "@bufbuild/protobuf";
import { type CliError, usageError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { describeFileError, readInput } from "./files.ts";
import { defined } from "./json.ts";
import { type PartSource, readsStdin } from "./message-parts-flags.ts";

/** Longest JSON that is read for a part: what a server takes at most, unless it was told otherwise. */
const maxDataBytes = 16 * 2 ** 20;

/**
 * The parts, with their content: files and the standard input are read, one after the other; what is behind a URL is
 * left to the agent. @throws CliError USAGE when something cannot be read, is too large, or is no JSON; the signal's reason
 */
export async function readParts(
  sources: readonly PartSource[],
  io: Pick<CliIo, "cwd" | "stdin">,
  signal: AbortSignal,
): Promise<Part[]> {
  const parts: Part[] = [];
  for (const source of sources) {
    signal.throwIfAborted();
    parts.push(await readPart(source, io, signal));
  }
  return parts;
}

async function readPart(
  source: PartSource,
  io: Pick<CliIo, "cwd" | "stdin">,
  signal: AbortSignal,
): Promise<Part> {
  const { kind, value, mediaType } = source;
  const details = defined({ mediaType });
  switch (kind) {
    case "text":
      return text(value, details);
    case "data":
      return json(await readJson(source, io, signal), details);
    case "file":
      if (value === "-") {
        throw usageError(
          "--file cannot read the standard input",
          "--data - reads JSON from it; for a file with the name - write ./-",
        );
      }
      return await readFile(value, details, io.cwd);
  }
}

/** A file of this machine, with its bytes, or a URL for the agent to fetch. Its type is what was said, else what is told by it. */
async function readFile(value: string, details: { readonly mediaType?: string }, cwd: string): Promise<Part> {
  const { mediaTypeOf, uploadFile } = await import("@a2a-connect/node/client");
  if (isRemote(value)) {
    const told = mediaTypeOf(URL.parse(value)?.pathname ?? "");
    return fileUrl(value, told === "application/octet-stream" ? details : { mediaType: told, ...details });
  }
  const path = toPath(value, cwd);
  try {
    return await uploadFile(path, details);
  } catch (error) {
    throw unreadable(`--file ${path}`, error);
  }
}

async function readJson(
  source: PartSource,
  { cwd, stdin }: Pick<CliIo, "cwd" | "stdin">,
  signal: AbortSignal,
): Promise<JsonValue> {
  const isStdin = readsStdin(source);
  const name = isStdin ? "the standard input" : `--data ${source.value}`;
  const input = isStdin ? stdin : toPath(source.value, cwd);
  const bytes = await readInput(input, name, maxDataBytes, { signal });
  try {
    return JSON.parse(bytes.toString("utf8")) as JsonValue; // that is what it parses to
  } catch {
    throw usageError(
      `${name} is not JSON`,
      "--data takes the path of a JSON file, or - for the standard input",
    );
  }
}

/** A URL that the agent is to fetch. `file:` is of this machine, so the agent could not. */
function isRemote(value: string): boolean {
  return /^(?!file:)[a-z][a-z0-9+.-]*:\/\//i.test(value);
}

/** @throws CliError USAGE for a `file:` URL of another machine */
function toPath(value: string, cwd: string): string {
  if (!/^file:/i.test(value)) return resolve(cwd, value);
  try {
    return fileURLToPath(value);
  } catch (error) {
    throw unreadable(value, error);
  }
}

function unreadable(name: string, cause: unknown): CliError {
  const { problem, hint } = describeFileError(cause, "read");
  // What Node says about a URL has no code of the file system.
  const why = hint === undefined && cause instanceof Error ? `: ${cause.message}` : "";
  return usageError(`${name} ${problem}${why}`, hint, cause);
}
