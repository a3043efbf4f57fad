import { describe, expect, it } from "vitest";
import { findFreeNumber } from "./free-number.ts";

async function find(isTaken: (number: number) => boolean, from = 1) {
  let asked = 0;
  const found = await findFreeNumber(
    async (number) => {
      asked++;
      return isTaken(number);
    },
    from,
    10_000,
  );
  return { found, asked };
}

describe("the number of the next file of a name", () => {
  it("is the one after those that are taken", async () => {
    for (let taken = 0; taken < 100; taken++) {
      expect((await find((number) => number <= taken)).found).toBe(taken + 1);
    }
    for (const taken of [999, 8_191, 8_192, 9_999]) {
      expect((await find((number) => number <= taken)).found).toBe(taken + 1);
    }
  });

  it("is found in a few steps, however many are taken", async () => {
    for (const taken of [0, 1, 10, 1_000, 9_999, 10_000]) {
      expect((await find((number) => number <= taken)).asked, `${taken} taken`).toBeLessThanOrEqual(30);
    }
  });

  it("is free also where numbers are missing, and not below where it begins", async () => {
    for (const from of [1, 2, 7, 500, 10_000]) {
      const { found } = await find((number) => number % 3 === 0, from);
      expect(found).toBeGreaterThanOrEqual(from);
      expect((found ?? 0) % 3).not.toBe(0);
    }
  });

  it("is none when all are taken", async () => {
    expect((await find(() => true)).found).toBeUndefined();
    expect((await find(() => false, 10_001)).found).toBeUndefined();
  });
});
