import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { startControlledAgent } from "../../../packages/cli/test-support/controlled-agent.ts";
import { field, fieldsOf, linesOf } from "../../../packages/cli/test-support/fields.ts";
import { collectChecks } from "../check.ts";

/** `task …`. */
export const tasks = collectChecks((shows) => {
  shows(
    "A2ACLI_TASK_GET_001",
    "shows state, artifacts, and the history that was asked for",
    async ({ ask }) => {
      const id = field((await ask("send", "parts")).stdout, "Task");
      const { stdout } = await ask("task", "get", id, "--history", "5");
      expect(field(stdout, "Task")).toBe(id);
      expect(field(stdout, "State")).toBe("TASK_STATE_COMPLETED");
      expect(stdout).toContain("Text:\nsome text\n\n");
      expect(fieldsOf(stdout).get("File")).toHaveLength(2);
      expect(stdout).toContain("Text:\nparts\n\n"); // what the user said
    },
  );

  shows("A2ACLI_TASK_CANCEL_001", "cancels, again without harm, and reports the state", async ({ ask }) => {
    const id = field((await ask("send", "hold x", "--async")).stdout, "Task");
    for (const _ of ["once", "again"]) {
      const { stdout, exitCode } = await ask("task", "cancel", id);
      expect([field(stdout, "State"), exitCode]).toEqual(["TASK_STATE_CANCELED", 0]);
    }
    const ended = field((await ask("send", "task x")).stdout, "Task");
    const { stderr, exitCode } = await ask("task", "cancel", ended);
    expect(stderr).toContain("TaskNotCancelableError");
    expect(exitCode).toBe(1);
  });

  shows("A2ACLI_TASK_LIST_001", "lists tasks by pages, state and context", async ({ a2a }) => {
    await using own = await startControlledAgent();
    const ask = (...words: string[]) => a2a(...words, "-a", own.url);
    const first = field((await ask("send", "task 1")).stdout, "Task");
    const asking = (await ask("send", "ask")).stdout;
    const page = await ask("task", "list", "--page-size", "1");
    expect(fieldsOf(page.stdout).get("Task")).toEqual([field(asking, "Task")]);
    const rest = await ask("task", "list", "--page-token", field(page.stdout, "Next page"));
    expect(fieldsOf(rest.stdout).get("Task")).toEqual([first]);
    const ended = await ask("task", "list", "--status", "completed", "-o", "json");
    expect(JSON.parse(ended.stdout)).toMatchObject({ tasks: [{ id: first }], totalSize: 1 });
    const grouped = await ask("task", "list", "--context-id", field(asking, "Context"));
    expect(fieldsOf(grouped.stdout).get("Task")).toEqual([field(asking, "Task")]);
  });

  shows(
    "A2ACLI_TASK_SUBSCRIBE_001",
    "follows a task to its end, beginning with the task",
    async ({ a2a, start }) => {
      await using own = await startControlledAgent();
      const id = field((await a2a("send", "hold x", "--async", "-a", own.url)).stdout, "Task");
      const following = start(["task", "subscribe", id, "-o", "json", "--stream", "-a", own.url]);
      await following.waitFor(/"task"/);
      own.release();
      const events = linesOf((await following.result).stdout);
      expect(events[0]).toMatchObject({ task: { id } });
      expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
    },
  );

  shows("A2ACLI_DOWNLOAD_001", "saves artifacts below one directory", async ({ ask, directory }) => {
    const id = field((await ask("send", "files")).stdout, "Task");
    const into = join(directory, "saved");
    const { stdout, exitCode } = await ask("task", "download", id, "--output-dir", into);
    expect(exitCode).toBe(0);
    expect(fieldsOf(stdout).get("Saved")).toEqual([join(into, "same.bin"), join(into, "same-2.bin")]);
    expect([...(await readFile(join(into, "same-2.bin")))]).toEqual([2]);
  });

  shows("A2ACLI_PUSH_001", "creates, shows, lists and deletes push configs", async ({ ask }) => {
    const id = field((await ask("send", "hold x", "--async")).stdout, "Task");
    const config = (...words: string[]) => ask("task", "push-config", ...words);
    const created = await config("create", id, "--url", "http://127.0.0.1:9/hook", "-o", "json");
    const { id: name } = JSON.parse(created.stdout) as { id: string }; // TaskPushNotificationConfig
    expect(field((await config("get", id, name)).stdout, "URL")).toBe("http://127.0.0.1:9/hook");
    expect(JSON.parse((await config("list", id, "-o", "json")).stdout)).toMatchObject({
      configs: [{ id: name }],
    });
    expect((await config("delete", id, name)).exitCode).toBe(0);
    expect(field((await config("list", id)).stdout, "Total")).toBe("0");
  });

  shows("A2ACLI_PUSH_002", "prints what is delivered to a webhook of its own", async ({ a2a, start }) => {
    await using own = await startControlledAgent();
    const id = field((await a2a("send", "hold x", "--async", "-a", own.url)).stdout, "Task");
    const listening = start(["task", "push-config", "listen", id, "-o", "json", "--stream", "-a", own.url]);
    await listening.waitFor(/registered for task/);
    own.release();
    const { stdout, exitCode } = await listening.result;
    expect(linesOf(stdout).at(-1)).toMatchObject({
      statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } },
    });
    expect(exitCode).toBe(0);
  });
});
