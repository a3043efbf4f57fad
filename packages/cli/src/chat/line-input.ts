import { createInterface, type Interface } from "node:readline/promises";
import type { Readable, Writable } from "node:stream";
import type { TextSink } from "../cli-io.ts";
import { eraseLine } from "../output.ts";
import { completeEntry } from "./slash-commands.ts";

export interface LineSource extends Disposable {
  /** The next line, without its end; undefined when there will be none. */
  next(prompt: string): Promise<string | undefined>;
  /** Hands lines to `take` instead, while something else goes on. */
  divert(take: (line: string) => void): Disposable;
  /** Aborted by a Ctrl-C that the source itself has seen. */
  readonly interrupted: AbortSignal;
}

interface KeyboardOptions {
  readonly stdin: Readable;
  readonly terminal: Writable;
  readonly signal: AbortSignal;
  /** Called before a line is shown that the user begins to type while something else is on the screen. */
  readonly onTyping: () => void;
}

/**
 * Lines of a person at a terminal, with line editing and history (node:readline). While something else goes on, there is no prompt
 * until the first key; from then on to the end of the line `quiet` waits, so that no output goes into it.
 */
export class Keyboard implements LineSource {
  readonly #options: KeyboardOptions;
  readonly #reader: Interface;
  readonly #interrupted = new AbortController();
  /** Lines that came unasked: the user has pasted several. */
  readonly #ahead: string[] = [];
  #ended = false;
  #wanted: ((line: string | undefined) => void) | undefined;
  #diverted: ((line: string) => void) | undefined;
  #typing: PromiseWithResolvers<void> | undefined;

  constructor(options: KeyboardOptions) {
    const { stdin, terminal, signal } = options;
    this.#options = options;
    this.#reader = createInterface({
      input: stdin,
      output: terminal,
      terminal: true,
      prompt: "",
      completer: (line: string): [string[], string] => [completeEntry(line), line],
    });
    this.#reader.on("line", (line) => this.#take(line));
    this.#reader.on("SIGINT", this.#interrupt);
    this.#reader.on("close", () => this.#end());
    stdin.prependListener("keypress", this.#beforeKey); // readline shows the key in between
    stdin.on("keypress", this.#afterKey);
    signal.addEventListener("abort", this.#interrupt, { once: true });
  }

  get interrupted(): AbortSignal {
    return this.#interrupted.signal;
  }

  next(prompt: string): Promise<string | undefined> {
    const ahead = this.#ahead.shift();
    if (ahead !== undefined || this.#ended) return Promise.resolve(ahead);
    this.#prompt(prompt);
    return new Promise((resolve) => {
      this.#wanted = resolve;
    });
  }

  divert(take: (line: string) => void): Disposable {
    this.#diverted = take;
    return {
      [Symbol.dispose]: () => {
        this.#diverted = undefined;
        this.#stopTyping(); // what was typed is shown again behind the next prompt
      },
    };
  }

  /** Resolves as soon as the user is not in the middle of a line. */
  async quiet(): Promise<void> {
    while (this.#typing !== undefined) await this.#typing.promise; // the next line may have begun with the same keys
  }

  [Symbol.dispose](): void {
    this.#options.stdin.off("keypress", this.#beforeKey).off("keypress", this.#afterKey);
    this.#options.signal.removeEventListener("abort", this.#interrupt);
    this.#reader.close();
  }

  /** Shows a prompt, and behind it what was typed so far. */
  #prompt(prompt: string): void {
    this.#reader.setPrompt(prompt);
    this.#reader.prompt(true);
  }

  #take(line: string): void {
    this.#typing?.resolve();
    this.#typing = undefined;
    const wanted = this.#wanted;
    this.#wanted = undefined;
    if (this.#diverted !== undefined) {
      if (line.trim() !== "") this.#diverted(line);
    } else if (wanted === undefined) {
      this.#ahead.push(line);
    } else {
      wanted(line);
    }
  }

  readonly #beforeKey = (): void => {
    if (this.#diverted === undefined || this.#ended || this.#typing !== undefined) return;
    this.#typing = Promise.withResolvers();
    this.#options.onTyping();
    this.#prompt("› ");
  };

  readonly #afterKey = (): void => {
    if (this.#reader.line === "") this.#stopTyping();
  };

  #stopTyping(): void {
    if (this.#typing === undefined) return;
    this.#options.terminal.write(eraseLine);
    this.#typing.resolve();
    this.#typing = undefined;
  }

  readonly #interrupt = (): void => {
    this.#interrupted.abort();
    this.#reader.close();
  };

  #end(): void {
    this.#ended = true;
    this.#stopTyping();
    this.#wanted?.(undefined);
    this.#wanted = undefined;
  }
}

/** A terminal at which a person types: nothing is written into a line while it is being typed. */
export class SharedTerminal implements TextSink {
  readonly isTerminal = true;
  readonly #sink: TextSink;
  readonly #quiet: () => Promise<void>;
  /** What was written last. */
  #last = "\n";

  /** @param quiet resolves as soon as the user is not in the middle of a line */
  constructor(sink: TextSink, quiet: () => Promise<void>) {
    this.#sink = sink;
    this.#quiet = quiet;
  }

  async write(text: string): Promise<void> {
    await this.#quiet();
    this.#last = text;
    await this.#sink.write(text);
  }

  /** Takes a line of progress away, and ends any other, at once: the cursor stands at the beginning of an empty line. */
  makeRoom(): Promise<void> {
    const end = this.#last.endsWith("\n") ? "" : "\n";
    const room = this.#last.startsWith(eraseLine) ? eraseLine : end;
    this.#last = "\n";
    return this.#sink.write(room);
  }
}

/** Lines that a program or a file gives, without empty ones: each is a turn, the next one is read when the last one has settled. */
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
    interrupted: signal,
    [Symbol.dispose]: () => reader.close(),
  };
}
