import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { askPerson } from "./ask-person.ts";
import { type Candidate, type Clash, readClash } from "./clash.ts";
import { preferNewer } from "./prefer-newer.ts";

/** A value that was said on that day of January. */
function said(value: string, day: number, firsthand = true): Candidate {
  const at = `2025-01-0${day}T00:00:00.000Z`;
  return { value, evidence: [{ saidBy: "Ada", at, quote: "…", transcript: "t", firsthand }] };
}

const clash = (...candidates: readonly Candidate[]): Clash => ({
  subject: "Ada",
  predicate: "lives_in",
  candidates,
});

describe("the rule", () => {
  it.each<[string, readonly Candidate[], string | undefined]>([
    ["takes the newer", [said("Lund", 2), said("Malmö", 1)], "Lund"],
    ["believes people before strangers", [said("Lund", 1), said("Malmö", 2, false)], "Lund"],
    ["takes the newer of what strangers say", [said("Lund", 1, false), said("Malmö", 2, false)], "Malmö"],
    ["takes the first without evidence", [{ value: "Lund", evidence: [] }], "Lund"],
    ["knows nothing about nothing", [], undefined],
  ])("%s", (_title, candidates, value) => expect(preferNewer(clash(...candidates))).toBe(value));
});

describe("a person", () => {
  const ask = async (lines: string) => {
    const shown: string[] = [];
    using terminal = createInterface(Readable.from([lines]));
    const resolve = askPerson(terminal, (words) => shown.push(words));
    const answer = await resolve(clash(said("Lund", 1), said("Malmö", 2)));
    return { answer, shown: shown.join("") };
  };

  it.each([
    ["a number", "2\n", "Malmö"],
    ["the value", "Lund\n", "Lund"],
    ["neither", "3\n", "neither"],
    ["another try", "7\nwhat?\n1\n", "Lund"],
    ["nothing", "\n", undefined],
    ["the end of the input", "", undefined],
  ])("answers with %s", async (_how, lines, value) => expect((await ask(lines)).answer).toBe(value));

  it("sees each value with its evidence", async () => {
    const { shown } = await ask("1\n");
    expect(shown).toContain("Ada: lives in?\n  1  Lund\n       “…” (Ada, 2025-01-01)\n  2  Malmö");
  });
});

describe("a question's details", () => {
  it.each([[undefined], [null], ["contradiction"], [[]], [{ kind: "riddle" }]])(
    "are no clash: %j",
    (details) => {
      expect(readClash(details)).toBeUndefined();
    },
  );

  it("are read with whatever is missing, and without terminal sequences", () => {
    const candidates = [{ value: "\u001b[31mLund", evidence: [{ saidBy: 1, at: "x" }, "y"] }, 5];
    expect(readClash({ kind: "contradiction", subject: "Ada", candidates })).toEqual({
      subject: "Ada",
      predicate: "",
      candidates: [
        { value: "Lund", evidence: [{ saidBy: "", at: "x", quote: "", transcript: "", firsthand: false }] },
      ],
    });
  });
});
