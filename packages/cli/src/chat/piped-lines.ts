import { createInterface } from "node:readline/promises";
import type { Readable } from "node:stream";
import type { LineSource } from "./line-source.ts";

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
  return {
    next: async () => undefined,
    divert: () => ({ [Symbol.dispose]() {} }),
    quiet: async () => {},
    interrupted: new AbortController().signal,
    [Symbol.dispose]() {},
  };
}
