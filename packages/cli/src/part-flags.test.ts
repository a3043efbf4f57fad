import { Command } from "commander";
import { describe, expect, it } from "vitest";
import { CliError } from "./cli-error.ts";
import { addPartOptions } from "./commands/send.ts";
import { orderParts, type PartOptions, type PartSource } from "./message-parts.ts";

/** What the command line asks for, as the real parser reads it. */
function parse(argv: readonly string[]): PartSource[] {
  const command = addPartOptions(new Command("send").argument("[text...]").exitOverride());
  command.option("--skill <id>");
  command.parse([...argv], { from: "user" });
  return orderParts(command.args, command.opts<PartOptions>());
}

const flags = ["text", "file", "data", "media-type"] as const;

/** Every order of up to `length` flags. */
function* sequences(length: number): Generator<(typeof flags)[number][]> {
  yield [];
  if (length > 0) {
    for (const shorter of sequences(length - 1)) {
      for (const flag of flags) {
        yield [flag, ...shorter];
      }
    }
  }
}

describe("part flags (A2ACLI_SEND_006, A2ACLI_SEND_005)", () => {
  it("keep their order, and media types bind to the flag before them, in every sequence of up to five", () => {
    let accepted = 0;
    let refused = 0;
    for (const sequence of sequences(5)) {
      const argv = sequence.flatMap((flag, index) => [`--${flag}`, `${flag}-${index}`]);
      const wanted = expectedParts(sequence);
      if (wanted === undefined) {
        expect(() => parse(argv), argv.join(" ")).toThrow(CliError);
        refused += 1;
      } else {
        expect(parse(argv), argv.join(" ")).toEqual(wanted);
        accepted += 1;
      }
    }
    expect({ accepted, refused }).toEqual({ accepted: 879, refused: 486 });
  });

  it("keep their order when other options stand between them", () => {
    expect(
      parse(["--text", "one", "--skill", "x", "--media-type", "text/markdown", "--file", "two"]),
    ).toEqual([
      { kind: "text", value: "one", mediaType: "text/markdown" },
      { kind: "file", value: "two", mediaType: undefined },
    ]);
  });

  it("come after the words, which are one part of text", () => {
    expect(parse(["summarize", "--file", "a.txt", "this"])).toEqual([
      { kind: "text", value: "summarize this", mediaType: undefined },
      { kind: "file", value: "a.txt", mediaType: undefined },
    ]);
  });

  for (const [what, argv] of [
    ["nothing at all", []],
    ["a media type alone", ["--media-type", "text/plain"]],
    ["a media type after the words only", ["hello", "--media-type", "text/plain"]],
    [
      "two media types for one part",
      ["--text", "a", "--media-type", "text/plain", "--media-type", "text/html"],
    ],
    ["the standard input twice", ["--data", "-", "--data", "-"]],
  ] as const) {
    it(`refuse ${what} as a usage error`, () => {
      expect(() => parse(argv)).toThrow(expect.objectContaining({ code: "A2ACLI_ERR_USAGE" }));
    });
  }
});

/** By the rule as the specification has it, written otherwise than in the code. */
function expectedParts(sequence: readonly (typeof flags)[number][]): PartSource[] | undefined {
  const misplaced = sequence.some(
    (flag, index) => flag === "media-type" && (index === 0 || sequence[index - 1] === "media-type"),
  );
  const parts = sequence.flatMap((flag, index): PartSource[] =>
    flag === "media-type"
      ? []
      : [
          {
            kind: flag,
            value: `${flag}-${index}`,
            mediaType: sequence[index + 1] === "media-type" ? `media-type-${index + 1}` : undefined,
          },
        ],
  );
  return misplaced || parts.length === 0 ? undefined : parts;
}
