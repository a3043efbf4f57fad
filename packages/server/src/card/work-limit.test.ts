import { describe, expect, it } from "vitest";
import { WorkLimit } from "./work-limit.ts";

describe("a work limit", () => {
  it("begins what waits in its order, also after work that failed", async () => {
    const limit = new WorkLimit(2);
    const begun: number[] = [];
    const ends = Array.from({ length: 5 }, () => Promise.withResolvers<number>());
    const all = ends.map(({ promise }, index) =>
      limit.run(() => {
        begun.push(index);
        return promise;
      }),
    );
    const outcomes = Promise.allSettled(all);
    expect([begun, limit.waiting]).toEqual([[0, 1], 3]);
    ends[1]?.reject(new Error("failed"));
    await expect(all[1]).rejects.toThrow("failed");
    expect([begun, limit.waiting]).toEqual([[0, 1, 2], 2]);
    for (const { resolve } of ends) resolve(1);
    expect((await outcomes).map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "fulfilled",
      "fulfilled",
      "fulfilled",
    ]);
    expect(begun).toEqual([0, 1, 2, 3, 4]);
    expect([await limit.run(async () => "again"), limit.waiting]).toEqual(["again", 0]);
  });
});
