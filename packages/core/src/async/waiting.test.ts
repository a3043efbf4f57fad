import { describe, expect, it } from "vitest";
import { withinTime } from "./waiting.ts";

const late = new Error("it took too long");

describe("withinTime", () => {
  it("gives what the function gives, and stops the timer", async () => {
    let stopped = false;
    const timer = () => () => {
      stopped = true;
    };
    expect(await withinTime(1_000, late, async () => "done", { timer })).toBe("done");
    expect(stopped).toBe(true);
  });

  it("throws that it is late, also where the function then throws something else", async () => {
    const timer = (_: number, tick: () => void) => {
      queueMicrotask(tick);
      return () => {};
    };
    const run = (signal: AbortSignal) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("cut off"))));
    await expect(withinTime(1_000, late, run, { timer })).rejects.toBe(late);
  });

  it("throws the caller's reason, and does not wait for a function that goes on", async () => {
    const caller = new AbortController();
    const waiting = withinTime(60_000, late, () => new Promise(() => {}), { signal: caller.signal });
    caller.abort(new Error("the caller is gone"));
    await expect(waiting).rejects.toThrow("the caller is gone");
  });
});
