import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ControlledAgent, startControlledAgent } from "../../test-support/controlled-agent.ts";
import { field, fieldsOf, linesOf, shellWords } from "../../test-support/fields.ts";
import { type OddAgent, startOddAgent } from "../../test-support/odd-agent.ts";
import { runCommand, spawnCommand, startCommand } from "../../test-support/run-command.ts";
import { createTaskDirectory } from "./save-artifacts.ts";

let agent: ControlledAgent;
let silent: ControlledAgent;

beforeAll(async () => {
  agent = await startControlledAgent();
  silent = await startControlledAgent({ streaming: false, push: false });
});

afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await silent[Symbol.asyncDispose]();
});

/** Sends a message and gives the id of its task. */
async function begin(words: string, { url } = agent): Promise<string> {
  const { stdout } = await runCommand([
    "send",
    words,
    "-a",
    url,
    ...(words.startsWith("hold") ? ["--async"] : []),
  ]);
  return field(stdout, "Task");
}

// A command says after a second that it waits: those over all transports do so together.
for (const transport of ["JSONRPC", "HTTP+JSON", "GRPC"]) {
  const a2a = (...words: string[]) => runCommand([...words, "-a", agent.url, "--transport", transport]);

  describe.concurrent(`a2a task get over ${transport}`, () => {
    it("shows state and artifacts, and the history when it is asked for (A2ACLI_TASK_GET_001)", async () => {
      const id = await begin("task hello");
      const plain = await a2a("task", "get", id);
      expect([...fieldsOf(plain.stdout).keys()]).toEqual(["Task", "Context", "State", "Artifact"]);
      expect(plain.stdout).toContain("Text:\nhello\n\n");
      const whole = await a2a("task", "get", id, "--history", "10");
      expect(whole.stdout).toContain("From: user\n");
      expect(whole.stdout).toContain("Text:\ntask hello\n\n");
    });

    it("prints the Task with -o json, on one line with --stream (A2ACLI_OUT_002)", async () => {
      const id = await begin("task hello");
      const { stdout } = await a2a("task", "get", id, "-o", "json", "--history", "0");
      expect(JSON.parse(stdout)).toMatchObject({ id, status: { state: "TASK_STATE_COMPLETED" } });
      const streamed = await a2a("task", "get", id, "-o", "json", "--stream", "--history", "0");
      expect(linesOf(streamed.stdout)).toEqual([JSON.parse(stdout)]);
    });

    it("looks once, and with --wait until the task has ended (A2ACLI_TASK_POLL_001)", async () => {
      await using own = await startControlledAgent();
      const id = await begin("hold done", own);
      const options = ["-a", own.url, "--transport", transport];
      const once = await runCommand(["task", "get", id, ...options]);
      expect(field(once.stdout, "State")).toBe("TASK_STATE_WORKING");
      expect(field(once.stdout, "Follow")).toContain(`--wait ${id}`);
      const waiting = startCommand(["task", "get", id, "--wait", ...options]);
      await waiting.waitFor(/is working; Ctrl-C/);
      own.release();
      const { stdout, exitCode } = await waiting.result;
      expect(field(stdout, "State")).toBe("TASK_STATE_COMPLETED");
      expect(stdout).toContain("Text:\ndone\n\n");
      expect(exitCode).toBe(0);
    });

    it("does not wait for a task that asks (A2ACLI_TASK_POLL_003)", async () => {
      const { stdout, exitCode } = await a2a("task", "get", await begin("ask"), "--wait");
      expect(field(stdout, "State")).toBe("TASK_STATE_INPUT_REQUIRED");
      expect(field(stdout, "Resume")).toContain("<reply>");
      expect(exitCode).toBe(0);
    });

    it("names the protocol's error for a task that is not there (A2ACLI_OUT_004)", async () => {
      const { stdout, exitCode } = await a2a("task", "get", "nobody's", "-o", "json");
      expect(JSON.parse(stdout)).toMatchObject({ error: { code: "TaskNotFoundError", a2aCode: -32001 } });
      expect(exitCode).toBe(1);
    });
  });

  describe.concurrent(`a2a task list over ${transport}`, () => {
    it("goes through pages by their tokens (A2ACLI_TASK_LIST_001)", async () => {
      await using own = await startControlledAgent();
      const ids = [await begin("task 1", own), await begin("task 2", own), await begin("task 3", own)];
      const list = (...words: string[]) =>
        runCommand(["task", "list", ...words, "-a", own.url, "--transport", transport]);
      const first = await list("--page-size", "2");
      expect(fieldsOf(first.stdout).get("Task")).toEqual([ids[2], ids[1]]);
      expect(fieldsOf(first.stdout).get("Context")).toHaveLength(2);
      expect(fieldsOf(first.stdout).get("State")).toHaveLength(2);
      const rest = await list("--page-token", field(first.stdout, "Next page"));
      expect(fieldsOf(rest.stdout).get("Task")).toEqual([ids[0]]);
      expect(rest.stdout).not.toContain("Next page");
      const all = await list("--all", "--page-size", "1", "-o", "json");
      expect(JSON.parse(all.stdout)).toMatchObject({
        tasks: ids.toReversed().map((id) => ({ id })),
        nextPageToken: "",
        totalSize: 3,
      });
      const some = await list("--limit", "2", "--page-size", "1", "-o", "json", "--stream");
      expect(linesOf(some.stdout)).toMatchObject([{ id: ids[2] }, { id: ids[1] }]);
      expect(some.stderr).toContain("--page-token");
    });

    it("says how to go on, with the filters that a token belongs to (A2ACLI_TASK_LIST_001)", async () => {
      await using own = await startControlledAgent();
      const ids = [await begin("task 1", own), await begin("task 2", own)];
      const options = ["-a", own.url, "--transport", transport, "--status", "completed"];
      const first = await runCommand(["task", "list", ...options, "--since", "1h", "--page-size", "1"]);
      expect(fieldsOf(first.stdout).get("Task")).toEqual([ids[1]]);
      const [, command = ""] = /^more tasks: (.*)$/m.exec(first.stderr) ?? [];
      const next = await runCommand([...shellWords(command).slice(1), "--transport", transport]);
      expect(next).toMatchObject({ exitCode: 0, stderr: "" });
      expect(fieldsOf(next.stdout).get("Task")).toEqual([ids[0]]);
    });

    it("filters by state, context and time (A2ACLI_TASK_LIST_001)", async () => {
      await using own = await startControlledAgent();
      const done = await begin("task 1", own);
      const asking = await begin("ask", own);
      const list = async (...words: string[]) => {
        const options = ["-o", "json", "-a", own.url, "--transport", transport];
        const { stdout } = await runCommand(["task", "list", ...words, ...options]);
        return (JSON.parse(stdout) as { tasks: { id: string; contextId: string }[] }).tasks;
      };
      for (const state of ["input-required", "INPUT_REQUIRED", "TASK_STATE_INPUT_REQUIRED"]) {
        expect(await list("--status", state)).toMatchObject([{ id: asking }]);
      }
      const [task] = await list("--status", "completed");
      expect(await list("--context-id", task?.contextId ?? "")).toMatchObject([{ id: done }]);
      expect(await list("--since", "1h")).toHaveLength(2);
      expect(await list("--since", "2999-01-01")).toEqual([]);
      const [whole] = await list("--status", "completed", "--include-artifacts");
      expect(whole).toMatchObject({ artifacts: [{ name: "result" }] });
    });
  });

  describe.concurrent(`a2a task cancel over ${transport} (A2ACLI_TASK_CANCEL_001)`, () => {
    it("cancels, again without harm, and reports the state", async () => {
      const id = await begin("hold x");
      for (const _ of ["once", "again"]) {
        const { stdout, exitCode } = await a2a("task", "cancel", id);
        expect(field(stdout, "State")).toBe("TASK_STATE_CANCELED");
        expect(exitCode).toBe(0);
      }
      expect((await a2a("task", "cancel", id, "--exit-state")).exitCode).toBe(21);
    });

    it("reports the protocol's error, and the state, when the task has ended otherwise", async () => {
      const { stdout, stderr, exitCode } = await a2a("task", "cancel", await begin("task x"), "-o", "json");
      expect(JSON.parse(stdout)).toMatchObject({
        error: { code: "TaskNotCancelableError", a2aCode: -32002 },
      });
      expect(stderr).toMatch(/is completed\n/);
      expect(exitCode).toBe(1);
    });
  });

  describe.concurrent(`a2a task subscribe over ${transport}`, () => {
    it("begins with the task and follows it to its end (A2ACLI_TASK_SUBSCRIBE_001)", async () => {
      await using own = await startControlledAgent();
      const id = await begin("hold x", own);
      const options = ["-a", own.url, "--transport", transport];
      const lines = startCommand(["task", "subscribe", id, "-o", "json", "--stream", ...options]);
      const text = startCommand(["task", "subscribe", id, ...options]);
      const document = startCommand(["task", "subscribe", id, "-o", "json", ...options]);
      await Promise.all([lines.waitFor(/"task"/), text.waitFor(/State: /), document.waitFor(/Ctrl-C/)]);
      own.release();
      const events = linesOf((await lines.result).stdout);
      expect(events[0]).toMatchObject({ task: { id } });
      expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
      expect((await text.result).stdout).toMatch(/Task: .*\nContext: .*\nState: TASK_STATE_COMPLETED\n$/);
      expect(JSON.parse((await document.result).stdout)).toMatchObject({
        id,
        status: { state: "TASK_STATE_COMPLETED" },
        artifacts: [{ name: "held" }],
      });
    });

    it("resumes after an event that is known, each one once (A2ACLI_TASK_SUBSCRIBE_002)", async () => {
      const id = await begin("task x");
      const subscribe = async (after: number) =>
        linesOf(
          (await a2a("task", "subscribe", id, "--after", String(after), "-o", "json", "--stream")).stdout,
        );
      const all = await subscribe(0);
      expect(all).toHaveLength(4);
      expect(await subscribe(2)).toEqual(all.slice(2));
      const single = await a2a("task", "subscribe", id, "--after", "3", "-o", "json");
      expect(JSON.parse(single.stdout)).toMatchObject({ id, artifacts: [{ name: "result" }] });
    });

    it("ends at a question that is open, and not at one that was answered (A2ACLI_TASK_POLL_003)", async () => {
      const id = await begin("ask");
      const asked = await a2a("task", "subscribe", id);
      expect(field(asked.stdout, "State")).toBe("TASK_STATE_INPUT_REQUIRED");
      expect(field(asked.stdout, "Resume")).toContain(id);
      await a2a("send", "red", "--task-id", id);
      const { stdout } = await a2a("task", "subscribe", id, "--after", "0");
      expect(fieldsOf(stdout).get("State")).toEqual([
        "TASK_STATE_SUBMITTED",
        "TASK_STATE_INPUT_REQUIRED",
        "TASK_STATE_WORKING",
        "TASK_STATE_COMPLETED",
      ]);
    });
  });

  it.concurrent(`a2a task subscribe detaches at Ctrl-C over ${transport}, and its printed command goes on without a loss`, async () => {
    await using own = await startControlledAgent();
    const id = await begin("hold x", own);
    const subscribing = spawnCommand([
      ...["task", "subscribe", id, "--after", "0", "-o", "json", "--stream"],
      ...["-a", own.url, "--transport", transport],
    ]);
    await subscribing.waitFor(/TASK_STATE_WORKING/);
    subscribing.interrupt();
    const { stdout, stderr, exitCode } = await subscribing.result;
    expect(linesOf(stdout)).toMatchObject([{ task: { id } }, { statusUpdate: { taskId: id } }]);
    expect(exitCode).toBe(130);
    const [, command = ""] = /^to follow it again: a2a (.*)$/m.exec(stderr) ?? [];
    own.release();
    const rest = await runCommand([...shellWords(command), "-o", "json", "--stream"]);
    expect(linesOf(rest.stdout)).toMatchObject([
      { artifactUpdate: { artifact: { name: "held" } } },
      { statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } },
    ]);
  });

  describe.concurrent(`a2a task history over ${transport}`, () => {
    it("replays every event with its number", async () => {
      const { stdout } = await a2a("task", "history", await begin("task x"));
      expect(fieldsOf(stdout).get("Event")).toEqual(["1", "2", "3", "4"]);
      expect(fieldsOf(stdout).get("State")).toEqual([
        "TASK_STATE_SUBMITTED",
        "TASK_STATE_WORKING",
        "TASK_STATE_COMPLETED",
      ]);
    });

    it("ends with the last event of a task that goes on", async () => {
      const id = await begin("hold x");
      const { stdout, exitCode } = await a2a("task", "history", id, "-o", "json", "--stream");
      expect(linesOf(stdout)).toMatchObject([{ task: { id } }, { statusUpdate: { taskId: id } }]);
      expect(exitCode).toBe(0);
    });
  });

  describe.concurrent(`a2a task download over ${transport} (A2ACLI_DOWNLOAD_001)`, () => {
    it("saves artifacts below one directory, and nothing over what is there", async () => {
      const directory = await mkdtemp(join(tmpdir(), "a2a-download-"));
      try {
        await writeFile(join(directory, "three.bin"), "mine");
        const id = await begin("files");
        const text = await a2a("task", "download", id, "--output-dir", directory);
        expect(fieldsOf(text.stdout).get("Saved")).toEqual([
          join(directory, "same.bin"),
          join(directory, "same-2.bin"),
        ]);
        expect([...(await readFile(join(directory, "same-2.bin")))]).toEqual([2]);
        const json = await a2a(
          "task",
          "download",
          id,
          "--output-dir",
          directory,
          "--artifact",
          "two",
          "-o",
          "json",
        );
        expect(JSON.parse(json.stdout)).toMatchObject({
          id,
          artifacts: [
            { artifactId: "two", parts: [{ url: pathToFileURL(join(directory, "same-3.bin")).href }] },
          ],
        });
        expect((await readdir(directory)).toSorted()).toEqual([
          "same-2.bin",
          "same-3.bin",
          "same.bin",
          "three.bin",
        ]);
        expect(await readFile(join(directory, "three.bin"), "utf8")).toBe("mine");
      } finally {
        await rm(directory, { recursive: true });
      }
    });

    it("says in words why nothing can be saved there", async () => {
      const directory = await mkdtemp(join(tmpdir(), "a2a-download-"));
      try {
        const path = join(directory, "file");
        await writeFile(path, "");
        const id = await begin("files");
        const { stderr, exitCode } = await a2a("task", "download", id, "--output-dir", path);
        expect(stderr).toContain(`${path} is a file, not a directory [A2ACLI_ERR_USAGE]`);
        expect(exitCode).toBe(2);
      } finally {
        await rm(directory, { recursive: true });
      }
    });

    it("names the artifacts there are when the wanted one is not among them", async () => {
      const { stderr, exitCode } = await a2a("task", "download", await begin("files"), "--artifact", "three");
      expect(stderr).toContain("one, two");
      expect(exitCode).toBe(2);
    });
  });

  describe.concurrent(`a2a task push-config over ${transport}`, () => {
    it("creates, shows, lists and deletes (A2ACLI_PUSH_001)", async () => {
      const id = await begin("hold x");
      const created = await a2a(
        ...["task", "push-config", "create", id, "--url", "http://127.0.0.1:9/hook", "--id", "c1"],
        ...["--token", "secret", "-o", "json"],
      );
      const config = { id: "c1", taskId: id, url: "http://127.0.0.1:9/hook", token: "secret" };
      expect(JSON.parse(created.stdout)).toMatchObject(config);
      const shown = await a2a("task", "push-config", "get", id, "c1");
      expect(field(shown.stdout, "URL")).toBe(config.url);
      expect(shown.stdout).not.toContain("secret");
      const listed = await a2a("task", "push-config", "list", id, "-o", "json");
      expect(JSON.parse(listed.stdout)).toMatchObject({ configs: [config] });
      const deleted = await a2a("task", "push-config", "delete", id, "c1", "-o", "json");
      expect(JSON.parse(deleted.stdout)).toEqual({});
      const gone = await a2a("task", "push-config", "list", id);
      expect(field(gone.stdout, "Total")).toBe("0");
    });

    it("listens until the task has ended, registered for as long (A2ACLI_PUSH_002)", async () => {
      await using own = await startControlledAgent();
      const id = await begin("hold x", own);
      const options = ["-a", own.url, "--transport", transport];
      const listening = startCommand([
        ...["task", "push-config", "listen", id, "--host", "127.0.0.1", "-o", "json", "--stream"],
        ...options,
      ]);
      await listening.waitFor(/^registered for task/m);
      const registered = await runCommand(["task", "push-config", "list", id, ...options]);
      expect(field(registered.stdout, "URL")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/push\//);
      own.release();
      const { stdout, exitCode } = await listening.result;
      expect(linesOf(stdout)).toMatchObject([
        { artifactUpdate: { taskId: id } },
        { statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } },
      ]);
      expect(exitCode).toBe(0);
      const after = await runCommand(["task", "push-config", "list", id, ...options]);
      expect(field(after.stdout, "Total")).toBe("0");
    });
  });
}

describe("a2a task download without --output-dir", () => {
  let cwd: string;
  beforeEach(async () => {
    cwd = await realpath(await mkdtemp(join(tmpdir(), "a2a-download-")));
  });
  afterEach(() => rm(cwd, { recursive: true }));

  const download = (id: string, ...words: string[]) =>
    runCommand(["task", "download", id, "-a", agent.url, ...words], { cwd });

  it("saves into a new directory each time, never into one that is there", async () => {
    const id = await begin("files");
    const first = join(cwd, `task-${id}`);
    const { stdout } = await download(id);
    expect(fieldsOf(stdout).get("Saved")).toEqual([join(first, "same.bin"), join(first, "same-2.bin")]);
    await mkdir(join(cwd, "elsewhere"));
    await symlink(join(cwd, "elsewhere"), `${first}-2`); // a project that was cloned may have it
    const again = await download(id, "--output-dir", ""); // a variable of a script that is not set
    expect(fieldsOf(again.stdout).get("Saved")).toEqual([
      join(`${first}-3`, "same.bin"),
      join(`${first}-3`, "same-2.bin"),
    ]);
    expect((await readdir(cwd)).length).toBe(4);
    expect(await readdir(join(cwd, "elsewhere"))).toEqual([]);
  });

  it("saves no more than a thousand files, of all artifacts together", async () => {
    const id = await begin("many");
    const { stderr, exitCode } = await download(id);
    expect(stderr).toContain('with artifact "second", the files of its task would be 1001');
    expect(stderr).toContain("Save fewer of its artifacts");
    expect(exitCode).toBe(1);
    expect(await readdir(join(cwd, `task-${id}`))).toHaveLength(600);
    const { stdout } = await download(id, "--artifact", "second", "--output-dir", ".");
    expect(fieldsOf(stdout).get("Saved")).toHaveLength(401);
  });

  it("leaves no directory behind when nothing is saved", async () => {
    expect((await download(await begin("far http://127.0.0.1:9/x"))).exitCode).toBe(3);
    expect((await download(await begin("reject it"))).stderr).toContain("has no artifacts");
    expect(await readdir(cwd)).toEqual([]);
  });

  it("takes from an id what any system allows in a name", async () => {
    expect(await createTaskDirectory(cwd, "../ä b:c.app")).toBe(join(cwd, "task-_____b_c_app"));
    expect(await createTaskDirectory(cwd, "x".repeat(1_000))).toBe(join(cwd, `task-${"x".repeat(100)}`));
  });
});

describe("a2a task push-config listen (A2ACLI_PUSH_002)", () => {
  it("says in words that its port is taken", async () => {
    const { port } = new URL(agent.url);
    const taken = await runCommand(["task", "push-config", "listen", "--host", "127.0.0.1", "--port", port]);
    expect(taken.exitCode).toBe(1);
    expect(taken.stderr).toMatch(
      /^error: port \d+ is in use by another process \[A2ACLI_ERR_INTERNAL\]\nhint: /,
    );
  });

  it("says how to register it where no task is named, and ends at Ctrl-C", async () => {
    await using own = await startControlledAgent();
    const id = await begin("hold x", own);
    const listening = startCommand(["task", "push-config", "listen", "--host", "127.0.0.1"]);
    const [, command = ""] = await listening.waitFor(/^to register it: a2a (.*)$/m);
    await runCommand([...command.replace("TASK", id).split(" "), "-a", own.url]);
    own.release();
    await listening.waitFor(/^State: TASK_STATE_COMPLETED$/m);
    listening.interrupt();
    const { stdout, exitCode } = await listening.result;
    expect(fieldsOf(stdout).get("Event")).toEqual(["3", "4"]);
    expect(exitCode).toBe(0);
  });

  it("deletes its webhook at Ctrl-C", async () => {
    await using own = await startControlledAgent();
    const id = await begin("hold x", own);
    const listening = startCommand([
      ...["task", "push-config", "listen", id, "--host", "127.0.0.1", "-a", own.url],
    ]);
    await listening.waitFor(/^registered for task/m);
    listening.interrupt();
    expect((await listening.result).exitCode).toBe(0);
    const after = await runCommand(["task", "push-config", "list", id, "-a", own.url]);
    expect(field(after.stdout, "Total")).toBe("0");
  });
});

describe("a2a task with an agent that lacks a capability (A2ACLI_VER_003)", () => {
  const a2a = (...words: string[]) => runCommand([...words, "-a", silent.url]);

  it("registers no webhook, and says why", async () => {
    const id = await begin("task x", silent);
    const { stdout, exitCode } = await a2a("task", "push-config", "list", id, "-o", "json");
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "PushNotificationNotSupportedError" } });
    expect(exitCode).toBe(1);
  });

  it("polls in place of a subscription, and stops at a question", async () => {
    const { stdout, stderr } = await a2a("task", "subscribe", await begin("ask", silent));
    expect(field(stdout, "State")).toBe("TASK_STATE_INPUT_REQUIRED");
    expect(stderr).toContain("the agent cannot stream, so a2a polls it");
  });

  it("tells what was said where there are no events to replay", async () => {
    const { stdout, stderr } = await a2a("task", "history", await begin("task x", silent));
    expect(stderr).toContain("does not number its events");
    expect(stdout).toContain("Text:\ntask x\n\n");
    expect(field(stdout, "State")).toBe("TASK_STATE_COMPLETED");
  });
});

describe("a2a task get --wait", () => {
  const get = ({ url }: OddAgent, ...words: string[]) =>
    runCommand(["task", "get", "t", "-a", url, ...words]);
  const fast = ["--wait", "--poll-interval", "10ms"];

  it("goes on at TASK_STATE_UNSPECIFIED, and shows it as it is (A2ACLI_TASK_POLL_003)", async () => {
    const states = ["TASK_STATE_UNSPECIFIED", "TASK_STATE_WORKING", "TASK_STATE_UNSPECIFIED"];
    await using odd = await startOddAgent(["TASK_STATE_UNSPECIFIED", ...states], false);
    expect(field((await get(odd)).stdout, "State")).toBe("TASK_STATE_UNSPECIFIED");
    const { stdout, exitCode } = await get(odd, ...fast);
    expect(field(stdout, "State")).toBe("TASK_STATE_COMPLETED");
    expect(exitCode).toBe(0);
  });

  it("gives up after --timeout at a state that never ends (A2ACLI_TASK_POLL_002)", async () => {
    await using odd = await startOddAgent(Array(10_000).fill("TASK_STATE_UNSPECIFIED"), false);
    const { stdout, exitCode } = await get(odd, ...fast, "--timeout", "300ms", "-o", "json");
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "A2ACLI_ERR_TIMEOUT" } });
    expect(exitCode).toBe(5);
  });

  it("looks no more often than --poll-interval says (A2ACLI_TASK_POLL_002)", async () => {
    await using odd = await startOddAgent(Array(10_000).fill("TASK_STATE_WORKING"), false);
    await get(odd, "--wait", "--poll-interval", "200ms", "--timeout", "900ms");
    expect(odd.calls.length).toBeGreaterThan(1);
    expect(odd.calls.length).toBeLessThanOrEqual(6);
  });

  it.each([[["--all"]], [["--all", "-o", "json"]], [["--limit", "50"]]])(
    "ends a list without an end: %s",
    async (words) => {
      await using odd = await startOddAgent([], false);
      const { exitCode, stdout, stderr } = await runCommand(["task", "list", ...words, "-a", odd.url]);
      expect(odd.calls).toEqual(["ListTasks", "ListTasks"]);
      expect(exitCode).not.toBe(0);
      expect(stdout + stderr).toContain("the list would never end");
    },
  );

  it("polls when streams break (A2ACLI_TASK_POLL_004)", async () => {
    await using odd = await startOddAgent(["TASK_STATE_WORKING", "TASK_STATE_WORKING"], true);
    const { stdout, exitCode } = await get(odd, ...fast);
    expect(field(stdout, "State")).toBe("TASK_STATE_COMPLETED");
    expect(odd.calls).toEqual(expect.arrayContaining(["SubscribeToTask", "GetTask"]));
    expect(exitCode).toBe(0);
  });
});

describe("a2a task with arguments that make no sense", () => {
  for (const argv of [
    ["get"],
    ["get", "x", "--history", "-1"],
    ["list", "--status", "sleeping"],
    ["list", "--since", "yesterday"],
    ["list", "--page-size", "101"],
    ["list", "--all", "--limit", "3"],
    ["subscribe", "x", "--after", "one"],
    ["subscribe", "x", "--until", "never"],
    ["push-config", "create", "x"],
    ["push-config", "create", "x", "--url", "nowhere"],
    ["push-config", "create", "x", "--url", "https://example.com", "--auth-credentials", "y"],
    ["push-config", "listen", "-o", "json"],
    ["frobnicate"],
  ]) {
    it(`refuses ${argv.join(" ")} as a usage error (A2ACLI_EXIT_001)`, async () => {
      const { stdout, stderr, exitCode } = await runCommand(["task", ...argv]);
      expect(stdout + stderr).toContain("A2ACLI_ERR_USAGE");
      expect(exitCode).toBe(2);
    });
  }
});
