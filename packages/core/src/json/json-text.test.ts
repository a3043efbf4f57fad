import { MessageSchema, PartSchema } from "@a2a-connect/proto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type JsonText, parseJsonText, readJsonText } from "./json-text.ts";
import { parseMessage } from "./parse-json.ts";
import { countValues } from "./scan-json.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

describe("parseJsonText", () => {
  it("parses UTF-8", () => {
    expect(parseJsonText(bytesOf('{"a":"é"}'))).toEqual({ ok: true, value: { a: "é" } });
    expect(parseJsonText(bytesOf('\ufeff{"a":1}'))).toEqual({ ok: true, value: { a: 1 } });
  });

  for (const [title, bytes, problem] of [
    ["nothing", new Uint8Array(), "the body is not valid JSON"],
    ["broken JSON", bytesOf('{"a":'), "the body is not valid JSON"],
    ["100,000 open brackets", bytesOf("[".repeat(100_000)), "the body is not valid JSON"],
    ["two values", bytesOf("{} {}"), "the body is not valid JSON"],
    ["invalid UTF-8", new Uint8Array([0x22, 0xff, 0x22]), "the body is not valid UTF-8"],
    ["an encoded surrogate", new Uint8Array([0x22, 0xed, 0xa0, 0x80, 0x22]), "the body is not valid UTF-8"],
  ] as const) {
    it(`says what is wrong with ${title}`, () =>
      expect(parseJsonText(bytes)).toEqual({ ok: false, problem }));
  }

  it("parses 100,000 closed brackets, for the depth limit to refuse", () => {
    const parsed = parseJsonText(bytesOf("[".repeat(100_000) + "]".repeat(100_000)));
    expect(parsed.ok).toBe(true);
    expect(() => parseMessage(PartSchema, { data: parsed.ok && parsed.value })).toThrow("100 levels");
  });
});

const limits = { maxDepth: 50, maxValues: 1_000 };

/** More than a slice of nothing, so that the text is read in several. */
const filler = " ".repeat(100_000);

function read(text: string, given: Partial<typeof limits> = {}): Promise<JsonText> {
  return Promise.resolve(readJsonText(bytesOf(text), { ...limits, ...given }, () => Promise.resolve()));
}

/** The outcome without the text. */
async function outcome(text: string, given?: Partial<typeof limits>) {
  const read_ = await read(text, given);
  return read_.ok ? read_ : { problem: read_.problem, path: read_.overflow?.path };
}

describe("readJsonText", () => {
  it("refuses a long text that is not UTF-8, also where it ends in a character", async () => {
    const problem = "the body is not valid UTF-8";
    const long = bytesOf(JSON.stringify("漢".repeat(400_000)));
    expect(await readJsonText(long.subarray(0, -2), limits, () => Promise.resolve())).toEqual({
      ok: false,
      problem,
    });
    long[1_100_000] = 0xff;
    expect(await readJsonText(long, limits, () => Promise.resolve())).toEqual({ ok: false, problem });
  });

  it("counts each value and each name, wherever they stand", async () => {
    for (const [text, values] of [
      ["0", 1],
      ["[]", 1],
      ['[0,true,null,"",-1.5e3]', 6],
      ['{"a":0}', 3],
      ['{"a":{"b":[{},[]]}}', 7],
      ['[[],[[]],{"a":"b"}]', 7],
      ['{"a":1,"b":{"c":1,"c":2}}', 9],
    ] as const) {
      expect(await outcome(filler + text, { maxValues: values })).toEqual({
        ok: true,
        value: JSON.parse(text),
      });
      expect(await outcome(filler + text, { maxValues: values - 1 })).toMatchObject({
        problem: "the body has too many values",
      });
    }
  });

  for (const [what, text, values] of [
    ["a name of 16,383 characters", `{"${"x".repeat(16_383)}":0}`, 3],
    ["a longer name, more often than any usual limit permits", `{"${"x".repeat(16_384)}" : 0}`, 3 + 262_144],
    ["a longer text", `["${"x".repeat(20_000)}"]`, 2],
  ] as const) {
    it(`counts ${what}: engines hash such names by their length alone`, async () => {
      expect(await outcome(filler + text, { maxValues: values })).toMatchObject({ ok: true });
      expect(await outcome(filler + text, { maxValues: values - 1 })).toMatchObject({
        problem: "the body has too many values",
      });
      expect(countValues(text)).toBe(values);
    });
  }

  it("counts names of one object beyond its first thousand more where it is told so, and no others", () => {
    const names = (count: number) => Array.from({ length: count }, (_, at) => `"${at}":0`).join();
    for (const [text, many] of [
      [`{${names(1_000)}}`, 0],
      [`[{${names(600)}},{${names(600)}}]`, 0],
      [`{"a":{${names(999)}},${names(999)}}`, 0],
      [`{${names(1_010)}}`, 10],
      [`[{"a":[{${names(1_010)}}],${names(1_004)}}]`, 15],
    ] as const) {
      expect(countValues(text, Number.POSITIVE_INFINITY, 6)).toBe(countValues(text) + 6 * many);
    }
  });

  it("does not take a longer name in a short text, either", async () => {
    const taken = `{"${"x".repeat(16_383)}":0}`;
    const limit = { maxValues: 120_000 };
    expect(await outcome(taken, limit)).toMatchObject({ ok: true });
    expect(await outcome(taken.replace("x", "xx"), limit)).toMatchObject({
      problem: "the body has too many values",
    });
  });

  for (const [text, maxValues, path] of [
    ["[0,0,0,0]", 3, [2]],
    ['{"message":{"parts":[{"text":"a"},{"data":[0,0,0,0]}]}}', 13, ["message", "parts", 1, "data", 2]],
    ['{"a":[[],[]],"b":0}', 5, []],
    ['{"a":[[],[]],"b":0}', 6, ["b"]],
    ['{"a":{"b":{"c":0}}}', 3, ["a"]],
    ['{"a":{"b":{"c":0}}}', 4, ["a", "b"]],
    ['{"a":{"b":{"c":0}}}', 6, ["a", "b", "c"]],
  ] as const) {
    it(`says that the limit of ${maxValues} was passed at ${path.join("/")} in ${text}`, async () => {
      for (const given of [text, filler + text, `${text}${filler}`]) {
        const outcome = await read(given, { maxValues });
        expect(outcome).toEqual({
          ok: false,
          problem: "the body has too many values",
          overflow: { path: [...path], text: given },
        });
      }
    });
  }

  it("stops at the limit: what follows is not looked at", async () => {
    expect(await outcome(`[0,0,0${"[".repeat(1_000)}`, { maxValues: 2 })).toEqual({
      problem: "the body has too many values",
      path: [1],
    });
  });

  it("takes a turn between slices, as many for any filler of one size", async () => {
    const size = 1_000_000;
    for (const text of [
      `[${"0, ".repeat(size / 3)}0]`,
      `[${'"\\u0041\\\\ xyz",'.repeat(size / 16)}0]`,
      `[${"[],".repeat(size / 3)}[]]`,
      `{${Array.from({ length: size / 12 }, (_, index) => `"${String(index).padStart(7)}":0`).join(",")}}`,
    ]) {
      let turns = 0;
      const outcome = await readJsonText(bytesOf(text), { maxDepth: 50, maxValues: size }, async () => {
        turns += 1;
      });
      expect(outcome.ok && JSON.stringify(outcome.value)).toBe(JSON.stringify(JSON.parse(text)));
      expect(turns).toBe(Math.ceil(text.length / 32_768) + 1); // one after the text was decoded
    }
  });

  it.each([
    ["no turns for the rest of a string of up to a million characters", `"${"\\u0041".repeat(170_000)}"`, 3],
    ["no turns for the rest of one without escapes", `"${"x".repeat(6_000_000)}"`, 3],
    ["a turn after each million of a longer one with escapes", `"${"\\u0041".repeat(1_000_000)}"`, 8],
    ["no turns for the rest of a number", `${"1".repeat(1_000_000)}, 2`, 3],
    ["turns in white space", `${" \n\r\t".repeat(250_000)}1`, 32],
  ])("takes %s", async (_, content, expected) => {
    const text = `[${content}]`;
    let turns = 0;
    const { ok } = await readJsonText(bytesOf(text), limits, async () => {
      turns += 1;
    });
    expect([ok, turns]).toEqual([true, expected]);
  });

  it("reads a string in pieces that divide no escape", async () => {
    for (const escapes of ["\\\\", '\\"', "\\u00e9", "\\ud83d\\ude00", "\\\\\\\\u0041", "\\\\u0041\\n"]) {
      for (let shift = 0; shift < 12; shift += 1) {
        const text = `"${"x".repeat(2 ** 20 - 20 + shift)}${escapes.repeat(10)}${"y".repeat(2 ** 20)}${escapes}"`;
        expect(await outcome(text)).toEqual({ ok: true, value: JSON.parse(text) });
      }
    }
    const backslashes = `"${"\\\\".repeat(2 ** 20 + 1)}"`;
    expect(await outcome(backslashes)).toEqual({ ok: true, value: JSON.parse(backslashes) });
    for (const wrong of ["\\x", "\\u00g0", "\\n\n"]) {
      const text = `"${"x".repeat(2 ** 20)}${wrong}${"x".repeat(2 ** 20)}"`;
      expect(await outcome(text)).toMatchObject({ problem: "the body is not valid JSON" });
    }
  });

  it("reads a short text at once", () => {
    expect(readJsonText(bytesOf("{}"), limits, () => expect.unreachable())).toEqual({ ok: true, value: {} });
  });

  for (const [title, text] of [
    ["a string", `"${"x".repeat(200_000)}"`],
    ["a string of escapes", `"${'\\u00e9\\n\\"\\\\'.repeat(20_000)}"`],
    ["a name", `{"${"x".repeat(200_000)}":{"${"\\\\".repeat(50_000)}":1}}`],
    ["a number", `-${"1".repeat(200_000)}.${"0".repeat(200_000)}e-${"0".repeat(200_000)}9`],
  ] as const) {
    it(`reads ${title} that is longer than a slice`, async () => {
      expect(await outcome(text, { maxValues: 1_000_000 })).toEqual({ ok: true, value: JSON.parse(text) });
    });
  }

  it("agrees with JSON.parse on all JSON", async () => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 6 }), async (text) => {
        expect(await outcome(text + filler)).toEqual({ ok: true, value: JSON.parse(text) });
      }),
    );
  });

  it("builds tables, and a message of them has objects like any other", async () => {
    const text = `{"metadata":{"a":[{"b":{}}]}}${filler}`;
    const long = await readJsonText(bytesOf(text), limits, async () => {});
    if (!long.ok) expect.fail(long.problem);
    expect(Object.getPrototypeOf(long.value)).toBeNull();
    const { metadata } = parseMessage(MessageSchema, long.value);
    expect(metadata).toStrictEqual({ a: [{ b: {} }] });
  });

  it("agrees with JSON.parse on what is none", async () => {
    const token = fc.constantFrom(
      ...'[]{}:,"\\0123-+.eEtrufalsn \t\r\n\f\u00a0\0'.split(""),
      ...["true", "false", "null", '"a"', '"\\u00e9"', "1.5", '"__proto__"', "{}", '{"a":', "[1,"],
    );
    await fc.assert(
      fc.asyncProperty(fc.array(token, { maxLength: 12 }), async (tokens) => {
        const text = tokens.join("");
        const refused = { problem: expect.any(String), path: undefined };
        const outcomes = [await outcome(filler + text), await outcome(text)];
        // A text that is no JSON and seems to name a member twice may be refused for either.
        const twice = outcomes.some((each) => "problem" in each && each.problem.endsWith("a member twice"));
        const expected = (twice ? undefined : parse(text)) ?? refused;
        expect(outcomes).toEqual([expected, expected]);
      }),
      { numRuns: 500 },
    );
  });

  it("makes a member of __proto__, and no prototype", async () => {
    const text = '{"a":{"__proto__":{"polluted":1}}}';
    const long = await outcome(filler + text);
    expect(JSON.stringify(long)).toBe(`{"ok":true,"value":${text}}`);
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  for (const [text, problem] of [
    ["[".repeat(60), "the body is nested too deeply"],
    ['{"a":1,"b":2,"\\u0061":3}', "the body names a member twice"],
    ['{"a":1', "the body is not valid JSON"],
    ['"a\nb"', "the body is not valid JSON"],
    ["01", "the body is not valid JSON"],
    ["[1,]", "the body is not valid JSON"],
    ["{} {}", "the body is not valid JSON"],
    ["", "the body is not valid JSON"],
  ] as const) {
    it(`says ${problem} of ${JSON.stringify(text)}, long or short`, async () => {
      expect(await outcome(text)).toMatchObject({ problem });
      expect(await outcome(filler + text)).toMatchObject({ problem });
    });
  }
});

/** What is right about a text; undefined when nothing is. A name that stands twice in the outermost object is not tried. */
function parse(text: string): JsonText | undefined {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}
