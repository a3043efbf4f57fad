import { describe, expect, it } from "vitest";
import { parseMarkdown } from "./parse-markdown.ts";

describe("parseMarkdown", () => {
  for (const [text, blocks] of [
    [
      "```ts\na\n```\nb",
      [
        { is: "code", language: "ts", text: "a" },
        { is: "paragraph", spans: [{ is: "text", text: "b" }] },
      ],
    ],
    ["````\n```\n````", [{ is: "code", language: "", text: "```" }]],
    ["~~~\nstill coming", [{ is: "code", language: "", text: "still coming" }]],
    ["> ```\n> a", [{ is: "quote", blocks: [{ is: "code", language: "", text: "a" }] }]],
  ] as const) {
    it(`reads ${JSON.stringify(text)}`, () => expect(parseMarkdown(text)).toEqual(blocks));
  }

  it("reads each line once, however many fences there are", () => {
    const blocks = parseMarkdown("```\n".repeat(1_200_000));
    expect(blocks).toHaveLength(600_000);
    expect(blocks.at(-1)).toEqual({ is: "code", language: "", text: "" });
  });

  it("leaves the punctuation after an address out of it", () => {
    expect(parseMarkdown("see https://clerk.example/a?b!)...")).toEqual([
      {
        is: "paragraph",
        spans: [
          { is: "text", text: "see " },
          { is: "link", url: "https://clerk.example/a?b", label: "" },
          { is: "text", text: "!)..." },
        ],
      },
    ]);
  });
});
