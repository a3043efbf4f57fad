import { expect, it } from "vitest";
import { runShell } from "./restart.ts";

const never = new AbortController().signal;

for (const [command, why] of [
  ["exit 0", undefined],
  ["exit 4", "it ended with code 4"],
  ["kill -9 $$", "it ended with SIGKILL"],
] as const) {
  it(`runs ${command} to its end`, async () => {
    expect(await runShell(command, 10_000, never)).toBe(why);
  });
}

it("does not wait for what a command leaves in the background", async () => {
  expect(await runShell("sleep 2 >/dev/null 2>&1 & exit 0", 10_000, never)).toBeUndefined();
});

it("stops a command that takes too long, with what it has started", async () => {
  expect(await runShell("sleep 300; true", 200, never)).toBe("it did not end within 200 ms");
});

it("stops a command when the user interrupts", async () => {
  const controller = new AbortController();
  const running = runShell("sleep 300; true", 60_000, controller.signal);
  controller.abort(new Error("enough"));
  await expect(running).rejects.toThrow("enough");
});
