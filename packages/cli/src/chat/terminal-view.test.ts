import { describe, expect, it } from "vitest";
import { progressBar } from "./terminal-view.ts";

describe("a progress bar", () => {
  for (const [fraction, bar] of [
    [0, "░░░░░░░░░░░░░░░░░░░░   0%"],
    [0.5, "██████████░░░░░░░░░░  50%"],
    [0.999, "███████████████████░  99%"],
    [1, "████████████████████ 100%"],
    [7, "████████████████████ 100%"],
    [-1, "░░░░░░░░░░░░░░░░░░░░   0%"],
  ] as const) {
    it(`shows ${fraction}`, () => expect(progressBar(fraction, "")).toBe(bar));
  }

  it("says what is being done", () => {
    expect(progressBar(0.5, "reading")).toBe("██████████░░░░░░░░░░  50% reading");
  });
});
