import { describe, expect, it } from "vitest";
import { nextSlice } from "./next-slice.ts";

describe("slices of long work", () => {
  it("are done one in each round of the event loop, in turns of the work", async () => {
    const done: string[] = [];
    const work = async (name: string) => {
      for (let slice = 0; slice < 3; slice++) {
        await nextSlice();
        done.push(`${name}${slice}`);
      }
    };
    let perRound = 0;
    let over = false;
    const rounds = (async () => {
      for (let before = done.length; !over; before = done.length) {
        await new Promise((resolve) => setImmediate(resolve));
        perRound = Math.max(perRound, done.length - before);
      }
    })();
    await Promise.all(["a", "b", "c"].map(work));
    over = true;
    await rounds;
    expect(done).toEqual(["a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2"]);
    expect(perRound).toBe(1);
  });
});
