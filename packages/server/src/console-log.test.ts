import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type ConsoleLogOptions, createConsoleLog } from "./console-log.ts";

function logInto(options: ConsoleLogOptions = {}) {
  const lines: string[] = [];
  return { lines, log: createConsoleLog({ write: (line) => lines.push(line), now: () => 0, ...options }) };
}

describe("the console's log", () => {
  it("writes a record as a line, and below it the stack of the error and of its cause", () => {
    const { lines, log } = logInto();
    log({ level: "info", message: "an unfinished task was failed", taskId: "t1" });
    log({
      level: "error",
      message: "an executor failed",
      error: new Error("no key", { cause: new Error("EACCES") }),
    });
    expect(lines[0]).toBe("info: an unfinished task was failed (task t1)");
    expect(lines[1]).toMatch(
      /^error: an executor failed\nError: no key\n\s+at .*console-log\.test\.ts.*(?:\n\s+at .*)*\nError: EACCES\n\s+at /,
    );
  });

  it("writes a record as one line of JSON for programs", () => {
    const { lines, log } = logInto({ json: true, now: () => Date.UTC(2026, 0, 2) });
    log({ level: "warn", message: "two\nlines", taskId: "t1", error: "thrown text" });
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain("\n");
    expect(JSON.parse(lines[0] ?? "")).toEqual({
      time: "2026-01-02T00:00:00.000Z",
      level: "warn",
      message: "two\nlines",
      taskId: "t1",
      error: "thrown text",
    });
  });

  for (const [level, wanted] of [
    [undefined, ["info", "warn", "error"]],
    ["info", ["info", "warn", "error"]],
    ["warn", ["warn", "error"]],
    ["error", ["error"]],
    ["off", []],
  ] as const) {
    it(`writes ${wanted.join(", ") || "nothing"} with level ${level}`, () => {
      const { lines, log } = logInto({ level });
      for (const each of ["info", "warn", "error"] as const) log({ level: each, message: "m" });
      expect(lines).toEqual(wanted.map((each) => `${each}: m`));
    });
  }

  it("writes at most 16 Ki characters of an error, and its stack among them", () => {
    const { lines, log } = logInto();
    log({ level: "error", message: "m", error: new Error(`no ${"x".repeat(2 ** 20)}`) });
    expect(lines[0]?.length).toBeLessThan(17_000);
    expect(lines[0]).toMatch(
      /^error: m\nError: no x+ … \(\d{7} characters left out\) … x+\n\s+at .*console-log\.test/,
    );
  });

  it("shortens errors when they make a second's records long, and writes whole ones in the next", () => {
    let seconds = 0;
    const { lines, log } = logInto({ now: () => seconds * 1_000 });
    const error = new Error("x".repeat(20_000), { cause: "y".repeat(20_000) });
    for (let record = 0; record < 200; record += 1) log({ level: "error", message: "failed", error });
    expect(lines).toHaveLength(200);
    expect(lines.join("").length).toBeLessThan(450_000);
    expect(lines.at(-1)).toMatch(/^error: failed\nError: x+ … \(2\d+ characters left out\) …/);
    seconds = 1;
    log({ level: "error", message: "failed", error });
    expect(lines.at(-1)?.length).toBeGreaterThan(32_000);
  });

  it.each([
    ["text", false, "\n"],
    ["JSON", true, "\u202e"],
  ])("counts characters for that as they are written, in %s", (_, json, character) => {
    const written = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => written.mockRestore());
    const log = createConsoleLog({ json, now: () => 0 });
    const error = new Error(character.repeat(20_000));
    for (let record = 0; record < 200; record += 1) log({ level: "error", message: "failed", error });
    const lines = written.mock.calls.map(([line]) => line as string); // what console.error was given
    expect(lines).toHaveLength(200);
    expect(lines.join("").length).toBeLessThan(700_000);
  });

  it("writes what a caller sent, and code threw or gave as a cause, without making a text of all of it", () => {
    const { lines, log } = logInto();
    const list = Array(100_000).fill({ toString: () => expect.unreachable("it is written") });
    log({ level: "error", message: "m", error: list });
    log({ level: "error", message: "m", error: { toString: "none" } });
    log({ level: "error", message: "m", error: Object.create(null) });
    expect(lines).toEqual([
      "error: m\na list of 100000 items",
      "error: m\n[object Object]",
      "error: m\n[object Object]",
    ]);
  });

  it("writes nothing that a terminal obeys, nor what looks like another record", () => {
    const written = vi.spyOn(console, "error").mockImplementation(() => {});
    onTestFinished(() => written.mockRestore());
    const record = { level: "error", message: "m", error: "\u001b[2J\u202e\ninfo: all is well" } as const;
    createConsoleLog()(record);
    createConsoleLog({ json: true, now: () => 0 })(record);
    expect(written.mock.calls[0]).toEqual(["error: m\n  \n  info: all is well"]);
    expect(written.mock.calls[1]?.[0]).toMatch(/^[ -~]+$/);
    expect(JSON.parse(written.mock.calls[1]?.[0])).toMatchObject({ error: record.error });
  });

  it("writes at most 200 records a second, and says how many were left out", () => {
    let at = 5_000;
    const { lines, log } = logInto({ now: () => at });
    for (let n = 0; n < 250; n++) log({ level: "info", message: String(n) });
    expect(lines).toHaveLength(200);
    at += 1_000;
    log({ level: "info", message: "later" });
    expect(lines.slice(200)).toEqual([
      "warn: 50 more records came within a second and were left out",
      "info: later",
    ]);
  });
});
