import type { TextSink } from "../cli-io.ts";
import { fit, layOut } from "./text-layout.ts";

/** How something looks. */
export type Style = "plain" | "bold" | "dim" | "red" | "green" | "cyan";

const sgr: Readonly<Record<Exclude<Style, "plain">, string>> = {
  bold: "1",
  dim: "2",
  red: "31",
  green: "32",
  cyan: "36",
};

/** How the screen looks. */
export interface ScreenOptions {
  /** Width of the terminal now. */
  readonly columns: () => number;
  /** Default true; `NO_COLOR` turns them off. */
  readonly colours?: boolean;
}

/**
 * A terminal, written to from above: finished lines, then a row of text that still grows, then one line that may be
 * replaced (a progress bar). Each method writes once, so that nothing of it is torn apart, and resolves when the
 * terminal took it. What it is given has been stripped of control sequences.
 */
export class Screen {
  readonly #sink: TextSink;
  readonly #columns: () => number;
  readonly #colours: boolean;
  /** The row that text is streamed into, as it stands on the screen. */
  #row = "";
  /** Whether the replaceable line stands below it. */
  #hasBelow = false;

  constructor(sink: TextSink, { columns, colours = true }: ScreenOptions) {
    this.#sink = sink;
    this.#columns = columns;
    this.#colours = colours;
  }

  /** Lines of their own. */
  line(text: string, style: Style = "plain"): Promise<void> {
    const { complete, row } = layOut("", text, this.#columns());
    const lines = [...complete, row].map((each) => `${this.#paint(each, style)}\n`);
    return this.#sink.write(this.#clear() + lines.join(""));
  }

  /** Text that goes on where the text before has ended. */
  stream(text: string): Promise<void> {
    const erased = this.#eraseBelow();
    const shown = this.#row;
    const { complete, row } = layOut(shown, text, this.#columns());
    this.#row = row;
    // The row is written anew rather than added to: where it breaks may have moved.
    return this.#sink.write(`${erased}\r${eraseLine}${complete.map((each) => `${each}\n`).join("")}${row}`);
  }

  /** A line at the bottom that the next one replaces, and everything else pushes away; cut to one row. */
  below(text: string): Promise<void> {
    const erased = this.#eraseBelow();
    this.#hasBelow = true;
    return this.#sink.write(
      `${erased}${this.#row === "" ? "" : "\n"}${this.#paint(fit(text, this.#columns()), "cyan")}`,
    );
  }

  /** Makes room for something that is not the screen's: the cursor stands at the beginning of an empty line. */
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
    if (!this.#hasBelow) {
      return "";
    }
    this.#hasBelow = false;
    return this.#row === "" ? `\r${eraseLine}` : `\r${eraseLine}${lineUp}\r${eraseLine}${this.#row}`;
  }

  #paint(text: string, style: Style): string {
    return style === "plain" || !this.#colours || text === ""
      ? text
      : `\u001b[${sgr[style]}m${text}\u001b[0m`;
  }
}

const eraseLine = "\u001b[K";
const lineUp = "\u001b[1A";
