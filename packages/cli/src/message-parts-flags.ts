import type { Command } from "commander";
import { usageError } from "./cli-error.ts";

/** One use of a flag that makes a part, or that says what the part before it is. */
interface GivenFlag {
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

/** Adds `--text`, `--file`, `--data` and `--media-type`, each as often as wanted (a2a-cli §10.2). */
export function addPartOptions(command: Command): Command {
  const given: GivenFlag[] = [];
  const collect = (flag: GivenFlag["flag"]) => (value: string) => {
    given.push({ flag, value });
    return given;
  };
  return command
    .option(
      "--text <string>",
      "a part of text; repeatable, parts keep the order of their flags",
      collect("text"),
    )
    .option(
      "--file <path|url>",
      "a part with a file's bytes, or with a URL for the agent to fetch",
      collect("file"),
    )
    .option("--data <path|->", "a part of JSON, from a file or the standard input", collect("data"))
    .option(
      "--media-type <type>",
      "media type of the part flag before it (default: inferred)",
      collect("media-type"),
    );
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
        throw usageError(`--media-type ${value} has no part flag before it`, mediaTypeHint);
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

export function readsStdin({ kind, value }: PartSource): boolean {
  return kind === "data" && value === "-";
}

const mediaTypeHint = "put it right after the part: --file report.bin --media-type application/pdf";
