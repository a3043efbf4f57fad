import { describe, expect, it } from "vitest";
import { createDocument } from "./serve-document.ts";

const second = Date.UTC(2026, 0, 2, 3, 4, 5);
const make = (text: string, now: number, before?: Awaited<ReturnType<typeof createDocument>>) =>
  createDocument(text, "application/json", now, before);

describe("a document", () => {
  it("goes on with its date when its text is the same", async () => {
    const first = await make("a", second + 10);
    expect(await make("a", second + 5_000, first)).toBe(first);
    expect(first.modifiedMs).toBe(second);
  });

  it("knows when another was there in the same second", async () => {
    const first = await make("a", second + 10);
    const other = await make("b", second + 990, first);
    const later = await make("c", second + 1_000, other);
    expect([first, other, later].map(({ sharesSecond }) => sharesSecond)).toEqual([false, true, false]);
  });

  it("is compressed once, and only where that makes it smaller", async () => {
    const long = await make("a".repeat(1_000), second);
    const compressed = await long.gzipped();
    expect(compressed?.length).toBeLessThan(100);
    expect(await long.gzipped()).toBe(compressed);
    expect(await (await make("a", second)).gzipped()).toBeUndefined();
  });
});
