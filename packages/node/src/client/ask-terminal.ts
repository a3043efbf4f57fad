import { createInterface, type Interface } from "node:readline";
import type { Question, Resolver } from "@a2a-connect/client";
import { visibleText } from "@a2a-connect/core/internal";

/** Where to ask a person. */
export interface AskTerminalOptions {
  /** Default the process's standard input. */
  readonly input?: NodeJS.ReadableStream;
  /** Default standard error: standard output is for results. */
  readonly output?: NodeJS.WritableStream;
}

/**
 * Asks the person at the terminal. With choices an answer is one of them, by its number or its words; it asks again
 * until the answer is. The answer is `undefined` when the input ends, or the question is withdrawn.
 *
 * It asks questions one after the other, and shows the agent's text without control sequences.
 */
export function askTerminal(options: AskTerminalOptions = {}): Resolver {
  const { input = process.stdin, output = process.stderr } = options;
  const lines = new LineReader(input);
  let previous: Promise<unknown> = Promise.resolve();
  return (question) => {
    const answer = previous.then(() => ask(question, lines, output));
    previous = answer.catch(() => {}); // its caller gets the error
    return answer;
  };
}

async function ask(
  question: Question,
  lines: LineReader,
  output: NodeJS.WritableStream,
): Promise<string | undefined> {
  const { choices = [], signal } = question;
  if (signal.aborted) return undefined;
  output.write(format(question));
  for (;;) {
    output.write("> ");
    const line = await lines.next(signal);
    if (line === undefined) {
      output.write("\n");
      return undefined;
    }
    const answer = choices.length === 0 ? line.trim() : findChoice(choices, line.trim());
    if (answer !== undefined && answer !== "") return answer;
    output.write(choices.length === 0 ? "" : `Please answer with a number from 1 to ${choices.length}.\n`);
  }
}

function format({ kind, text, choices = [] }: Question): string {
  const heading = kind === "auth" ? "The agent asks for credentials:" : "The agent asks:";
  const numbered = choices.map((choice, index) => `  ${index + 1}) ${oneLine(choice)}\n`);
  return `${heading} ${visibleText(text)}\n${numbered.join("")}`;
}

/** One choice must not look like several. */
function oneLine(text: string): string {
  return visibleText(text).replace(/\s+/g, " ");
}

/** The choice in the agent's spelling. Words are compared before numbers, because a choice may be a number. */
function findChoice(choices: readonly string[], line: string): string | undefined {
  const said = choices.find((choice) => choice === line) ?? choices.find((choice) => sameWords(choice, line));
  return said ?? (/^\d+$/.test(line) ? choices[Number(line) - 1] : undefined);
}

function sameWords(choice: string, line: string): boolean {
  return oneLine(choice).trim().toLowerCase() === line.toLowerCase();
}

/**
 * Lines of a stream, each read when code asks for it. In between the stream is paused, so that it keeps no process
 * alive and Ctrl-C keeps its meaning. Lines that arrived together are kept.
 */
class LineReader {
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
