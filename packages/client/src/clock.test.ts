import { afterEach, describe, expect, it, vi } from "vitest";
import { failureOf } from "../test-support/outcomes.ts";
import { systemClock } from "./clock.ts";

const dayMs = 24 * 60 * 60 * 1_000;

describe("the platform's clock", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    ["a day", dayMs],
    ["the longest timer that there is", 2 ** 31 - 1],
    ["a little more", 2 ** 31],
    ["two such timers", 2 * (2 ** 31 - 1)],
    ["a quarter of a year", 90 * dayMs],
  ])("sleeps for %s, neither more nor less", async (_, ms) => {
    vi.useFakeTimers();
    let over = false;
    const sleep = systemClock.sleep(ms).then(() => {
      over = true;
    });
    await vi.advanceTimersByTimeAsync(ms - 1);
    expect(over).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(over).toBe(true);
    await sleep;
  });

  it("sleeps for ever, until it is woken", async () => {
    vi.useFakeTimers();
    const controller = new AbortController();
    const sleep = failureOf(systemClock.sleep(Number.POSITIVE_INFINITY, controller.signal));
    await vi.advanceTimersByTimeAsync(400 * dayMs);
    controller.abort(new Error("good morning"));
    expect(await sleep).toMatchObject({ message: "good morning" });
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([30 * dayMs, Number.POSITIVE_INFINITY])(
    "sleeps for no time when it is aborted already: %d ms",
    async (ms) => {
      const reason = new Error("no");
      expect(await failureOf(systemClock.sleep(ms, AbortSignal.abort(reason)))).toBe(reason);
    },
  );
});
