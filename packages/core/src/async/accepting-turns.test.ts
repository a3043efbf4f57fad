import { expect, it, onTestFinished, vi } from "vitest";
import { isAccepting, setAccepting } from "./accepting-turns.ts";

it("work rests as long as a port has turns for new connections alone", () => {
  const [one, other] = [{}, {}];
  expect(isAccepting()).toBe(false);
  setAccepting(one, true);
  setAccepting(other, true);
  setAccepting(one, false);
  expect(isAccepting()).toBe(true);
  setAccepting(other, false);
  expect(isAccepting()).toBe(false);
});

it("work goes on in between where ports have such turns one after the other, without end", () => {
  let now = 5_000;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  const ports = [{}, {}];
  const rests: boolean[] = [];
  for (let turn = 0; turn < 660; turn += 1) {
    const [ends, begins] = turn % 40 < 20 ? ports : ports.toReversed();
    setAccepting(begins as object, true);
    setAccepting(ends as object, false);
    rests.push(isAccepting());
    now += 1;
  }
  for (const port of ports) setAccepting(port, false);
  expect(rests.filter((each) => !each)).toHaveLength(60);
  expect(rests.slice(0, 111)).toEqual([...Array(100).fill(true), ...Array(10).fill(false), true]);
});
