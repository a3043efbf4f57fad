import { expect } from "vitest";
import { startControlledAgent } from "../../../packages/cli/test-support/controlled-agent.ts";
import { field } from "../../../packages/cli/test-support/fields.ts";
import { startOddAgent } from "../../../packages/cli/test-support/odd-agent.ts";
import { collectChecks, type Lab } from "../check.ts";

/** `task get t --wait`, polled as quickly as that is possible. */
const wait = (a2a: Lab["a2a"], url: string, ...flags: readonly string[]) =>
  a2a("task", "get", "t", "--wait", "--poll-interval", "50ms", "-a", url, ...flags);

/** Waiting for a task. */
export const polling = collectChecks((shows) => {
  shows("A2ACLI_TASK_POLL_001", "looks once, and with --wait until the task has ended", async ({ a2a }) => {
    await using odd = await startOddAgent(Array(3).fill("TASK_STATE_WORKING"), false);
    const once = await a2a("task", "get", "t", "-a", odd.url);
    expect([field(once.stdout, "State"), odd.calls]).toEqual(["TASK_STATE_WORKING", ["GetTask"]]);
    const { stdout, exitCode } = await wait(a2a, odd.url);
    expect([field(stdout, "State"), exitCode]).toEqual(["TASK_STATE_COMPLETED", 0]);
    expect(odd.calls.length).toBeGreaterThan(2);
  });

  shows(
    ["A2ACLI_TASK_POLL_002", "A2ACLI_ERR_TIMEOUT"],
    "polls as often as it was told, and gives up when it was told",
    async ({ a2a }) => {
      await using odd = await startOddAgent(Array(10_000).fill("TASK_STATE_WORKING"), false);
      const { stdout, exitCode } = await wait(
        a2a,
        odd.url,
        ...["--poll-interval", "400ms", "--timeout", "1500ms", "-o", "json"],
      );
      expect(JSON.parse(stdout)).toMatchObject({
        error: { code: "A2ACLI_ERR_TIMEOUT" },
      });
      expect(exitCode).toBe(5);
      expect(odd.calls.length).toBeLessThanOrEqual(6);
    },
  );

  shows(
    "A2ACLI_TASK_POLL_002",
    "may be interrupted: the task's id is printed before, and the task goes on",
    async ({ a2a, start }) => {
      await using own = await startControlledAgent();
      const sending = start(["send", "hold x", "-a", own.url]);
      const [, id = ""] = await sending.waitFor(/^task (\S+) is \S+; Ctrl-C/m);
      sending.interrupt();
      const { stderr, exitCode } = await sending.result;
      expect(stderr).toContain(`a2a task subscribe -a ${own.url}`);
      expect(exitCode).toBe(130);
      const { stdout } = await a2a("task", "get", id, "-a", own.url);
      expect(field(stdout, "State")).toBe("TASK_STATE_WORKING");
    },
  );

  for (const state of ["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED"]) {
    shows("A2ACLI_TASK_POLL_003", `stops waiting at ${state}`, async ({ a2a }) => {
      await using odd = await startOddAgent(["TASK_STATE_WORKING", ...Array(10_000).fill(state)], false);
      const { stdout, exitCode } = await wait(a2a, odd.url);
      expect([field(stdout, "State"), exitCode]).toEqual([state, 0]);
    });
  }

  shows(
    "A2ACLI_TASK_POLL_003",
    "goes on at a state that is unspecified, up to --timeout",
    async ({ a2a }) => {
      await using brief = await startOddAgent(Array(2).fill("TASK_STATE_UNSPECIFIED"), false);
      expect(field((await wait(a2a, brief.url)).stdout, "State")).toBe("TASK_STATE_COMPLETED");
      await using endless = await startOddAgent(Array(10_000).fill("TASK_STATE_UNSPECIFIED"), false);
      expect((await wait(a2a, endless.url, "--timeout", "500ms")).exitCode).toBe(5);
      const once = await a2a("task", "get", "t", "-a", endless.url);
      expect(field(once.stdout, "State")).toBe("TASK_STATE_UNSPECIFIED");
    },
  );

  shows("A2ACLI_TASK_POLL_004", "polls when a stream fails", async ({ a2a }) => {
    await using odd = await startOddAgent(Array(2).fill("TASK_STATE_WORKING"), true);
    const { stdout, exitCode } = await wait(a2a, odd.url);
    expect([field(stdout, "State"), exitCode]).toEqual(["TASK_STATE_COMPLETED", 0]);
    expect(odd.calls).toEqual(expect.arrayContaining(["SubscribeToTask", "GetTask"]));
  });
});
