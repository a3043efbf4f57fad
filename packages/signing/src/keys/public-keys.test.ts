import { describe, expect, it } from "vitest";
import type { VerificationKey } from "./key-type.ts";
import { SigningError } from "./key-type.ts";
import { generateSigningKey } from "./private-key.ts";
import { createKeySet } from "./public-keys.ts";

const one = await generateSigningKey({ kid: "one" });
const two = await generateSigningKey({ alg: "EdDSA", kid: "two" });
const now = Date.parse("2026-06-01T00:00:00Z");

describe("createKeySet", () => {
  it("has the public sides, whatever is given", () => {
    const { keys } = createKeySet([one.privateJwk, { ...two.publicJwk, password: "x" } as VerificationKey]);
    expect(keys).toEqual([one.publicJwk, two.publicJwk]);
  });

  it("keeps a retired key until its date, with it, and no longer (M-4)", () => {
    const retired = { ...one.publicJwk, exp: now / 1000 };
    expect(createKeySet([retired, two.publicJwk], { now: now - 1 })).toEqual({
      keys: [retired, two.publicJwk],
    });
    expect(createKeySet([retired, two.publicJwk], { now })).toEqual({ keys: [two.publicJwk] });
  });

  it("leaves revoked keys out: not everybody knows the mark (M-4)", () => {
    expect(createKeySet([{ ...one.publicJwk, revoked: { reason: "lost" } }])).toEqual({ keys: [] });
    expect(createKeySet([{ ...one.publicJwk, revoked: true }])).toEqual({ keys: [] });
    expect(createKeySet([{ ...one.publicJwk, revoked: false }]).keys).toHaveLength(1);
  });

  it("has a key once that is given twice, and no two with one id", () => {
    expect(createKeySet([one.publicJwk, one.privateJwk]).keys).toHaveLength(1);
    expect(() => createKeySet([one.publicJwk, { ...two.publicJwk, kid: "one" }])).toThrow(
      'two keys have the id "one"',
    );
  });

  for (const [title, change] of [
    ["milliseconds", { exp: now }],
    ["a date that is none", { exp: Number.NaN }],
    ["a date before 1970", { nbf: -1 }],
    ["no key", { x: "x" }],
  ] as const) {
    it(`refuses ${title}`, () => {
      expect(() => createKeySet([{ ...one.publicJwk, ...change }])).toThrow(SigningError);
    });
  }
});
