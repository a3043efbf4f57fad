import { bytes, fileUrl, json, text, userMessage } from "@a2a-connect/core";
import type { Part } from "@a2a-connect/proto";
import type { JsonValue } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { readBatch } from "./transcript-batch.ts";

const transcript = (id: string, day = 1): JsonValue => ({
  id,
  startedAt: `2025-01-0${day}T10:00:00Z`,
  turns: [{ speaker: "Ada", text: "Hello." }],
});

const file = (content: string, filename = "t.json") => bytes(new TextEncoder().encode(content), { filename });
const read = (...parts: readonly Part[]) => readBatch(userMessage(parts, { messageId: "m" }));
const ids = (...parts: readonly Part[]) => read(...parts).map(({ id }) => id);

describe("a batch", () => {
  it("comes as one transcript, a list, an object with a list, or files, in any mixture", () => {
    const parts = [
      text("Please consolidate."),
      json(transcript("d", 4)),
      json([transcript("b", 2)]),
      json({ transcripts: [transcript("c", 3)] }),
      file(JSON.stringify(transcript("a", 1))),
    ];
    expect(ids(...parts)).toEqual(["a", "b", "c", "d"]);
  });

  it("has no control characters left in it", () => {
    const name = "\u001b[31mRoot\u001b[0m";
    const said = "\u001b]0;pwned\u0007\u001b[2JI live in \u202ednuL\u202c,\r\n\u0000really.";
    const turns = [{ speaker: name, text: said }];
    const [clean] = read(json({ id: "t", startedAt: "2025-01-01T10:00:00Z", turns }));
    expect(clean?.turns).toEqual([{ speaker: "Root", text: "I live in dnuL, really." }]);
  });

  const turnsOf = (id: string, count: number): JsonValue => ({
    id,
    startedAt: "2025-01-01T10:00:00Z",
    turns: Array(count).fill({ speaker: "Ada", text: "x".repeat(20_000) }),
  });

  const hello = { speaker: "Ada", text: "Hello." };
  const base = { id: "t", startedAt: "2025-01-01T10:00:00Z", turns: [] };
  it.each<[string, readonly Part[], string]>([
    ["nothing", [text("hello")], "A batch has 1 to 1000 transcripts"],
    ["too much", [json(Array(1_001).fill(base))], "A batch has 1 to 1000 transcripts"],
    ["an address", [fileUrl("http://169.254.169.254/")], "part 1 is an address"],
    ["a file that is no JSON", [file("{", "broken.json")], '"broken.json" is not JSON'],
    ["a file that is no UTF-8", [bytes(new Uint8Array([0xff]))], '"part 1" is not JSON'],
    ["twice the same", [json([transcript("a"), transcript("a")])], 'There are two transcripts "a"'],
    ["a number", [json([1])], "transcripts[0] is an object"],
    ["one without id", [json({ ...base, id: 7 })], "transcripts[0].id is a text"],
    ["one at no time", [json({ ...base, startedAt: "yesterday" })], "transcripts[0].startedAt is a time"],
    [
      "one at an impossible time",
      [json({ ...base, startedAt: "2025-13-01T10:00:00Z" })],
      "startedAt is a time",
    ],
    ["turns that are no list", [json({ ...base, turns: {} })], "transcripts[0].turns is a list"],
    ["a speaker without name", [json({ ...base, turns: [{ text: "x" }] })], "turns[0].speaker is a text"],
    [
      "a turn that is too long",
      [json({ ...base, turns: [{ speaker: "A", text: "x".repeat(20_001) }] })],
      "turns[0].text is a text",
    ],
    [
      "texts that are too much together",
      [json(turnsOf("a", 30)), file(JSON.stringify(turnsOf("b", 30)))],
      "transcripts[1].turns[20].text is beyond the 1000000 characters that all texts of a message have together",
    ],
    [
      "turns that are too many together",
      [
        json(
          Array.from({ length: 6 }, (_, at) => ({ ...base, id: `t${at}`, turns: Array(2_000).fill(hello) })),
        ),
      ],
      "transcripts[5].turns is beyond the 10000 turns of a message",
    ],
    [
      "files that are too large together",
      [file(" ".repeat(1_500_000), "a.json"), file(" ".repeat(600_000), "b.json")],
      '"b.json" is beyond the 2000000 bytes that all files of a message have together',
    ],
  ])("is refused, saying what is wrong: %s", (_what, parts, sentence) => {
    expect(() => read(...parts)).toThrow(sentence);
  });
});
