import { EventEmitter } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { allowTimeToStop, interruptedExitCode, watchInterrupts } from "./interrupts.ts";

/** A process that gets signals and remembers how it was ended. */
class FakeProcess extends EventEmitter {
  readonly exits: number[] = [];

  exit(code: number): void {
    this.exits.push(code);
  }
}

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

describe("signals", () => {
  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    it(`${signal} interrupts, with exit code ${code}, and is an AbortError as any other`, () => {
      const process = new FakeProcess();
      const interrupted = watchInterrupts(process);
      process.emit(signal);
      expect(interrupted.reason).toMatchObject({ name: "AbortError" });
      expect(interruptedExitCode(interrupted)).toBe(code);
      expect(process.exits).toEqual([]);
    });

    it(`${signal} once is enough: work that does not watch it is cut off after 8 seconds`, () => {
      const process = new FakeProcess();
      watchInterrupts(process);
      process.emit(signal);
      vi.advanceTimersByTime(7_999);
      expect(process.exits).toEqual([]);
      vi.advanceTimersByTime(1);
      expect(process.exits).toEqual([code]);
    });
  }

  it("may leave a command more time to stop", () => {
    const process = new FakeProcess();
    const interrupted = watchInterrupts(process);
    process.emit("SIGTERM");
    allowTimeToStop(interrupted, 30_000);
    vi.advanceTimersByTime(29_999);
    expect(process.exits).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(process.exits).toEqual([143]);
  });

  it("the second one kills, with its own code, unless it is the first one heard twice", () => {
    const process = new FakeProcess();
    watchInterrupts(process);
    process.emit("SIGINT");
    process.emit("SIGTERM");
    expect(process.exits).toEqual([]);
    vi.advanceTimersByTime(500);
    process.emit("SIGTERM");
    expect(process.exits).toEqual([143]);
  });
});
