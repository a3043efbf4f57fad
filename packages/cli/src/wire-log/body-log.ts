/** Characters of one body, or of all messages of one stream, that are logged. */
export const maxLoggedLength = 16_384;

/** Prints the text of a body line by line, as it arrives, and no more than a limit of it. */
export class BodyLog {
  readonly #print: (line: string) => void;
  readonly #decoder = new TextDecoder();
  #pending = "";
  #printed = 0;
  #bytes = 0;

  /** @param print gets each line whole, so that nothing that is masked is ever cut in two */
  constructor(print: (line: string) => void) {
    this.#print = print;
  }

  /** Bytes so far. */
  get bytes(): number {
    return this.#bytes;
  }

  write(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength;
    if (this.#isFull) {
      return;
    }
    this.#pending += this.#decoder.decode(chunk, { stream: true });
    const lines = this.#pending.split(/\r\n|\n|\r/);
    this.#pending = lines.pop() ?? "";
    for (const line of lines) {
      this.#line(line);
    }
    if (this.#pending.length > maxLoggedLength) {
      this.#flush();
    }
  }

  end(): void {
    if (!this.#isFull) {
      this.#flush();
    }
  }

  get #isFull(): boolean {
    return this.#printed > maxLoggedLength;
  }

  #flush(): void {
    this.#line(this.#pending);
    this.#pending = "";
  }

  #line(line: string): void {
    if (line !== "" && !this.#isFull) {
      this.#print(line);
      this.#printed += line.length;
    }
  }
}

/** The beginning of a text that was masked already. */
export function shorten(text: string): string {
  return text.length <= maxLoggedLength
    ? text
    : `${text.slice(0, maxLoggedLength)} … ${text.length - maxLoggedLength} characters more`;
}
