import { styleText } from "node:util";
import { escapeInvisible, trimEndOf, visibleText } from "@a2a-connect/core/internal";
import type { CliIo, TextSink } from "./cli-io.ts";
import type { Settings } from "./settings/resolve.ts";

/**
 * What a command prints (a2a-cli §11). In `json` nothing but the payload goes to stdout; diagnostics always go to stderr.
 * Everything that came from an agent is stripped of terminal control sequences on its way.
 */
export interface Output {
  readonly format: "json" | "text";
  /** JSON Lines: one document per event. */
  readonly streaming: boolean;
  /** The full view (`--verbose`). */
  readonly verbose: boolean;
  /** Whether a person reads the text at a terminal: states are words, lists are tables, and text grows as it comes. */
  readonly isTerminal: boolean;
  /** A text in this style, where the terminal has colours (`NO_COLOR`, `FORCE_COLOR`). */
  paint(style: Style, text: string): string;
  /** Text: as it is, without a line of its own. Does nothing in `json`. */
  write(text: string): Promise<void>;
  /** Text: one `Label: value` line; none without a value. Does nothing in `json`. */
  field(label: string, value: string | number | undefined, style?: Style): Promise<void>;
  /** Text: the same for each of these; of a list one line each. */
  fields(values: Fields): Promise<void>;
  /** Text: a label of its own line, the content, an empty line. Does nothing in `json`. */
  block(label: string, content: string): Promise<void>;
  /** At a terminal: a line at the bottom, until something else is printed; undefined takes it away. @returns whether it is shown */
  progress(line: string | undefined): Promise<boolean>;
  /** Json: one document (a single one unless streaming). Does nothing in `text`. */
  document(value: unknown): Promise<void>;
  /** Json Lines: one of many documents. Does nothing in `text`, nor where one document says it all at the end. */
  event(value: unknown): Promise<void>;
  /** To stderr, in either format: `warning: …`. */
  warn(sentence: string): Promise<void>;
  /** To stderr, in either format: a hint, progress, a line for people. */
  note(sentence: string): Promise<void>;
}

/** Values by their labels, in the order of their lines. */
export type Fields = Readonly<Record<string, string | number | undefined | readonly string[]>>;

/** Styles of the command: what is well, what is wrong, what waits for the user, what goes on, and what matters less. */
export type Style = "green" | "red" | "yellow" | "cyan" | "bold" | "dim";

export interface RunOutput extends Output {
  /** Whether a document was printed: without `--stream` there is only one. */
  readonly answered: boolean;
}

export const eraseLine = "\r\u001b[K";

/** The output of one run, on its streams. Without an environment it has no colours. */
export function createOutput(
  { stdout, stderr, env }: Pick<CliIo, "stdout" | "stderr"> & Partial<Pick<CliIo, "env">>,
  { output: format, stream: streaming, verbose }: Pick<Settings, "output" | "stream" | "verbose">,
): RunOutput {
  const isText = format === "text";
  const painter = (sink: TextSink): Output["paint"] =>
    hasColours(sink, env)
      ? (style, text) => (text === "" ? "" : styleText(style, text, { validateStream: false }))
      : (_style, text) => text;
  const [paint, paintNote] = [painter(stdout), painter(stderr)];
  const hasLiveLine =
    isText && stdout.isTerminal && stderr.isTerminal && env !== undefined && env["TERM"] !== "dumb";
  let isLive = false;
  const print = async (sink: TextSink, text: string): Promise<void> => {
    if (isLive) {
      isLive = false;
      await stderr.write(eraseLine);
    }
    await sink.write(text);
  };
  const field: Output["field"] = async (label, value, style) => {
    if (!isText || value === undefined || value === "") return;
    const line = toLine(String(value));
    await print(stdout, `${paint("dim", `${label}:`)} ${style === undefined ? line : paint(style, line)}\n`);
  };
  let answered = false;
  const document = async (value: unknown): Promise<void> => {
    if (isText) return;
    answered = true;
    await print(stdout, `${formatJsonDocument(value, streaming)}\n`);
  };
  return {
    format,
    streaming,
    verbose,
    isTerminal: isText && stdout.isTerminal,
    paint,
    async write(text) {
      if (isText) await print(stdout, text);
    },
    async progress(line) {
      if (hasLiveLine && (isLive || line !== undefined)) {
        isLive = line !== undefined;
        await stderr.write(`${eraseLine}${line ?? ""}`);
      }
      return isLive;
    },
    get answered() {
      return answered;
    },
    field,
    async fields(values) {
      for (const [label, value] of Object.entries(values)) {
        for (const each of [value].flat()) await field(label, each);
      }
    },
    async block(label, content) {
      if (isText) await print(stdout, `${paint("dim", `${label}:`)}\n${toBlock(content)}\n\n`);
    },
    document,
    async event(value) {
      if (streaming) await document(value);
    },
    async warn(sentence) {
      await print(stderr, `${paintNote("yellow", "warning:")} ${toSentence(sentence)}\n`);
    },
    async note(sentence) {
      const [, label = "", rest = ""] = /^(error:|hint:)?(.*)$/s.exec(toSentence(sentence)) ?? [];
      await print(stderr, `${paintNote(label === "error:" ? "red" : "cyan", label)}${rest}\n`);
    },
  };
}

/** https://no-color.org and https://force-color.org: a variable that is empty says nothing. */
function hasColours({ isTerminal }: TextSink, env: CliIo["env"] | undefined): boolean {
  const { NO_COLOR = "", FORCE_COLOR = "", TERM } = env ?? { NO_COLOR: "1" };
  return NO_COLOR === "" && (FORCE_COLOR !== "" ? FORCE_COLOR !== "0" : isTerminal && TERM !== "dumb");
}

/** Text that people may see, its lines ended by line feeds alone. */
export function toText(text: string): string {
  return visibleText(text.replace(/\r\n?/g, "\n"));
}

/**
 * A diagnostic that may quote an agent: what follows its first line is indented, so that an agent's words never look like
 * an `error:` or a `hint:` of ours.
 */
export function toSentence(text: string): string {
  return toText(text).trimEnd().replaceAll("\n", "\n  ");
}

/** The same on one line. */
export function toLine(text: string): string {
  return toText(text).replace(/\s+/g, (space) => (space.includes("\n") ? " " : space));
}

/**
 * The lines of a block. An empty line within becomes a line of one space: the empty line that ends a block is the only
 * one, so that no reader takes what an agent wrote for fields of ours (a2a-cli §11.2).
 */
function toBlock(text: string): string {
  return trimEndOf(toText(text), (character) => character === "\n").replace(/^$/gm, " ");
}

/** JSON on one line, or indented. Invisible characters and what a terminal might act upon are escaped, which leaves the value the same. */
export function formatJsonDocument(value: unknown, oneLine: boolean): string {
  return escapeInvisible(JSON.stringify(value, undefined, oneLine ? undefined : 2));
}
