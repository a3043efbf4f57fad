import fc from "fast-check";

const surrogates = 0x800;
const firstSurrogate = 0xd800;

/**
 * Any character of Unicode, each a whole one: the unit of a text that may be anything.
 *
 * It makes the same texts as `unit: "binary"` of fast-check, which keeps a table of all characters as long as the process lives: 85 MB, made
 * in two seconds, which every garbage collection of all later tests visits.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat(0x11_0000 - surrogates - 1)
  .map((index) => String.fromCodePoint(index < firstSurrogate ? index : index + surrogates), indexOf);

function indexOf(character: unknown): number {
  const [first, ...others] = typeof character === "string" ? character : "";
  if (first === undefined || others.length > 0 || !first.isWellFormed()) {
    throw new Error("it is not one character");
  }
  const codePoint = first.codePointAt(0) ?? 0;
  return codePoint < firstSurrogate ? codePoint : codePoint - surrogates;
}
