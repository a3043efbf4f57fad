import { describe, expect, it } from "vitest";
import type { Transcript } from "../transcript.ts";
import { ruleExtractor } from "./rule-extractor.ts";
import { isJoke, statementsOf } from "./sentences.ts";

/** What is read out of turns of Ada and, after a "Ben: ", of Ben. */
async function read(...turns: readonly string[]): Promise<readonly string[]> {
  const facts = await ruleExtractor.extract(transcriptOf(turns), new AbortController().signal);
  return facts.map(({ subject, predicate, value }) => `${subject} ${predicate} ${value}`);
}

function transcriptOf(turns: readonly string[]): Transcript {
  return {
    id: "t1",
    startedAt: "2025-01-01T00:00:00.000Z",
    turns: turns.map((text) =>
      text.startsWith("Ben: ") ? { speaker: "Ben", text: text.slice(5) } : { speaker: "Ada", text },
    ),
  };
}

describe("a fact is", () => {
  it.each([
    ["I live in Lund, by the park.", "Ada lives_in Lund"],
    ["We've just moved to New York on Monday.", "Ada lives_in New York"],
    ["Everybody knows that Maya Lindqvist works for Studio Forma.", "Maya Lindqvist works_at Studio Forma"],
    ["I'm a software engineer now.", "Ada occupation software engineer"],
    ["Ben’s birthday is on the 3rd of June.", "Ben birthday the 3rd of June"],
    ["My favourite colour is dark green and nothing else.", "Ada favourite_colour dark green"],
    ["The summer party has been moved to 4 July!", "summer party takes_place_on 4 July"],
    ["My dog's name is Biscuit.", "Ada dog Biscuit"],
  ])("%s", async (said, fact) => expect(await read(said)).toEqual([fact]));
});

describe("no fact is", () => {
  it.each([
    ["a question", "I live in Lund?"],
    ["a negation", "I don't live in Lund. It's not true that I live in Lund. I'm not allergic to nuts."],
    ["a past", "I used to live in Lund. When I lived in Lund, I was happy."],
    ["a condition", "If I live in Lund next year, I'm buying a bike."],
    ["a wish", "In an ideal world I live in Lund. I wish I was a baker."],
    ["a doubt", "I thought Maya lives in Lund. Maybe Maya lives in Lund."],
    ["a quotation", 'He wrote "I live in Lund" on the wall. She said: “I am a dentist.”'],
    ["about nobody known", "She lives in Lund. Everybody lives in Lund. You live in Lund."],
    ["a figure of speech", "I live in hope. I'm a baker of dreams. I play the fool. I'm a mess."],
    ["a joke", "I live in Lund, haha. I'm an astronaut 😂"],
    ["another language", "Ich wohne in Hamburg. Yo vivo en Ruzafa. J'habite à Lyon."],
    ["what never ends", `I live in Lund ${"and on ".repeat(100)}.`],
  ])("%s", async (_kind, said) => expect(await read(said)).toEqual([]));

  it("what is taken back afterwards", async () => {
    expect(
      await read("I moved to Iceland.", "Ben: I live in Leeds.", "Just kidding.", "I live in Bath."),
    ).toEqual(["Ben lives_in Leeds", "Ada lives_in Bath"]);
  });
});

it.each([
  ["Ha, deal.", false],
  ["It is not a joke.", false],
  ["Hahaha", true],
  ["I was only joking!", true],
  ["Sure 🤣", true],
])("tells whether it is a joke: %s", (said, joke) => expect(isJoke(said)).toBe(joke));

it("splits what is said at the ends of sentences, and not at every dot", () => {
  expect(statementsOf("I work at Forma Ltd., in Leeds. Really? Yes! ¡Hola!")).toEqual([
    "I work at Forma Ltd., in Leeds.",
    "Yes!",
    "¡Hola!",
  ]);
});

it.each([
  ['a "b" c “d” e „f“ g «h» i', "a … c … e … g … i"],
  ["a “b “c” d” e", "a … d” e"],
  ['a “b "c” d" e', 'a … d" e'],
  ["a «b “c” „d", "a «b … „d"],
])("leaves out what stands in quotation marks: %s", (said, stated) => {
  expect(statementsOf(said)).toEqual([stated]);
});

it("reads long and evil text in linear time", async () => {
  const evil = [
    "I'm ".repeat(5_000),
    "Aa ".repeat(6_000),
    "my dog ".repeat(2_800),
    "I speak A, ".repeat(1_800),
    ...Array<string[]>(3)
      .fill(["«", "“", "„"])
      .flat()
      .map((mark) => mark.repeat(20_000)),
  ];
  const began = performance.now();
  for (const said of evil) await read(said);
  expect(performance.now() - began).toBeLessThan(1_000);
});

describe("a long conversation", () => {
  const turns = Array<string>(10).fill(`${"Aaaaa Aaaa’s ".repeat(28)}. `.repeat(50)); // a third of a second

  it("is read in slices, between which other calls get their turns", async () => {
    let others = 0;
    const other = setInterval(() => others++, 1);
    await read(...turns);
    clearInterval(other);
    expect(others).toBeGreaterThan(5);
  });

  it("is read no further when its task is over", async () => {
    const over = new AbortController();
    const reading = ruleExtractor.extract(transcriptOf(turns), over.signal);
    over.abort(new Error("canceled"));
    await expect(reading).rejects.toThrow("canceled");
  });
});
