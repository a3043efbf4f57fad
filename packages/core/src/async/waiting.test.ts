import { describe, expect, it } from "vitest";
import { untilAborted, withinTime } from "./waiting.ts";

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

describe("untilAborted", () => {
  it.each(["before", "after"])(
    "leaves no failure unhandled that comes when its signal has aborted, %s it began",
    async (when) => {
      const unhandled: unknown[] = [];
      const note = (reason: unknown): void => void unhandled.push(reason);
      process.on("unhandledRejection", note);
      try {
        const work = Promise.withResolvers<void>();
        const caller = new AbortController();
        const gone = new Error("the caller is gone");
        if (when === "before") caller.abort(gone);
        const waiting = untilAborted(work.promise, caller.signal);
        caller.abort(gone);
        await expect(waiting).rejects.toBe(gone);
        work.reject(new Error("it has failed"));
        await new Promise((resolve) => setImmediate(resolve));
        expect(unhandled).toEqual([]);
      } finally {
        process.off("unhandledRejection", note);
      }
    },
  );

  it("gives the reason of a signal that had aborted before, also where the promise had an end", async () => {
    const signal = AbortSignal.abort(new Error("the caller is gone"));
    await expect(untilAborted(Promise.resolve("done"), signal)).rejects.toThrow("the caller is gone");
    await expect(untilAborted("done", signal)).rejects.toThrow("the caller is gone");
  });
});
