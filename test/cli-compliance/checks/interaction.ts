import { mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { field, fieldsOf, shellWords } from "../../../packages/cli/test-support/fields.ts";
import { startRecordingAgent } from "../../../packages/cli/test-support/recording-agent.ts";
import { collectChecks } from "../check.ts";

/** Going on with what was begun. */
export const interaction = collectChecks((shows) => {
  shows("A2ACLI_INTERACT_001", "begins a new task in a context", async ({ ask }) => {
    const first = (await ask("send", "task one")).stdout;
    const second = (await ask("send", "task two", "--context-id", field(first, "Context"))).stdout;
    expect(field(second, "Context")).toBe(field(first, "Context"));
    expect(field(second, "Task")).not.toBe(field(first, "Task"));
  });

  shows("A2ACLI_INTERACT_002", "goes on with a task, with its context or without", async ({ ask }) => {
    for (const withContext of [false, true]) {
      const asked = (await ask("send", "ask")).stdout;
      const ids = [
        "--task-id",
        field(asked, "Task"),
        ...(withContext ? ["--context-id", field(asked, "Context")] : []),
      ];
      const { stdout } = await ask("send", "red", ...ids);
      expect(field(stdout, "Task")).toBe(field(asked, "Task"));
      expect(stdout).toContain("Text:\nYou said red.\n\n");
    }
  });

  shows(
    "A2ACLI_INTERACT_002",
    "begins nothing new when an identifier is refused",
    async ({ a2a, agent, ask }) => {
      const ended = (await ask("send", "task x")).stdout;
      const asking = (await ask("send", "ask")).stdout;
      for (const [ids, code] of [
        [["--task-id", "nobody's"], "TaskNotFoundError"],
        [["--task-id", field(ended, "Task")], "UnsupportedOperationError"],
        [["--task-id", field(asking, "Task"), "--context-id", field(ended, "Context")], "InvalidParamsError"],
      ] as const) {
        const { stdout, stderr, exitCode } = await a2a("send", "red", ...ids, "-o", "json", "-a", agent.url);
        expect(JSON.parse(stdout)).toMatchObject({ error: { code } });
        expect(stdout + stderr).toContain("--debug"); // in the hint, or beside it
        expect(exitCode).toBe(1);
      }
      const listed = await ask("task", "list", "--context-id", field(ended, "Context"));
      expect(fieldsOf(listed.stdout).get("Task")).toEqual([field(ended, "Task")]);
    },
  );

  shows("A2ACLI_INTERACT_003", "sends no task or context id that it was not given", async ({ a2a }) => {
    await using recorder = await startRecordingAgent();
    await a2a("send", "hello", "-a", recorder.url);
    const { params } = JSON.parse(recorder.calls[0]?.body ?? "") as { params: { message: object } }; // JSON-RPC
    expect(params.message).toEqual({
      messageId: expect.any(String),
      role: "ROLE_USER",
      parts: [{ text: "hello" }],
    });
  });

  shows(
    "A2ACLI_INTERACT_004",
    "prints identifiers and state, and the very command that goes on",
    async ({ ask, a2a }) => {
      const { stdout } = await ask("send", "ask");
      expect(fieldsOf(stdout).get("Task")).toHaveLength(1);
      expect(field(stdout, "State")).toBe("TASK_STATE_INPUT_REQUIRED");
      const [a2aItself, ...argv] = shellWords(field(stdout, "Resume"));
      expect([a2aItself, argv.at(-1)]).toEqual(["a2a", "<reply>"]);
      const answered = await a2a(...argv.slice(0, -1), "green");
      for (const label of ["Task", "Context"]) {
        expect(field(answered.stdout, label)).toBe(field(stdout, label));
      }
      expect(field(answered.stdout, "State")).toBe("TASK_STATE_COMPLETED");
    },
  );

  shows(
    "A2ACLI_AUTH_011",
    "stops where credentials are wanted, and goes on when told so",
    async ({ ask, a2a }) => {
      const { stdout, stderr, exitCode } = await ask("send", "auth");
      expect([field(stdout, "State"), exitCode]).toEqual(["TASK_STATE_AUTH_REQUIRED", 0]);
      expect(stderr).toMatch(/^warning: .*credentials/m);
      const argv = shellWords(field(stdout, "Resume")).slice(1, -1);
      const resumed = await a2a(...argv, "done");
      expect(field(resumed.stdout, "Task")).toBe(field(stdout, "Task"));
      expect(field(resumed.stdout, "State")).toBe("TASK_STATE_COMPLETED");
    },
  );

  shows(
    "A2ACLI_INTERACT_005",
    "leaves nothing behind, and has no way to continue but identifiers",
    async ({ agent, start, directory }) => {
      const home = await mkdtemp(join(directory, "home-"));
      const ask = (...words: string[]) => start(["send", ...words, "-a", agent.url], { cwd: home }).result;
      const first = await ask("ask");
      expect(field(first.stdout, "State")).toBe("TASK_STATE_INPUT_REQUIRED");
      expect(await readdir(home)).toEqual([]);
      const second = await ask("task x");
      for (const label of ["Task", "Context"]) {
        expect(field(second.stdout, label)).not.toBe(field(first.stdout, label));
      }
      expect((await ask("red", "--continue")).exitCode).toBe(2);
    },
  );
});
