import wrapAnsi from "wrap-ansi";
import type { TextSink } from "../cli-io.ts";
import { type Output, type Style, toText } from "../output.ts";

export interface ScreenOptions {
  readonly columns: () => number;
  readonly paint: Output["paint"];
  /** Resolves as soon as the user is not in the middle of a line: nothing is written into it. */
  readonly quiet: () => Promise<void>;
}

/**
 * A terminal, written to from above: finished lines, then a row of text that still grows, then one line that may be
 * replaced (a progress bar). Each method writes once, so that nothing of it is torn apart, and resolves when the
 * terminal took it. What it is given is stripped of control sequences.
 */
export class Screen {
  readonly #sink: TextSink;
  readonly #columns: () => number;
  readonly #paint: Output["paint"];
  readonly #quiet: () => Promise<void>;
  /** The row that text is streamed into, as it stands on the screen. */
  #row = "";
  /** Whether the replaceable line stands below it. */
  #hasBelow = false;

  constructor(sink: TextSink, { columns, paint, quiet }: ScreenOptions) {
    this.#sink = sink;
    this.#columns = columns;
    this.#paint = paint;
    this.#quiet = quiet;
  }

  /** Lines of their own. */
  async line(text: string, style?: Style): Promise<void> {
    await this.#quiet();
    const paint = (row: string): string => (style === undefined ? row : this.#paint(style, row));
    const rows = toRows(toText(text), this.#columns()).map((row) => `${paint(row.trimEnd())}\n`);
    await this.#sink.write(this.#clear() + rows.join(""));
  }

  /** Text that goes on where the text before has ended. */
  async stream(text: string): Promise<void> {
    await this.#quiet();
    const erased = this.#eraseBelow();
    const rows = toRows(this.#row + toText(text), this.#columns());
    this.#row = rows.at(-1) ?? "";
    // The row is written anew rather than added to: where it breaks may have moved.
    await this.#sink.write(`${erased}\r${eraseLine}${rows.join("\n")}`);
  }

  /** A line at the bottom that the next one replaces, and everything else pushes away; cut to one row. */
  async below(text: string): Promise<void> {
    await this.#quiet();
    const erased = this.#eraseBelow();
    this.#hasBelow = true;
    const line = this.#paint("cyan", toRow(toText(text), this.#columns()));
    await this.#sink.write(`${erased}${this.#row === "" ? "" : "\n"}${line}`);
  }

  /** Makes room at once for something that is not the screen's, such as a line of the user: the cursor stands at the beginning of an empty line. */
  finish(): Promise<void> {
    return this.#sink.write(this.#clear());
  }

  /** Erases the replaceable line and ends the row. */
  #clear(): string {
    const erased = this.#eraseBelow();
    const end = this.#row === "" ? "" : "\n";
    this.#row = "";
    return erased + end;
  }

  /** Afterwards the cursor stands behind the row. */
  #eraseBelow(): string {
    if (!this.#hasBelow) return "";
    this.#hasBelow = false;
    return this.#row === "" ? `\r${eraseLine}` : `\r${eraseLine}${lineUp}\r${eraseLine}${this.#row}`;
  }
}

const eraseLine = "\u001b[K";
const lineUp = "\u001b[1A";

/** Text in rows, broken at spaces. No row fills the last column, where terminals disagree about what comes next. */
export function toRows(text: string, columns: number): string[] {
  return text
    .replaceAll("\t", "    ")
    .split("\n")
    .flatMap((line) => {
      const rows = wrapAnsi(line, Math.max(columns - 1, 1), { hard: true, trim: false }).split("\n");
      return rows.map((row, index) => (index === 0 ? row : row.replace(/^ /, ""))); // the space that it broke at
    });
}

/** Text in one row, cut with an ellipsis where it is longer. */
export function toRow(text: string, columns: number): string {
  if (toRows(text, columns).length === 1) return text;
  const [row = ""] = wrapAnsi(text, Math.max(columns - 2, 1), {
    hard: true,
    trim: false,
    wordWrap: false,
  }).split("\n");
  return `${row}…`;
}
