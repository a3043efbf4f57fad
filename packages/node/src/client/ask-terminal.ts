import { createInterface } from "node:readline/promises";
import { type Question, type Resolver, stripControlSequences } from "@a2a-connect/client";

/** Where a person is asked. */
export interface AskTerminalOptions {
  /** Default the process's standard input. */
  readonly input?: NodeJS.ReadableStream;
  /** Default standard error: standard output is for results. */
  readonly output?: NodeJS.WritableStream;
}

/**
 * Asks whoever sits at the terminal. Where there are choices an answer is one of them, by its number or its words, and is
 * asked for again until it is. Nobody answers when the input ends, or when the answer is no longer wanted.
 *
 * Questions are asked one after the other; what the agent says is shown without control sequences.
 */
export function askTerminal(options: AskTerminalOptions = {}): Resolver {
  let previous: Promise<unknown> = Promise.resolve();
  return (question) => {
    const answer = previous.then(() => ask(question, options));
    previous = answer.catch(() => {}); // its caller hears of it
    return answer;
  };
}

async function ask(question: Question, options: AskTerminalOptions): Promise<string | undefined> {
  const { input = process.stdin, output = process.stderr } = options;
  const { signal, choices = [] } = question;
  if (signal.aborted) return undefined;
  const lines = createInterface({ input, output, terminal: "isTTY" in output && output.isTTY === true });
  try {
    output.write(format(question));
    for (;;) {
      const line = await nextLine(lines, signal);
      if (line === undefined || choices.length === 0) return line;
      const chosen = findChoice(choices, line);
      if (chosen !== undefined) return chosen;
      output.write(`Please answer with a number from 1 to ${choices.length}, or with the words.\n`);
    }
  } finally {
    lines.close();
  }
}
