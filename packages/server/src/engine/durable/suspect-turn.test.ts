import { createFakeClock } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { SuspectTurn } from "./suspect-turn.ts";

function createTurn() {
  const clock = createFakeClock();
  const turn = new SuspectTurn(clock);
  const woken: string[] = [];
  /** @returns undefined when it may not run, else what ends it */
  function take(runs: number): (() => void) | undefined {
    const over = Promise.withResolvers<void>();
    return turn.take(runs, over.promise) ? over.resolve : undefined;
  }
  function wait(name: string, runs = 2, share = "X") {
    return turn.wait(runs, share, () => woken.push(name));
  }
  return { clock, woken, take, wait };
}

describe("the turn of suspects", () => {
  it("wakes one after the other, callers in turns, until one takes the turn", async () => {
    const { clock, woken, take, wait } = createTurn();
    const first = take(5);
    expect(take(2)).toBeUndefined();
    for (const name of ["x1", "x2", "x3"]) wait(name);
    wait("gone", 2, "Y")();
    wait("y1", 2, "Y");
    await clock.advance(60_000);
    expect(woken).toEqual([]);
    first?.();
    await clock.settle();
    expect(woken).toEqual(["x1"]);
    await clock.advance(1_000);
    expect(woken).toEqual(["x1", "y1"]);
    const second = take(5);
    await clock.advance(60_000);
    expect(woken).toEqual(["x1", "y1"]);
    second?.();
    await clock.advance(60_000);
    expect(woken).toEqual(["x1", "y1", "x2", "x3"]);
    expect(take(2)).toBeDefined();
  });

  for (const [runs, pauseMs] of [
    [2, 250],
    [3, 5_000],
  ] as const) {
    it(`lets the next one run ${pauseMs} ms after one with ${runs} runs`, async () => {
      const { clock, take } = createTurn();
      take(runs);
      await clock.advance(pauseMs - 1);
      expect(take(2)).toBeUndefined();
      await clock.advance(1);
      expect(take(2)).toBeDefined();
    });
  }

  it("wakes those with the fewest runs first, and those with four or more when none is watched", async () => {
    const { clock, woken, take, wait } = createTurn();
    await clock.advance(30_000);
    const first = take(2);
    for (const runs of [5, 4, 3, 2]) wait(`${runs}`, runs);
    await clock.advance(250);
    const second = take(2);
    await clock.advance(250);
    const third = take(3);
    await clock.advance(5_000);
    expect([woken, take(4)]).toEqual([["2", "3"], undefined]);
    second?.();
    third?.();
    await clock.settle();
    expect([woken, take(5)]).toEqual([["2", "3"], undefined]);
    first?.();
    await clock.settle();
    expect(woken).toEqual(["2", "3", "4"]);
    take(4);
    await clock.advance(60_000);
    expect([woken, take(2)]).toEqual([["2", "3", "4"], undefined]);
  });

  it("lets one with four runs wait until the process has run for 30 s, but not one with five", async () => {
    const { clock, woken, take, wait } = createTurn();
    expect(take(4)).toBeUndefined();
    wait("4", 4);
    await clock.advance(29_999);
    expect([woken, take(4)]).toEqual([[], undefined]);
    take(5)?.();
    await clock.settle();
    expect(woken).toEqual([]);
    await clock.advance(1);
    expect(woken).toEqual(["4"]);
    expect(take(4)).toBeDefined();
  });
});
