import { describe, expect, it } from "vitest";
import { retryDelayMs } from "./push-options.ts";

const retry = { initialMs: 1_000, factor: 2, maxMs: 3_600_000 };

describe("the delay before another attempt (N-5)", () => {
  for (const [attempts, least, most] of [
    [1, 500, 1_000],
    [2, 1_000, 2_000],
    [5, 8_000, 16_000],
    [12, 1_024_000, 2_048_000],
    [13, 1_800_000, 3_600_000],
    [10_000, 1_800_000, 3_600_000],
  ] as const) {
    it(`is from ${least} to ${most} ms after ${attempts} failures`, () => {
      expect(retryDelayMs(attempts, retry, 0)).toBe(least);
      expect(retryDelayMs(attempts, retry, 1)).toBe(most);
    });
  }
});
