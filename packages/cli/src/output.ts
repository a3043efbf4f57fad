import { escapeInvisible, visibleText } from "@a2a-connect/core/internal";
import type { CliIo } from "./cli-io.ts";
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
  /** Text: one `Label: value` line. Does nothing in `json`. */
  field(label: string, value: string | number | boolean | undefined): Promise<void>;
  /** Text: a label of its own line, the content, an empty line. Does nothing in `json`. */
  block(label: string, content: string): Promise<void>;
  /** Json: one document (a single one unless streaming). Does nothing in `text`. */
  document(value: unknown): Promise<void>;
  /** To stderr, in either format: `warning: …`. */
  warn(sentence: string): Promise<void>;
  /** To stderr, in either format: a hint, progress, a line for people. */
  note(sentence: string): Promise<void>;
}

/** The output of one run, which remembers what it has said. */
export interface RunOutput extends Output {
  /** Whether a document was printed: without `--stream` there is only one. */
  readonly answered: boolean;
}

/** The output of one run, on its streams. */
export function createOutput(
  { stdout, stderr }: Pick<CliIo, "stdout" | "stderr">,
  { output: format, stream: streaming, verbose }: Pick<Settings, "output" | "stream" | "verbose">,
): RunOutput {
  const isText = format === "text";
  let answered = false;
  return {
    format,
    streaming,
    verbose,
    get answered() {
      return answered;
    },
    async field(label, value) {
      if (isText && value !== undefined) await stdout.write(`${label}: ${toLine(String(value))}\n`);
    },
    async block(label, content) {
      if (isText) await stdout.write(`${label}:\n${toBlock(content)}\n\n`);
    },
    async document(value) {
      if (!isText) {
        answered = true;
        await stdout.write(`${formatJsonDocument(value, streaming)}\n`);
      }
    },
    async warn(sentence) {
      await stderr.write(`warning: ${toSentence(sentence)}\n`);
    },
    async note(sentence) {
      await stderr.write(`${toSentence(sentence)}\n`);
    },
  };
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
  return toText(text).replace(/\s*\n\s*/g, " ");
}

/**
 * The lines of a block. An empty line within becomes a line of one space: the empty line that ends a block is the only
 * one, so that no reader takes what an agent wrote for fields of ours (a2a-cli §11.2).
 */
function toBlock(text: string): string {
  return toText(text).replace(/\n+$/, "").replace(/^$/gm, " ");
}

/** JSON on one line, or indented. Invisible characters and what a terminal might act upon are escaped, which leaves the value the same. */
export function formatJsonDocument(value: unknown, oneLine: boolean): string {
  return escapeInvisible(JSON.stringify(value, undefined, oneLine ? undefined : 2));
}
