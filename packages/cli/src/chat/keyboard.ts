import { createInterface, type Interface } from "node:readline/promises";
import { Readable, Writable } from "node:stream";
import type { TextSink } from "../cli-io.ts";
import { completeEntry } from "./slash-commands.ts";

/** Where the lines of a chat come from. */
export interface LineSource extends Disposable {
  /** The next line, without its end; undefined when there will be none. */
  next(prompt: string): Promise<string | undefined>;
  /** Hands lines to `take` instead, while something else goes on. */
  divert(take: (line: string) => void): Disposable;
  /** Resolves as soon as nobody is in the middle of a line. */
  quiet(): Promise<void>;
  /** Aborted by a Ctrl-C that the source itself has seen. */
  readonly interrupted: AbortSignal;
}

/** What a keyboard reads from, and where it shows what is typed. */
interface KeyboardOptions {
  readonly stdin: Readable;
  readonly stdout: TextSink;
  readonly columns: () => number;
  /** Ends the lines, like Ctrl-C. */
  readonly signal: AbortSignal;
  /** Called before a line is shown that somebody begins to type while something else is on the screen. */
  readonly onTyping: () => void;
}

/** Shown before a line that is typed while something else goes on. */
const meanwhile = "› ";

/**
 * Lines of a person at a terminal, with line editing and history (node:readline). While something else goes on, what is
 * typed stays unseen until its first key; from then on to the end of the line `quiet` waits, so that nobody writes into
 * it.
 */
export class Keyboard implements LineSource {
  readonly #options: KeyboardOptions;
  readonly #reader: Interface;
  readonly #output: MutableOutput;
  readonly #interrupted = new AbortController();
  /** Lines that came when nobody asked: somebody has pasted several. */
  readonly #ahead: string[] = [];
  #ended = false;
  #wanted: ((line: string | undefined) => void) | undefined;
  #diverted: ((line: string) => void) | undefined;
  #typing: PromiseWithResolvers<void> | undefined;

  constructor(options: KeyboardOptions) {
    const { stdin, signal } = options;
    this.#options = options;
    this.#output = new MutableOutput(options);
    this.#reader = createInterface({
      input: stdin,
      output: this.#output,
      terminal: true,
      prompt: "",
      completer: (line: string): [string[], string] => [completeEntry(line), line],
    });
    this.#reader.on("line", (line) => this.#take(line));
    this.#reader.on("SIGINT", () => this.#interrupt());
    this.#reader.on("close", () => this.#end());
    stdin.on("keypress", this.#onKey);
    signal.addEventListener("abort", this.#interrupt, { once: true });
  }

  get interrupted(): AbortSignal {
    return this.#interrupted.signal;
  }

  next(prompt: string): Promise<string | undefined> {
    const ahead = this.#ahead.shift();
    if (ahead !== undefined || this.#ended) return Promise.resolve(ahead);
    this.#output.muted = false;
    this.#reader.setPrompt(prompt);
    this.#reader.prompt(true);
    return new Promise((resolve) => {
      this.#wanted = resolve;
    });
  }

  divert(take: (line: string) => void): Disposable {
    this.#diverted = take;
    this.#output.muted = true;
    return {
      [Symbol.dispose]: () => {
        this.#diverted = undefined;
        this.#stopTyping();
      },
    };
  }

  quiet(): Promise<void> {
    return this.#typing?.promise ?? Promise.resolve();
  }

  [Symbol.dispose](): void {
    this.#options.stdin.off("keypress", this.#onKey);
    this.#options.signal.removeEventListener("abort", this.#interrupt);
    this.#reader.close();
  }

  #take(line: string): void {
    this.#output.muted = true;
    if (this.#diverted !== undefined) {
      this.#typing?.resolve();
      this.#typing = undefined;
      if (line.trim() !== "") this.#diverted(line);
      return;
    }
    const wanted = this.#wanted;
    this.#wanted = undefined;
    if (wanted === undefined) {
      this.#ahead.push(line);
    } else {
      wanted(line);
    }
  }

  /** Runs after readline has dealt with the key. */
  readonly #onKey = (): void => {
    if (this.#diverted === undefined || this.#ended) return;
    if (this.#reader.line === "") {
      this.#stopTyping();
    } else if (this.#typing === undefined) {
      this.#typing = Promise.withResolvers();
      this.#options.onTyping();
      this.#output.muted = false;
      this.#reader.setPrompt(meanwhile);
      this.#reader.prompt(true);
    }
  };

  /** The line was given up, or what went on has ended: then it is shown again behind the prompt. */
  #stopTyping(): void {
    if (this.#typing === undefined) return;
    this.#output.write("\r\u001b[K");
    this.#output.muted = true;
    this.#typing.resolve();
    this.#typing = undefined;
  }

  readonly #interrupt = (): void => {
    this.#interrupted.abort();
    this.#reader.close();
  };

  #end(): void {
    this.#ended = true;
    this.#typing?.resolve();
    this.#typing = undefined;
    this.#wanted?.(undefined);
    this.#wanted = undefined;
  }
}

/** What readline writes to, and may be told not to. */
class MutableOutput extends Writable {
  muted = true;
  readonly #options: KeyboardOptions;

  constructor(options: KeyboardOptions) {
    super();
    this.#options = options;
  }

  /** Where readline breaks a long line. */
  get columns(): number {
    return this.#options.columns();
  }

  /** At once rather than by the queue of a stream: others write to the same terminal, and order counts. */
  override write(text: unknown): boolean {
    // Where the terminal is gone, the next line ends the chat.
    if (!this.muted) this.#options.stdout.write(String(text)).catch(() => {});
    return true;
  }
}

/**
 * Lines that a program or a file gives: each is a turn of its own, the next one is read when the last one has settled.
 * Empty lines are left out.
 *
 * @param signal ends the lines
 */
export function createPipedLines(stdin: Readable, signal: AbortSignal): LineSource {
  const reader = createInterface({ input: stdin, terminal: false, signal });
  const lines = reader[Symbol.asyncIterator]();
  return {
    async next() {
      for (;;) {
        const { done, value } = await lines.next();
        if (done === true) return undefined;
        if (value.trim() !== "") return value;
      }
    },
    divert: () => ({ [Symbol.dispose]() {} }),
    quiet: async () => {},
    interrupted: signal,
    [Symbol.dispose]: () => reader.close(),
  };
}

/** No lines at all: for a keyboard whose user would not see what is asked (a2a-cli §11.2). */
export function createNoLines(): LineSource {
  return createPipedLines(Readable.from([]), new AbortController().signal);
}
