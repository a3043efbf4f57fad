import fc from "fast-check";
import { base64url } from "jose";
import { describe, expect, it } from "vitest";
import { maxProtectedLength, readProtectedHeader } from "./jws-text.ts";

const utf8 = new TextEncoder();

describe("readProtectedHeader", () => {
  it("reads the header of the specification's example (§8.4.2)", () => {
    const example =
      "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpPU0UiLCJraWQiOiJrZXktMSIsImprdSI6Imh0dHBzOi8vZXhhbXBsZS5jb20vYWdlbnQvandrcy5qc29uIn0";
    expect(readProtectedHeader(example)).toEqual({
      alg: "ES256",
      typ: "JOSE",
      kid: "key-1",
      jku: "https://example.com/agent/jwks.json",
    });
  });

  it("keeps members as the objects of JSON.parse have them, __proto__ too", () => {
    const read = readProtectedHeader(base64url.encode(utf8.encode('{"__proto__":{"alg":"ES256"}}')));
    expect(Object.keys(read)).toEqual(["__proto__"]);
    expect(Object(read)["alg"]).toBeUndefined();
  });

  for (const [what, bytes, problem] of [
    ["nothing", "", "is not JSON"],
    ["text that is no JSON", "{alg}", "is not JSON"],
    ["null", "null", "is not a JSON object"],
    ["an array", "[]", "is not a JSON object"],
    ["a string", '"ES256"', "is not a JSON object"],
    ["a byte order mark", "\ufeff{}", "is not JSON"],
    ["bytes that are no UTF-8", Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d), "is not UTF-8"],
    ["a member twice", '{"alg":"ES256","alg":"none"}', "has the member alg twice"],
    ["a member twice, once escaped", '{"alg":"ES256","\\u0061lg":"none"}', "has the member alg twice"],
    ["a member twice further in", '{"jwk":{"x":1,"x":2}}', "has the member jwk.x twice"],
    ["deep nesting", "[".repeat(101), "is nested deeper than 100 levels"],
  ] as const) {
    it(`refuses ${what}`, () => {
      const text = base64url.encode(typeof bytes === "string" ? utf8.encode(bytes) : bytes);
      expect(readProtectedHeader(text)).toBe(problem);
    });
  }

  it("refuses padding", () => {
    expect(readProtectedHeader("e30=")).toBe("is not base64url without padding");
  });

  it("refuses what is too long before it decodes it", () => {
    expect(readProtectedHeader("e".repeat(maxProtectedLength + 1))).toEqual(
      expect.stringContaining("longer"),
    );
  });

  it("never throws", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json().map(encodeText), fc.string().map(encodeText)), (text) => {
        expect(readProtectedHeader(text)).toBeDefined();
      }),
    );
  });
});

function encodeText(text: string): string {
  return base64url.encode(utf8.encode(text));
}
