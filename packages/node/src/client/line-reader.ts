import { createInterface, type Interface } from "node:readline";

/**
 * Lines of a stream, each read when code asks for it. In between the stream is paused, so that it keeps no process
 * alive and Ctrl-C keeps its meaning. Lines that arrived together are kept.
 */
export class LineReader {
  readonly #input: NodeJS.ReadableStream;
  readonly #waiting: string[] = [];
  #interface: Interface | undefined;
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(input: NodeJS.ReadableStream) {
    this.#input = input;
  }

  /** The next line without its end; undefined when there is none, or the signal aborts first. */
  async next(signal: AbortSignal): Promise<string | undefined> {
    const lines = this.#open();
    const wake = () => this.#wake?.();
    signal.addEventListener("abort", wake);
    try {
      while (this.#waiting.length === 0 && !this.#ended && !signal.aborted) {
        lines.resume();
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      return signal.aborted ? undefined : this.#waiting.shift();
    } finally {
      signal.removeEventListener("abort", wake);
      if (!this.#ended) lines.pause();
    }
  }

  #open(): Interface {
    // The terminal's own line editing. That of readline would take Ctrl-C from the process.
    this.#interface ??= createInterface({ input: this.#input, terminal: false })
      .on("line", (line) => {
        this.#waiting.push(line);
        this.#wake?.();
      })
      .on("close", () => {
        this.#ended = true;
        this.#wake?.();
      });
    return this.#interface;
  }
}
