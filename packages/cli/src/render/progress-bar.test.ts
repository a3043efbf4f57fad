import { describe, expect, it } from "vitest";
import { progressBar } from "./progress-bar.ts";

describe("a progress bar", () => {
  for (const [fraction, bar] of [
    [0, "░░░░░░░░░░░░░░░░░░░░   0%"],
    [0.5, "██████████░░░░░░░░░░  50%"],
    [0.999, "███████████████████░  99%"],
    [1, "████████████████████ 100%"],
    [7, "████████████████████ 100%"],
    [-1, "░░░░░░░░░░░░░░░░░░░░   0%"],
  ] as const) {
    it(`shows ${fraction}`, () => expect(progressBar(fraction)).toBe(bar));
  }
});
