// What the rules read out of each of the sample transcripts. `expected-facts.json` was checked by a person who read the
// transcripts: a line a fact, "turn subject, predicate: value", with what makes it special.

import { readFileSync } from "node:fs";
import { type Fact, ruleExtractor } from "@a2a-connect/consolidation/worker";
import { describe, expect, it } from "vitest";
import { readTranscripts } from "./transcripts.ts";

const expected: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(new URL("expected-facts.json", import.meta.url), "utf8"),
);

function toLine({ subject, predicate, value, evidence }: Fact): string {
  const marks = [evidence.change ? " (change)" : "", evidence.firsthand ? "" : " (hearsay)"].join("");
  return `${evidence.turn} ${subject}, ${predicate}: ${value}${marks}`;
}

describe("the rules", () => {
  const transcripts = readTranscripts();

  it("are tried on 47 transcripts", () => {
    expect(transcripts.map(({ id }) => id)).toEqual(Object.keys(expected));
    expect(transcripts).toHaveLength(47);
  });

  it.each(transcripts)("read what is said in $id, and nothing else", async (transcript) => {
    const facts = await ruleExtractor.extract(transcript, new AbortController().signal);
    expect(facts.map(toLine)).toEqual(expected[transcript.id]);
  });

  it("quote what was said, of whom and when", async () => {
    for (const transcript of transcripts) {
      for (const { evidence } of await ruleExtractor.extract(transcript, new AbortController().signal)) {
        const turn = transcript.turns[evidence.turn - 1];
        expect(turn?.speaker).toBe(evidence.saidBy);
        expect(turn?.text).toContain(evidence.quote);
        expect(evidence).toMatchObject({ transcript: transcript.id, at: transcript.startedAt });
      }
    }
  });
});
