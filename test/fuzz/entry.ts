import { readFileSync } from "node:fs";
import type { RawRequest } from "../bad-input/raw-call.ts";

/** A request of the corpus: a whole one, so that it stays what it is when the recorded requests and the mutations change. */
export interface Entry extends RawRequest {
  readonly body: Uint8Array;
}

/** An entry as one line of `corpus.jsonl`. The body is a text where it is valid UTF-8, else base64. */
export function formatEntry({ http, verb, target, fields, body }: Entry): string {
  const text = Buffer.from(body).toString("utf8");
  const content = Buffer.from(text).equals(body)
    ? { text }
    : { base64: Buffer.from(body).toString("base64") };
  return JSON.stringify({ http, verb, target, fields, ...content });
}

interface Line extends Omit<RawRequest, "body" | "endless"> {
  readonly text?: string;
  readonly base64?: string;
}

function parseEntry(line: string): Entry {
  const { text, base64 = "", ...request }: Line = JSON.parse(line); // written by formatEntry
  return { ...request, body: text === undefined ? Buffer.from(base64, "base64") : Buffer.from(text) };
}

/** The requests that once found something, or that no mutation finds quickly. */
export function readCorpus(): readonly Entry[] {
  const lines = readFileSync(new URL("corpus.jsonl", import.meta.url), "utf8").split("\n");
  return lines.filter((line) => line !== "").map(parseEntry);
}
