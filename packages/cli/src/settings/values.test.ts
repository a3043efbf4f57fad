import { describe, expect, it } from "vitest";
import { formatDuration, parseDuration } from "./values.ts";

describe("durations", () => {
  for (const [text, ms] of [
    ["2s", 2_000],
    ["500ms", 500],
    ["5m", 300_000],
    ["1h", 3_600_000],
    ["1.5s", 1_500],
    [".5m", 30_000],
    ["7", 7_000],
    [" 2S ", 2_000],
    ["0", 0],
  ] as const) {
    it(`reads ${JSON.stringify(text)}`, () => expect(parseDuration(text)).toBe(ms));
  }

  for (const text of ["", "s", "2 s", "-1s", "2d", "1e3", "2s500ms", "0x10", "NaN"]) {
    it(`refuses ${JSON.stringify(text)}`, () => expect(parseDuration(text)).toBeUndefined());
  }

  for (const [ms, text] of [
    [0, "0ms"],
    [500, "500ms"],
    [1_500, "1500ms"],
    [2_000, "2s"],
    [300_000, "5m"],
    [7_200_000, "2h"],
  ] as const) {
    it(`writes ${ms} as ${text}, which reads as the same`, () => {
      expect(formatDuration(ms)).toBe(text);
      expect(parseDuration(text)).toBe(ms);
    });
  }
});
