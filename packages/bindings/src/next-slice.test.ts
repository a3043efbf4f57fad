import { setImmediate as nextTurn } from "node:timers/promises";
import { setAccepting } from "@a2a-connect/core/internal";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { nextSlice } from "./next-slice.ts";

/** The time, which passes only when a test says so: how long turns take on a busy machine changes nothing. */
let now = 0;

beforeEach(() => {
  now = Math.max(now, performance.now());
  vi.spyOn(performance, "now").mockImplementation(() => now);
});

/** Counts the turns of the event loop until it is disposed of. */
function countTurns() {
  let isOver = false;
  const turns = {
    count: 0,
    [Symbol.dispose](): void {
      isOver = true;
    },
  };
  const next = (): void => {
    turns.count += 1;
    if (!isOver) setImmediate(next);
  };
  next();
  return turns;
}

describe("slices of long work", () => {
  it("are done in turns of the work, one in four turns of the event loop: what else there is to do comes in between", async () => {
    using turns = countTurns();
    const done: { name: string; turn: number }[] = [];
    const work = async (name: string) => {
      for (let slice = 0; slice < 3; slice++) {
        await nextSlice(undefined);
        done.push({ name: `${name}${slice}`, turn: turns.count });
      }
    };
    await Promise.all(["a", "b", "c"].map(work));
    expect(done.map(({ name }) => name)).toEqual(["a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2"]);
    const apart = done.slice(1).map((slice, index) => slice.turn - (done[index]?.turn ?? 0));
    expect(apart).toEqual(Array(8).fill(4));
  });

  it("that took long are followed by the next one after more turns", async () => {
    using turns = countTurns();
    // Work that holds a place never rests: only the turns between two slices count.
    await nextSlice("caller", "read");
    now += 60;
    const before = turns.count;
    await nextSlice("caller", "read");
    expect(turns.count - before).toBe(12); // it would be 4
  });

  it("follow one another sooner where the turns of the event loop are long", async () => {
    let turn = 0;
    let isOver = false;
    const beBusy = () => {
      turn += 1;
      now += 10;
      if (!isOver) setImmediate(beBusy);
    };
    beBusy();
    await nextSlice("caller");
    const first = turn;
    for (let slice = 0; slice < 10; slice += 1) await nextSlice("caller");
    expect(turn - first).toBeLessThan(20); // it would be 40
    const then = turn;
    for (let slice = 0; slice < 10; slice += 1) {
      for (let other = 0; other < 2; other += 1) await nextTurn(); // no slice is waited for
      await nextSlice("caller");
    }
    expect(turn - then).toBeLessThan(45); // it would be 60
    isOver = true;
  });

  it("are done in turns of the callers, however much work one of them has", async () => {
    const [greedy, other] = [{}, {}];
    const done: object[] = [];
    const work = async (caller: object) => {
      for (let slice = 0; slice < 3; slice++) {
        await nextSlice(caller);
        done.push(caller);
      }
    };
    await Promise.all([...Array.from({ length: 20 }, () => work(greedy)), work(other)]);
    expect(done.lastIndexOf(other)).toBeLessThan(7);
    expect(done).toHaveLength(21 * 3);
  });

  it("that take long wait for those of other callers until these have had as much time", async () => {
    const done: string[] = [];
    const work = async (caller: string, slices: number, ms: number) => {
      for (let slice = 0; slice < slices; slice += 1) {
        await nextSlice(caller);
        now += ms;
        done.push(caller);
      }
    };
    // Only a caller that rests waits for a timer.
    vi.spyOn(globalThis, "setTimeout").mockImplementation((task, ms = 0) => {
      now += ms;
      return setImmediate(task) as unknown as NodeJS.Timeout;
    });
    await Promise.all([work("costly", 2, 150), work("costly", 2, 150), work("cheap", 10, 0)]);
    expect(done.filter((caller) => caller === "cheap")).toHaveLength(10);
    expect(done.lastIndexOf("cheap")).toBe(10); // behind one costly slice
  });

  it("of a caller that has done none for a while are no more than its turn", async () => {
    const done: string[] = [];
    const work = async (caller: string, slices: number) => {
      for (let slice = 0; slice < slices; slice += 1) {
        await nextSlice(caller);
        done.push(caller);
        if (caller === "first" && slice === 9) void work("second", 10);
      }
    };
    await work("first", 30);
    const both = done.slice(10, 30);
    expect(both.filter((caller) => caller === "second").length).toBeGreaterThanOrEqual(8);
    expect(both.filter((caller) => caller === "first").length).toBeGreaterThanOrEqual(8);
  });

  it("of work that holds a place wait for no other work of its caller", async () => {
    const done: string[] = [];
    const other = async (): Promise<void> => {
      while (!done.includes("body")) {
        await nextSlice("caller");
        done.push("other");
      }
    };
    const all = Array.from({ length: 50 }, other);
    for (let slice = 0; slice < 10; slice += 1) await nextSlice("caller", "body");
    done.push("body");
    expect(done.length).toBeLessThan(50);
    await Promise.all(all);
  });

  it("are not done in turns for new connections alone", async () => {
    const port = {};
    setAccepting(port, true);
    let isDone = false;
    const slice = nextSlice(undefined).then(() => {
      isDone = true;
    });
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    expect(isDone).toBe(false);
    setAccepting(port, false);
    await slice;
  });
});
