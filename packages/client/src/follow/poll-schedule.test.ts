import { describe, expect, it } from "vitest";
import { choosePollInterval, PollSchedule } from "./poll-schedule.ts";

describe("the schedule of polls", () => {
  it("doubles after ten answers without a change, up to 30 s, and starts again with a change", () => {
    const schedule = new PollSchedule(2_000);
    const waits = Array.from({ length: 16 }, () => schedule.next(false));
    expect(waits).toEqual([...Array(10).fill(2_000), 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]);
    expect(schedule.next(true)).toBe(2_000);
    expect(schedule.next(false)).toBe(2_000);
  });

  it("does not wait less than a long interval that was asked for", () => {
    const schedule = new PollSchedule(60_000);
    expect(Array.from({ length: 12 }, () => schedule.next(false))).toEqual(Array(12).fill(60_000));
  });

  it.each([
    [{}, 2_000, 0],
    [{ pollIntervalMs: 5_000 }, 5_000, 0],
    [{ pollIntervalMs: 100 }, 2_000, 1],
    [{ pollIntervalMs: 100, allowFastPolling: true }, 100, 1],
  ])("polls for %j every %i ms, with %i warnings", (options, expected, warned) => {
    const warnings: string[] = [];
    expect(choosePollInterval(options, (warning) => warnings.push(warning))).toBe(expected);
    expect(warnings).toHaveLength(warned);
  });
});
