import { describe, expect, it } from "vitest";
import { RunTime } from "./scheduler.ts";

describe("the estimate of when a refused task is worth another try", () => {
  for (const { runs, waiting, places, seconds } of [
    { runs: [], waiting: 9, places: 1, seconds: 10 },
    { runs: [4_000], waiting: 9, places: 1, seconds: 40 },
    { runs: [4_000], waiting: 9, places: 4, seconds: 10 },
    { runs: [4_000, 9_000], waiting: 9, places: 1, seconds: 50 },
    { runs: [1], waiting: 0, places: 1_000, seconds: 1 },
    { runs: [0], waiting: 100, places: 1, seconds: 1 },
    { runs: [-5_000], waiting: 9, places: 1, seconds: 1 },
    { runs: [3_600_000], waiting: 9_999, places: 1, seconds: 3_600 },
  ]) {
    it(`is ${seconds} s behind ${waiting} others at ${places} places, after runs of [${runs}] ms`, () => {
      const runTime = new RunTime();
      for (const elapsedMs of runs) runTime.note(elapsedMs);
      expect(runTime.retryAfterSeconds(waiting, places)).toBe(seconds);
    });
  }

  it("follows runs that have become longer", () => {
    const runTime = new RunTime();
    runTime.note(1_000);
    for (let run = 0; run < 50; run += 1) runTime.note(60_000);
    expect(runTime.retryAfterSeconds(0, 1)).toBe(60);
  });
});
