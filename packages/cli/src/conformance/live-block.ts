import type { TextSink } from "../cli-io.ts";

/** How often it is drawn at most. */
const drawEveryMs = 100;

/**
 * Lines at the bottom of a terminal that are replaced as a whole, below lines that stay. Of more lines than the terminal has, the last
 * ones are shown.
 */
export class LiveBlock {
  readonly #sink: TextSink;
  readonly #rows: () => number;
  #height = 0;
  #drawnAt = 0;

  /** @param rows height of the terminal now */
  constructor(sink: TextSink, rows: () => number) {
    this.#sink = sink;
    this.#rows = rows;
  }

  /** Draws these lines, unless it has just drawn. @param render makes lines that fit the terminal's width */
  async draw(render: () => readonly string[]): Promise<void> {
    const now = performance.now();
    if (now - this.#drawnAt < drawEveryMs) return;
    this.#drawnAt = now;
    await this.#write("", render);
  }

  /** Prints above it, and draws it anew. @param text of whole lines */
  async above(text: string, render: () => readonly string[]): Promise<void> {
    await this.#write(text, render);
  }

  /** Leaves these lines where it was. */
  async finish(render: () => readonly string[]): Promise<void> {
    await this.#write("", render);
    this.#height = 0;
  }

  async #write(text: string, render: () => readonly string[]): Promise<void> {
    const lines = render().slice(-Math.max(this.#rows() - 1, 1));
    const erase = this.#height === 0 ? "" : `\u001b[${this.#height}A\r\u001b[J`;
    this.#height = lines.length;
    await this.#sink.write(`${erase}${text}${lines.map((line) => `${line}\n`).join("")}`);
  }
}
