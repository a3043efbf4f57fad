import { fileUrl, json, text } from "@a2a-connect/core";
import type { Part } from "@a2a-connect/proto";
import type { JsonValue } from "@bufbuild/protobuf";
import { usageError } from "./cli-error.ts";
import type { CliIo } from "./cli-io.ts";
import { describeFileError, readInput, toPath } from "./files.ts";
import { defined } from "./json.ts";

/** One use of a flag that makes a part, or that says what the part before it is. */
export interface GivenFlag {
  readonly flag: "text" | "file" | "data" | "media-type";
  readonly value: string;
}

/** What the parser leaves of the part flags: all uses of all four under each name, so that their order outlives the parser. */
export type PartOptions = {
  readonly [Name in "text" | "file" | "data" | "mediaType"]?: readonly GivenFlag[];
};

/** Where the content of one part comes from, and what it is said to be. */
export interface PartSource {
  /** `text` is the content itself, `file` a path or URL, `data` a path or `-` for the standard input. */
  readonly kind: "text" | "file" | "data";
  readonly value: string;
  readonly mediaType: string | undefined;
}

/**
 * The parts that the command line asks for, in its order. Words without a flag are one part of text, and the first.
 * @throws CliError USAGE: no part, a media type that belongs to none, two parts that want the standard input
 */
export function orderParts(words: readonly string[], options: PartOptions): PartSource[] {
  const given = options.text ?? options.file ?? options.data ?? options.mediaType ?? [];
  const sources: PartSource[] =
    words.join("").trim() === "" ? [] : [{ kind: "text", value: words.join(" "), mediaType: undefined }];
  let open = false; // whether the last flag made a part that may still be told its media type
  for (const { flag, value } of given) {
    if (flag === "media-type") {
      const part = open ? sources.pop() : undefined;
      if (part === undefined) {
        const hint = "put it right after the part: --file report.bin --media-type application/pdf";
        throw usageError(`--media-type ${value} has no part flag before it`, hint);
      }
      sources.push({ ...part, mediaType: value });
    } else {
      sources.push({ kind: flag, value, mediaType: undefined });
    }
    open = flag !== "media-type";
  }
  if (!sources.some(({ kind, value }) => kind !== "text" || value.trim() !== "")) {
    throw usageError("there is nothing to send", 'a2a send "your words", or --text, --file, --data');
  }
  if (sources.filter(readsStdin).length > 1) {
    throw usageError("only one part can come from the standard input");
  }
  return sources;
}

function readsStdin({ kind, value }: PartSource): boolean {
  return kind === "data" && value === "-";
}

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
    const { problem, hint } = describeFileError(error, "read");
    const why = hint === undefined && error instanceof Error ? `: ${error.message}` : ""; // too large, say
    throw usageError(`--file ${path} ${problem}${why}`, hint, error);
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
