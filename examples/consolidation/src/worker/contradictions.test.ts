import { describe, expect, it } from "vitest";
import { decide, findContradictions, neither, toMemories } from "./contradictions.ts";
import type { Evidence, Fact } from "./fact.ts";
import type { Decision } from "./memory.ts";

/** Somebody said on that day of January that Ada lives there. */
function lives(value: string, day: number, more: Partial<Evidence> & { predicate?: string } = {}): Fact {
  const { predicate = "lives_in", ...evidence } = more;
  const at = `2025-01-${String(day).padStart(2, "0")}T00:00:00.000Z`;
  const said = {
    transcript: `t${day}`,
    turn: 1,
    at,
    saidBy: "Ada",
    quote: "…",
    firsthand: true,
    change: false,
  };
  return { subject: "Ada", about: "person", predicate, value, evidence: { ...said, ...evidence } };
}

const moved = { change: true };
const hearsay = { saidBy: "Ben", firsthand: false };

/** "Lund+ Malmö-": what holds, what held, and what was rejected (`!`). */
function summarize(facts: readonly Fact[], decisions: readonly Decision[] = []): string {
  const marks = { current: "+", former: "-", rejected: "!" };
  return toMemories({ facts, decisions })
    .map(({ value, status }) => `${value}${marks[status]}`)
    .join(" ");
}

const asked = (facts: readonly Fact[], decisions: readonly Decision[] = []) =>
  findContradictions({ facts, decisions }).map(({ candidates }) =>
    candidates.map(({ value }) => value).join("/"),
  );

describe("what people say about one thing", () => {
  it.each<[string, readonly Fact[], string, readonly string[]]>([
    ["is one memory when it is the same", [lives("Lund", 1), lives("Lund", 2)], "Lund+", []],
    ["is the same in another spelling", [lives("Malmö", 1), lives("malmo", 2)], "Malmö+", []],
    ["contradicts when it differs", [lives("Lund", 1), lives("Malmö", 2)], "Lund+ Malmö+", ["Lund/Malmö"]],
    ["is former after a move", [lives("Malmö", 1), lives("Lund", 2, moved)], "Malmö- Lund+", []],
    [
      "is former after a move, whatever came first",
      [lives("Lund", 2, moved), lives("Malmö", 1)],
      "Malmö- Lund+",
      [],
    ],
    [
      "is not former because of what others say",
      [lives("Malmö", 1), lives("Lund", 2, { ...moved, ...hearsay })],
      "Malmö+ Lund+",
      ["Malmö/Lund"],
    ],
    [
      "contradicts when the old is said after the move",
      [lives("Malmö", 1), lives("Lund", 2, moved), lives("Malmö", 3, hearsay)],
      "Malmö+ Lund+",
      ["Malmö/Lund"],
    ],
    [
      "is one question when it is three things",
      [lives("Lund", 1), lives("Malmö", 2), lives("Kiel", 3)],
      "Lund+ Malmö+ Kiel+",
      ["Lund/Malmö/Kiel"],
    ],
    [
      "never contradicts where there can be many",
      [lives("cello", 1, { predicate: "plays" }), lives("oboe", 2, { predicate: "plays" })],
      "cello+ oboe+",
      [],
    ],
    ["moves twice", [lives("A", 1), lives("B", 2, moved), lives("C", 3, moved)], "A- B- C+", []],
  ])("%s", (_title, facts, memories, questions) => {
    expect(summarize(facts)).toBe(memories);
    expect(asked(facts)).toEqual(questions);
    expect(summarize(facts.toReversed())).toBe(memories);
  });
});

describe("a decision", () => {
  const facts = [lives("Lund", 1), lives("Malmö", 2)];
  const decideAs = (answer: string) =>
    findContradictions({ facts, decisions: [] }).map((each) => decide(each, answer));

  it("ends the contradiction, also when it is older than the other", () => {
    expect(summarize(facts, decideAs("Lund"))).toBe("Lund+ Malmö!");
    expect(asked(facts, decideAs("Lund"))).toEqual([]);
  });

  it("may be that neither is right", () => {
    expect(summarize(facts, decideAs(neither))).toBe("Lund! Malmö!");
    expect(asked(facts, decideAs(neither))).toEqual([]);
  });

  it("holds for what is found later and was said before", () => {
    expect(summarize([...facts, lives("Kiel", 1, { turn: 2 })], decideAs("Lund"))).toBe("Lund+ Kiel- Malmö!");
  });

  it("is asked for again when the other is said once more", () => {
    const more = [...facts, lives("Malmö", 3)];
    expect(asked(more, decideAs("Lund"))).toEqual(["Lund/Malmö"]);
    const [again] = findContradictions({ facts: more, decisions: decideAs("Lund") });
    const both = [...decideAs("Lund"), ...(again === undefined ? [] : [decide(again, "Malmö")])];
    expect(summarize(more, both)).toBe("Lund! Malmö+");
  });

  it("gives way to a change that is said later", () => {
    expect(summarize([...facts, lives("Kiel", 3, moved)], decideAs("Lund"))).toBe("Lund- Malmö! Kiel+");
  });
});

it("keeps all evidence, oldest first, each turn once", () => {
  const facts = [lives("Lund", 2), lives("Lund", 1), lives("Lund", 2), lives("Lund", 2, { turn: 3 })];
  const [memory] = toMemories({ facts, decisions: [] });
  expect(memory?.evidence.map(({ transcript, turn }) => `${transcript}/${turn}`)).toEqual([
    "t1/1",
    "t2/1",
    "t2/3",
  ]);
});
