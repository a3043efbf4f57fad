import { readFileSync } from "node:fs";

/** One fenced block of a Markdown file. */
export interface CodeBlock {
  readonly language: string;
  /** The word after the language, which names the block. */
  readonly name: string | undefined;
  readonly code: string;
}

/** All fenced blocks of a file, in order. */
export function readCodeBlocks(file: string): readonly CodeBlock[] {
  const fences = readFileSync(file, "utf8").matchAll(/^```(\w+)(?: (\w+))?\n(.*?)^```$/gms);
  return Array.from(fences, ([, language = "", name, code = ""]) => ({ language, name, code }));
}
