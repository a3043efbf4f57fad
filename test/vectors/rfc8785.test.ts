import { readFileSync } from "node:fs";
import { AgentCardSchema } from "@a2a-connect/proto";
import { CardTextError, canonicalCard } from "@a2a-connect/signing";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";

/** A number by its bits, and how it is written; null: not at all. */
interface NumberSample {
  readonly ieee754: string;
  readonly canonical: string | null;
}

/** A text, its canonical form, and the bytes of that. */
interface TextSample {
  readonly text: string;
  readonly canonical: string;
  readonly utf8?: string;
}

const { numbers }: { readonly numbers: readonly NumberSample[] } = read("numbers.json");

describe("the samples of RFC 8785", () => {
  for (const { ieee754, canonical } of numbers) {
    const value = numberOf(ieee754);
    if (canonical === null) {
      it(`${ieee754} has no JSON (Appendix B)`, () => {
        expect(() => canonicalCard(cardWithParam(value))).toThrow(CardTextError);
      });
      continue;
    }
    it(`${ieee754} is written as ${canonical} (Appendix B)`, () => {
      // 17 digits tell every double from its neighbours, and are not how any of them is written.
      expect(canonicalCard(`{"x":${value.toPrecision(17)}}`)).toBe(`{"x":${canonical}}`);
      expect(canonicalCard(cardWithParam(value))).toContain(`"params":{"x":${canonical}}`);
    });
  }

  for (const file of ["key-order.json", "primitives.json"]) {
    it(`${file} has its canonical form, and that its own`, () => {
      const { text, canonical, utf8 }: TextSample = read(file);
      expect(canonicalCard(text)).toBe(canonical);
      expect(canonicalCard(canonical)).toBe(canonical);
      if (utf8 !== undefined) {
        expect(Buffer.from(canonicalCard(text)).toString("hex")).toBe(utf8);
      }
    });
  }
});

function cardWithParam(x: number) {
  return create(AgentCardSchema, { capabilities: { extensions: [{ params: { x } }] } });
}

function numberOf(ieee754: string): number {
  return Buffer.from(ieee754, "hex").readDoubleBE();
}

function read(file: string) {
  return JSON.parse(readFileSync(new URL(`rfc8785/${file}`, import.meta.url), "utf8"));
}
