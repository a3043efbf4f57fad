import { bytes, json, text } from "@a2a-connect/core";
import { AgentCardSchema, type Artifact, ArtifactSchema, type Part, PartSchema } from "@a2a-connect/proto";
import { create, fromBinary, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it, vi } from "vitest";
import type { Inspected } from "../options.ts";
import { inspectOnce } from "./inspect-once.ts";

const partOf = (part: Part, of: "message" | "artifact" = "artifact"): Inspected => ({
  kind: "part",
  part,
  of,
});
const artifactOf = (artifact: Artifact): Inspected => ({ kind: "artifact", artifact });

describe("an inspector that is asked once", () => {
  for (const [what, make] of [
    ["a text", () => partOf(text("hello", { metadata: { a: 1 } }))],
    ["bytes", () => partOf(bytes(Uint8Array.of(1, 2, 3), { filename: "a.bin" }))],
    ["data", () => partOf(json({ a: [1, null, { b: "c" }] }))],
    [
      "an artifact",
      () => artifactOf(create(ArtifactSchema, { artifactId: "a", parts: [text("x"), json(1)] })),
    ],
    ["a card", () => ({ kind: "card", card: create(AgentCardSchema, { name: "Clerk" }) })],
  ] satisfies [string, () => Inspected][]) {
    it(`sees ${what} once, whichever object it is`, async () => {
      const inspect = vi.fn();
      const once = inspectOnce(inspect);
      const first = make();
      for (const each of [first, make(), make()]) await once(each);
      expect(inspect.mock.calls).toEqual([[first]]);
    });
  }

  it("sees once what comes with its members in another order", async () => {
    const inspect = vi.fn();
    const once = inspectOnce(inspect);
    const values: JsonObject[] = [
      { one: 1, two: { three: 3, four: [4] } },
      { two: { four: [4], three: 3 }, one: 1 },
    ];
    for (const metadata of values) await once(partOf(text("x", { metadata })));
    for (const value of values) await once(partOf(json(value)));
    expect(inspect).toHaveBeenCalledTimes(2);
  });

  it("sees everything that differs", async () => {
    const part = text("x");
    const different: Inspected[] = [
      partOf(part),
      partOf(part, "message"),
      partOf(text("y")),
      partOf(text("x", { filename: "x" })),
      partOf(text("x", { mediaType: "text/html" })),
      partOf(text("x", { metadata: { a: 1 } })),
      partOf(text("x", { metadata: { a: "1" } })),
      partOf(text("x", { metadata: JSON.parse('{"__proto__":1}') as JsonObject })),
      partOf(bytes(new TextEncoder().encode("x"))),
      partOf(json("x")),
      partOf(json(["x"])),
      partOf(withUnknownField(part)),
      artifactOf(create(ArtifactSchema, { artifactId: "x" })),
      artifactOf(create(ArtifactSchema, { artifactId: "x", parts: [part] })),
      artifactOf(create(ArtifactSchema, { artifactId: "x", parts: [part, part] })),
      { kind: "card", card: create(AgentCardSchema, { name: "x" }) },
    ];
    const inspect = vi.fn();
    const once = inspectOnce(inspect);
    for (const each of [...different, ...different]) await once(each);
    expect(inspect).toHaveBeenCalledTimes(different.length);
  });

  it("is asked once by all who ask at the same time, and all get its answer", async () => {
    const digest = vi.spyOn(crypto.subtle, "digest");
    for (const refusal of [undefined, new Error("no")]) {
      digest.mockClear();
      const answer = Promise.withResolvers<void>();
      const inspect = vi.fn(() => answer.promise);
      const once = inspectOnce(inspect);
      const all = Promise.allSettled([1, 2, 3].map(() => once(partOf(text("same")))));
      await Promise.all(digest.mock.results.map(({ value }) => value));
      await new Promise((resolve) => setImmediate(resolve)); // all of them have seen theirs
      if (refusal === undefined) answer.resolve();
      else answer.reject(refusal);
      const reasons = (await all).map((each) => (each.status === "rejected" ? each.reason : undefined));
      expect(reasons).toEqual([refusal, refusal, refusal]);
      expect(inspect).toHaveBeenCalledTimes(1);
    }
    digest.mockRestore();
  });

  it("is asked again about what it has refused", async () => {
    const inspect = vi.fn().mockRejectedValueOnce(new Error("no"));
    const once = inspectOnce(inspect);
    await expect(once(partOf(text("x")))).rejects.toThrow("no");
    await once(partOf(text("x")));
    await once(partOf(text("x")));
    expect(inspect).toHaveBeenCalledTimes(2);
  });

  it("forgets the oldest of ten thousand things", async () => {
    const inspect = vi.fn();
    const once = inspectOnce(inspect);
    for (let number = 0; number <= 10_000; number++) await once(partOf(text(`${number}`)));
    inspect.mockClear();
    await once(partOf(text("10000")));
    await once(partOf(text("1")));
    expect(inspect).not.toHaveBeenCalled();
    await once(partOf(text("0")));
    expect(inspect).toHaveBeenCalledTimes(1);
  });

  it("is asked each time where there is no SHA-256", async () => {
    const inspect = vi.fn();
    const once = inspectOnce(inspect);
    vi.stubGlobal("crypto", {});
    try {
      await once(partOf(text("x")));
      await once(partOf(text("x")));
    } finally {
      vi.unstubAllGlobals();
    }
    expect(inspect).toHaveBeenCalledTimes(2);
  });
});

/** The same to every reader of this version of the protocol. */
function withUnknownField(part: Part): Part {
  const unknown = Uint8Array.of(0xf8, 0x07, 1); // field 127, a varint
  return fromBinary(PartSchema, Uint8Array.of(...toBinary(PartSchema, part), ...unknown));
}
