import { describe, expect, it } from "vitest";
import { createFakeClock } from "./fake-clock.ts";

describe("a fake clock", () => {
  it("rings what is due, in order, at its time, and what is set meanwhile", async () => {
    const clock = createFakeClock(1_000);
    const rung: (readonly [string, number])[] = [];
    const ring = (name: string) => () => void rung.push([name, clock.now()]);
    clock.schedule(20, ring("later"));
    clock.schedule(10, () => {
      ring("first")();
      void Promise.resolve().then(() => clock.schedule(5, ring("chained")));
    });
    const takeBack = clock.schedule(15, ring("never"));
    takeBack();
    await clock.advance(19);
    expect([rung, clock.now(), clock.alarms]).toEqual([
      [
        ["first", 1_010],
        ["chained", 1_015],
      ],
      1_019,
      1,
    ]);
    await clock.advance(1);
    expect(rung.at(-1)).toEqual(["later", 1_020]);
    expect(clock.alarms).toBe(0);
  });

  it("rings what is in the background once, at the end, and counts it not", async () => {
    const clock = createFakeClock(0);
    const rung: (readonly [string, number])[] = [];
    const everySecond = () => {
      rung.push(["background", clock.now()]);
      clock.schedule(1_000, everySecond, { background: true });
      clock.schedule(0, () => rung.push(["what follows", clock.now()]));
    };
    clock.schedule(1_000, everySecond, { background: true });
    clock.schedule(9_000, () => rung.push(["alarm", clock.now()]));
    expect(clock.alarms).toBe(1);
    await clock.advance(10_000);
    expect(rung).toEqual([
      ["alarm", 9_000],
      ["background", 10_000],
      ["what follows", 10_000],
    ]);
    const takeBack = clock.schedule(1, () => rung.push(["never", clock.now()]), { background: true });
    takeBack();
    await clock.advance(999);
    expect([rung.length, clock.alarms]).toEqual([3, 0]);
  });

  it("settles when nobody waits for a turn any more", async () => {
    const clock = createFakeClock();
    let turns = 0;
    const run = async () => {
      for (; turns < 10; turns += 1) await clock.nextTurn();
    };
    const running = run();
    await clock.settle();
    expect(turns).toBe(10);
    await running;
  });
});
