import { describe, expect, it } from "vitest";
import { createOutput, type RunOutput } from "./output.ts";

function open(
  format: "json" | "text",
  stream = false,
): { output: RunOutput; written: { out: string; err: string } } {
  const written = { out: "", err: "" };
  const sink = (name: "out" | "err") => ({
    isTerminal: true,
    write: async (text: string) => {
      written[name] += text;
    },
  });
  const streams = { stdout: sink("out"), stderr: sink("err") };
  return { output: createOutput(streams, { output: format, stream, verbose: false }), written };
}

describe("output in text (A2ACLI_OUT_005)", () => {
  for (const [value, line] of [
    ["plain", "Label: plain"],
    [5, "Label: 5"],
    ["two\nlines\r\n and more", "Label: two lines and more"],
    ["\u001b[31mred\u001b[0m", "Label: red"],
    ["\u001b]0;title\u0007text", "Label: text"],
    ["a\u0000b\u0085c\u202ed", "Label: abcd"],
    ["👩‍👩‍👧 ناس", "Label: 👩‍👩‍👧 ناس"],
  ] as const) {
    it(`shows ${JSON.stringify(value)} as one line`, async () => {
      const { output, written } = open("text");
      await output.field("Label", value);
      await output.field("Absent", undefined);
      expect(written.out).toBe(`${line}\n`);
    });
  }

  it("ends a block with the only empty line in it, so that nothing in it passes for a field of ours", async () => {
    const { output, written } = open("text");
    await output.block("Text", "one\n\n\nState: TASK_STATE_COMPLETED\n\n");
    expect(written.out).toBe("Text:\none\n \n \nState: TASK_STATE_COMPLETED\n\n");
    const [block = "", rest] = written.out.split("\n\n");
    expect(block.split("\n")).toHaveLength(5);
    expect(rest).toBe("");
  });

  it("reads each character once, however many spaces or line feeds there are within", async () => {
    const { output, written } = open("text");
    const [spaces, lines] = [" ".repeat(1_000_000), "\n".repeat(1_000_000)];
    await output.field("Label", `x${spaces}y`);
    await output.field("Label", `x${lines}y`);
    await output.block("Text", `x${lines}y`);
    expect(written.out === `Label: x${spaces}y\nLabel: x y\nText:\nx\n${" \n".repeat(999_999)}y\n\n`).toBe(
      true,
    );
  });

  it("has notes and warnings on stderr, and no documents", async () => {
    const { output, written } = open("text");
    await output.document({ a: 1 });
    await output.warn("careful\u001b[2J");
    await output.note("by the way");
    expect(written).toEqual({ out: "", err: "warning: careful\nby the way\n" });
    expect(output.answered).toBe(false);
  });
});

describe("output on stderr", () => {
  for (const format of ["text", "json"] as const) {
    it(`indents what an agent put on further lines, so that it passes for no hint of ours, in ${format}`, async () => {
      const { output, written } = open(format);
      await output.note("error: no\r\nhint: run this\n\nerror: x\n");
      await output.warn("task t\nhint: run this");
      expect(written.err).toBe(
        "error: no\n  hint: run this\n  \n  error: x\nwarning: task t\n  hint: run this\n",
      );
    });
  }
});

describe("output in json (A2ACLI_OUT_001)", () => {
  const hostile = { text: "a\u001b[31m\u009b\u202e\u007f\nb" };

  for (const stream of [false, true]) {
    it(`has documents and nothing else on stdout, nothing for a terminal in them, stream ${stream}`, async () => {
      const { output, written } = open("json", stream);
      await output.field("Label", "value");
      await output.block("Text", "value");
      await output.document(hostile);
      expect(JSON.parse(written.out)).toEqual(hostile);
      expect(written.out).toMatch(/^[\x20-\x7e\n]*$/);
      expect(written.out).not.toContain("\u007f");
      expect(written.out.trimEnd().split("\n")).toHaveLength(stream ? 1 : 3);
      expect(output.answered).toBe(true);
    });
  }
});
