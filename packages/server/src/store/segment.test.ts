import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { divideEntries, findEventBytes, kindBits, openSegment, packSegment } from "./segment.ts";
import type { EntryKind, LogEntry } from "./task-store.ts";
import { viewedKinds } from "./task-view.ts";

const eventKinds: readonly EntryKind[] = ["task", "status", "artifact"];
const before = { sequence: 300, generation: 40 };

/** Entries after `before`, their payloads of these lengths. */
function createEntries(shapes: readonly (readonly [EntryKind, bytes: number])[]): readonly LogEntry[] {
  let { generation } = before;
  return shapes.map(([kind, bytes], at) => {
    const isEvent = eventKinds.includes(kind);
    if (isEvent) generation += 1;
    const payload = new Uint8Array(bytes).fill(at);
    return {
      sequence: before.sequence + at + 1,
      generation: isEvent ? generation : undefined,
      kind,
      payload,
    };
  });
}

const anyShapes = fc.array(
  fc.tuple(fc.constantFrom(...viewedKinds.all), fc.oneof(fc.nat(200), fc.nat(40_000))),
  { minLength: 1, maxLength: 30 },
);

describe("a segment", () => {
  it("has each entry of the kinds that are asked for, with the generation of the log at it", () => {
    fc.assert(
      fc.property(anyShapes, fc.subarray([...viewedKinds.all]), (shapes, kinds) => {
        const entries = createEntries(shapes);
        const segment = packSegment(entries, before.generation);
        const placed = [...openSegment(segment, kindBits(kinds))];
        expect(placed.map(({ entry }) => entry)).toEqual(entries.filter(({ kind }) => kinds.includes(kind)));
        for (const { entry, reached } of placed) {
          const events = entries.filter(({ sequence, generation }) => {
            return sequence <= entry.sequence && generation !== undefined;
          });
          expect(reached).toBe(before.generation + events.length);
        }
        for (const { generation, payload } of entries) {
          if (generation !== undefined) expect(findEventBytes(segment, generation)).toBe(payload.length);
        }
        expect(findEventBytes(segment, segment.generation + 1)).toBeUndefined();
      }),
    );
  });

  it("gives what lies beside artifacts without them", () => {
    const entries = createEntries([
      ["status", 3],
      ["artifact", 500],
      ["journal", 4],
      ["artifact", 5],
      ["status", 6],
    ]);
    const { artifacts: _, ...bare } = packSegment(entries, before.generation);
    const others = [...openSegment({ ...bare, artifacts: undefined }, kindBits(viewedKinds.head))];
    expect(others.map(({ entry }) => entry)).toEqual([entries[0], entries[4]]);
    expect(() => [...openSegment({ ...bare, artifacts: undefined }, kindBits(["artifact"]))]).toThrow(
      "the payload of entry 302 is cut off",
    );
  });

  it("is refused when it has a kind that does not exist", () => {
    const segment = packSegment(createEntries([["status", 3]]), before.generation);
    const layout = new Uint8Array([3 * 8 + 7]);
    expect(() => [...openSegment({ ...segment, layout }, 255)]).toThrow("entry 301 has the unknown kind 7");
  });

  it("takes no entry beyond 64 KiB, and an entry that is apart alone", () => {
    const entries = createEntries([
      ["artifact", 60_000],
      ["artifact", 10_000],
      ["artifact", 10_000],
      ["status", 1],
      ["status", 2],
    ]);
    const parts = [...divideEntries(entries, ({ sequence }) => sequence === 304)];
    expect(parts.map((part) => part.map(({ sequence }) => sequence))).toEqual([
      [301, 302],
      [303],
      [304],
      [305],
    ]);
  });
});
