import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

/** Characters that are read in one go. */
const border = 64 * 1024;

/** Reads base64 the long way: by what the rules say, and one call of the platform. */
function parsePlainly(text: string): Uint8Array | undefined {
  const digits = text.replace(/={1,2}$/, "");
  const isBase64 = /^[A-Za-z0-9+/_-]*$/.test(digits) && digits.length % 4 !== 1;
  if (!isBase64 || (digits !== text && text.length % 4 !== 0)) {
    return undefined;
  }
  const characters = atob(digits.replaceAll("-", "+").replaceAll("_", "/"));
  // Not `from` with a function: it takes ten times as long.
  const bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = characters.charCodeAt(at);
  return bytes;
}

function encode(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

/** How one piece of a text is spelled. */
type Spelling = "standard" | "URL-safe" | "mixed";

/** A text, in few words: a report of one that is read wrongly shows no hundred thousand letters. */
interface TextCase {
  /** How many borders there are before its end, about. */
  readonly borders: number;
  readonly more: number;
  readonly step: number;
  readonly spellings: readonly Spelling[];
  readonly padded: boolean;
}

const textCase: fc.Arbitrary<TextCase> = fc.record({
  borders: fc.nat(3),
  more: fc.integer({ min: -7, max: 7 }),
  step: fc.integer({ min: 1, max: 255 }),
  spellings: fc.array(fc.constantFrom<Spelling>("standard", "URL-safe", "mixed"), {
    minLength: 1,
    maxLength: 4,
  }),
  padded: fc.boolean(),
});

function bytesOf({ borders, more, step }: TextCase): Uint8Array {
  const length = Math.max(0, (borders * border * 3) / 4 + more);
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 1) bytes[at] = (at * step) >> 3;
  return bytes;
}

function textOf(of: TextCase): string {
  const base64 = encode(bytesOf(of));
  let text = "";
  for (let at = 0, piece = 0; at < base64.length; at += border, piece++) {
    text += spell(base64.slice(at, at + border), of.spellings[piece % of.spellings.length]);
  }
  return of.padded ? text : text.replaceAll("=", "");
}

function spell(piece: string, spelling: Spelling | undefined): string {
  const mixed = spelling === "standard" ? piece : piece.replaceAll("+", "-");
  return spelling === "URL-safe" ? mixed.replaceAll("/", "_") : mixed;
}

/** What becomes of a text. */
interface Damage {
  readonly borders: number;
  readonly more: number;
  readonly fromEnd: boolean;
  readonly by: string;
  readonly length: number;
}

/** Something near a border, or near the end, gives way to another digit, or to what has no place there. */
const damage: fc.Arbitrary<Damage> = fc.record({
  borders: fc.nat(3),
  more: fc.integer({ min: -4, max: 4 }),
  fromEnd: fc.boolean(),
  // The letter Ł is A to a decoder that looks at the lower byte alone.
  by: fc.constantFrom(
    "",
    "A",
    "-",
    "/",
    "=",
    "==",
    " ",
    "\n",
    "*",
    "Ł",
    "é",
    "€",
    "🙂",
    "\ud83d",
    "\0",
    "AAAAA",
  ),
  length: fc.nat(2),
});

function damaged(text: string, { borders, more, fromEnd, by, length }: Damage): string {
  const at = fromEnd ? text.length - Math.abs(more) : borders * border + more;
  const start = Math.max(0, Math.min(at, text.length));
  return text.slice(0, start) + by + text.slice(start + length);
}

describe.each([
  ["with Node's decoder", Buffer],
  ["without it", undefined],
  // As bundlers bring it along: without an alphabet that came later.
  ["with an imitation of it", { ...Buffer, isEncoding: () => false }],
])("parseBase64 %s", (_, decoder) => {
  let parseBase64: typeof import("./base64.ts").parseBase64;

  beforeAll(async () => {
    vi.resetModules();
    vi.stubGlobal("Buffer", decoder);
    ({ parseBase64 } = await import("./base64.ts"));
    vi.unstubAllGlobals();
  });
  afterAll(() => {
    vi.resetModules();
  });

  it("reads bytes in any spelling", () => {
    fc.assert(
      fc.property(textCase, (of) => expectBytes(parseBase64(textOf(of)), bytesOf(of))),
      { numRuns: 50 },
    );
  });

  it("takes and refuses what the rules take and refuse", () => {
    fc.assert(
      fc.property(textCase, damage, (of, what) => {
        const text = damaged(textOf(of), what);
        expectBytes(parseBase64(text), parsePlainly(text));
      }),
      { numRuns: 150 },
    );
  });

  it("takes and refuses short texts by the same rules", () => {
    const short = fc.string({ unit: fc.constantFrom(..."AQz09+/-_= *Ł🙂"), maxLength: 12 });
    fc.assert(fc.property(short, (text) => expectBytes(parseBase64(text), parsePlainly(text))));
  });

  it("gives bytes that own their memory", () => {
    const bytes = parseBase64("QUJD");
    expect(bytes?.constructor).toBe(Uint8Array);
    expect(bytes?.buffer.byteLength).toBe(3);
  });
});

/** Without a report of a hundred thousand bytes. */
function expectBytes(given: Uint8Array | undefined, expected: Uint8Array | undefined): void {
  expect(given?.length).toBe(expected?.length);
  if (given !== undefined && expected !== undefined) {
    expect(Buffer.compare(given, expected)).toBe(0);
  }
}

describe("formatBase64InPieces", () => {
  it("gives pieces that are the base64 of the whole", async () => {
    const { formatBase64InPieces } = await import("./base64.ts");
    fc.assert(
      fc.property(textCase, (of) => {
        const bytes = bytesOf(of);
        expect([...formatBase64InPieces(bytes)].join("") === encode(bytes)).toBe(true);
      }),
      { numRuns: 30 },
    );
  });
});
