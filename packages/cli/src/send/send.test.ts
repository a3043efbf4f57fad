import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ControlledAgent, startControlledAgent } from "../../test-support/controlled-agent.ts";
import { field, fieldsOf, linesOf, shellWords } from "../../test-support/fields.ts";
import { type CommandSurroundings, runCommand, spawnCommand } from "../../test-support/run-command.ts";

let agent: ControlledAgent;
let silent: ControlledAgent;

beforeAll(async () => {
  agent = await startControlledAgent();
  silent = await startControlledAgent({ streaming: false });
});

afterAll(async () => {
  await agent[Symbol.asyncDispose]();
  await silent[Symbol.asyncDispose]();
});

describe("a task that ends with files", () => {
  it("comes with the command that saves them, in json on stderr", async () => {
    const { stdout } = await runCommand(["send", "-a", agent.url, "files"]);
    const command = `a2a task download -a ${agent.url} ${field(stdout, "Task")}`;
    expect(stdout).toMatch(new RegExp(`^Save: ${command}$`, "m"));
    const { stderr } = await runCommand(["send", "-a", agent.url, "files", "-o", "json"]);
    expect(stderr).toMatch(/^to save its files: a2a task download -a \S+ \S+$/m);
  });

  it("has no such command when there is nothing but text", async () => {
    const { stdout } = await runCommand(["send", "-a", agent.url, "repeat me"]);
    expect(stdout).not.toContain("Save:");
  });
});

describe("what a task is asked for beside its parts", () => {
  const lifecycle = "urn:a2a-connect:ext:lifecycle:v1";
  const metadataOf = async (...flags: string[]) => {
    const { stdout } = await runCommand(["send", "-a", agent.url, "metadata", "-o", "json", ...flags]);
    return JSON.parse(stdout).task.artifacts[0].parts[0].data[lifecycle];
  };

  it("is a priority and a deadline", async () => {
    const at = new Date(Date.now() + 3_600_000).toISOString();
    expect(await metadataOf("--priority", "high", "--deadline", at)).toEqual({
      priority: "high",
      deadline: at,
    });
  });

  it("is a deadline by its distance from now", async () => {
    const before = Date.now();
    const { deadline } = await metadataOf("--deadline", "10m");
    const distanceMs = Date.parse(deadline) - before;
    expect(distanceMs).toBeGreaterThanOrEqual(600_000);
    expect(distanceMs).toBeLessThan(660_000);
  });

  it.each([
    [["--priority", "urgent"], "low, normal, high"],
    [["--deadline", "soon"], "--deadline soon is neither a time"],
  ])("is refused as %j", async (flags, words) => {
    const { stderr, exitCode } = await runCommand(["send", "-a", agent.url, "metadata", ...flags]);
    expect(stderr).toContain(words);
    expect(exitCode).toBe(2);
  });
});

for (const transport of ["JSONRPC", "HTTP+JSON", "GRPC"]) {
  describe(`a2a send over ${transport}`, () => {
    const send = (words: readonly string[], surroundings?: CommandSurroundings) =>
      runCommand(["send", "-a", agent.url, "--transport", transport, ...words], surroundings);
    const list = () => runCommand(["task", "list", "-a", agent.url, "-o", "json"]);

    it("starts an interaction, waits, and shows identifiers, state and artifact (A2ACLI_SEND_001, SEND_004)", async () => {
      const { stdout, stderr, exitCode } = await send(["task", "hello", "there"]);
      expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
      expect([...fieldsOf(stdout).keys()]).toEqual(["Task", "Context", "State", "Artifact"]);
      expect(field(stdout, "State")).toBe("TASK_STATE_COMPLETED");
      expect(stdout).toContain("Text:\nhello there\n\n");
    });

    it("prints one SendMessageResponse with -o json (A2ACLI_OUT_002)", async () => {
      const { stdout } = await send(["task hello", "-o", "json"]);
      expect(JSON.parse(stdout)).toEqual({
        task: expect.objectContaining({
          id: expect.any(String),
          contextId: expect.any(String),
          status: expect.objectContaining({ state: "TASK_STATE_COMPLETED" }),
          artifacts: [expect.objectContaining({ name: "result", parts: [{ text: "hello" }] })],
        }),
      });
    });

    it("prints each event on a line with -o json --stream, the last one final (A2ACLI_OUT_003)", async () => {
      const { stdout } = await send(["task hello", "-o", "json", "--stream"]);
      const lines = linesOf(stdout);
      expect(lines.map((line) => Object.keys(line as object))).toEqual([
        ["task"],
        ["statusUpdate"],
        ["artifactUpdate"],
        ["statusUpdate"],
      ]);
      expect(lines.at(-1)).toMatchObject({
        statusUpdate: {
          taskId: expect.any(String),
          contextId: expect.any(String),
          status: { state: "TASK_STATE_COMPLETED" },
        },
      });
    });

    it("renders each event as text with --stream, the last one naming task, context and state (A2ACLI_OUT_005)", async () => {
      const { stdout } = await send(["task hello", "--stream"]);
      expect(fieldsOf(stdout).get("State")).toEqual([
        "TASK_STATE_SUBMITTED",
        "TASK_STATE_WORKING",
        "TASK_STATE_COMPLETED",
      ]);
      expect(stdout.trimEnd().split("\n").slice(-3)).toEqual([
        expect.stringMatching(/^Task: /),
        expect.stringMatching(/^Context: /),
        "State: TASK_STATE_COMPLETED",
      ]);
    });

    it("takes a direct Message for an answer, with and without --stream (A2ACLI_SEND_003)", async () => {
      const once = await send(["echo hi", "-o", "json"]);
      expect(JSON.parse(once.stdout)).toMatchObject({ message: { parts: [{ text: "hi" }] } });
      const streamed = await send(["echo hi", "-o", "json", "--stream"]);
      expect(linesOf(streamed.stdout)).toMatchObject([{ message: { parts: [{ text: "hi" }] } }]);
      expect([once.exitCode, streamed.exitCode]).toEqual([0, 0]);
      expect((await send(["echo hi"])).stdout).toContain("Text:\nhi\n\n");
    });

    it("does not wait with --async, and says how to (A2ACLI_SEND_002, OUT_006)", async () => {
      const { stdout, exitCode } = await send(["hold x", "--async"]);
      expect(field(stdout, "State")).toMatch(/SUBMITTED|WORKING/);
      expect(shellWords(field(stdout, "Follow"))).toEqual([
        ..."a2a task get -a".split(" "),
        agent.url,
        "--wait",
        field(stdout, "Task"),
      ]);
      const json = await send(["hold x", "--return-immediately", "-o", "json"]);
      expect(JSON.parse(json.stdout)).toMatchObject({
        task: { id: expect.any(String), contextId: expect.any(String) },
      });
      expect([exitCode, json.exitCode]).toEqual([0, 0]);
    });

    it("stops at a question and prints the command that answers it (A2ACLI_INTERACT_004, TASK_POLL_003, EXIT_002)", async () => {
      const { stdout, stderr, exitCode } = await send(["ask"]);
      expect(exitCode).toBe(0);
      expect(field(stdout, "State")).toBe("TASK_STATE_INPUT_REQUIRED");
      expect(field(stdout, "Choices")).toBe("red, green");
      expect(stderr).toMatch(/^warning: task .* waits for an answer/);
      const [, ...argv] = shellWords(field(stdout, "Resume"));
      expect(argv.at(-1)).toBe("<reply>");
      const answered = await runCommand([...argv.slice(0, -1), "--transport", transport, "green"]);
      expect(field(answered.stdout, "Task")).toBe(field(stdout, "Task"));
      expect(answered.stdout).toContain("Text:\nYou said green.\n\n");
    });

    it("stops where credentials are wanted (A2ACLI_TASK_POLL_003)", async () => {
      const { stdout, stderr, exitCode } = await send(["auth"]);
      expect(field(stdout, "State")).toBe("TASK_STATE_AUTH_REQUIRED");
      expect(field(stdout, "Resume")).toContain(`--task-id ${field(stdout, "Task")}`);
      expect(stderr).toMatch(/^warning: task .* waits for credentials/);
      expect(exitCode).toBe(0);
    });

    it("tells what to do next on stderr with -o json (A2ACLI_OUT_001)", async () => {
      const { stdout, stderr } = await send(["ask", "-o", "json"]);
      const { task } = JSON.parse(stdout) as { task: { id: string } };
      expect(stderr).toContain("choices: red, green\n");
      expect(stderr).toContain(`to answer: a2a send -a ${agent.url} --task-id ${task.id} "<reply>"\n`);
    });

    it("begins a new task in a context (A2ACLI_INTERACT_001)", async () => {
      const first = await send(["task one"]);
      const context = field(first.stdout, "Context");
      const second = await send(["task two", "--context-id", context]);
      expect(field(second.stdout, "Context")).toBe(context);
      expect(field(second.stdout, "Task")).not.toBe(field(first.stdout, "Task"));
    });

    it("begins no other task when the one that is named is refused (A2ACLI_INTERACT_002)", async () => {
      const before = JSON.parse((await list()).stdout) as { totalSize: number };
      const unknown = await send(["hello", "--task-id", "nobody's", "-o", "json"]);
      expect(JSON.parse(unknown.stdout)).toMatchObject({
        error: { code: "TaskNotFoundError", message: expect.any(String), a2aCode: -32001 },
      });
      expect(unknown.stderr).toContain("--debug");
      const asked = await send(["ask"]);
      const mismatched = await send([
        "red",
        "--task-id",
        field(asked.stdout, "Task"),
        "--context-id",
        "another",
      ]);
      expect(mismatched.stderr).toContain("InvalidParamsError");
      expect([unknown.exitCode, mismatched.exitCode]).toEqual([1, 1]);
      const after = JSON.parse((await list()).stdout) as { totalSize: number };
      expect(after.totalSize).toBe(before.totalSize + 1);
    });

    it("sends parts in the order of their flags, with the types that were said (A2ACLI_SEND_005, SEND_006)", async () => {
      const { stdout } = await send(
        [
          "repeat",
          ..."--data - --text second --media-type text/markdown --file https://example.com/a.pdf".split(" "),
          ..."--media-type application/pdf --text fourth -o json".split(" "),
        ],
        { stdin: '{"first": true}' },
      );
      const { task } = JSON.parse(stdout) as { task: { artifacts: [{ parts: unknown[] }] } };
      expect(task.artifacts[0].parts).toEqual([
        { text: "repeat" },
        { data: { first: true } },
        { text: "second", mediaType: "text/markdown" },
        { url: "https://example.com/a.pdf", mediaType: "application/pdf" },
        { text: "fourth" },
      ]);
    });

    it("shows every kind of part (A2ACLI_SEND_004)", async () => {
      const { stdout } = await send(["parts"]);
      expect(stdout).toContain("Text:\nsome text\n\n");
      expect(stdout).toContain('Data:\n{\n  "a": [\n');
      expect(fieldsOf(stdout).get("File")).toEqual([
        "../three.bin, application/x-three, 3 bytes",
        "unnamed, application/pdf, size unknown, at https://example.com/far.pdf",
      ]);
    });

    it("sends metadata with the message", async () => {
      const { stdout } = await send(["metadata", "--metadata", '{"k": {"deep": 1}}', "-o", "json"]);
      expect(JSON.parse(stdout)).toMatchObject({
        task: { artifacts: [{ parts: [{ data: { k: { deep: 1 } } }] }] },
      });
    });

    for (const [words, state, byState] of [
      ["task x", "TASK_STATE_COMPLETED", 0],
      ["fail it broke", "TASK_STATE_FAILED", 20],
      ["reject not me", "TASK_STATE_REJECTED", 22],
      ["ask", "TASK_STATE_INPUT_REQUIRED", 23],
      ["auth", "TASK_STATE_AUTH_REQUIRED", 24],
    ] as const) {
      it(`exits by 0 at ${state}, and by ${byState} with --exit-state (A2ACLI_EXIT_002)`, async () => {
        const plain = await send([words]);
        expect(field(plain.stdout, "State")).toBe(state);
        expect(plain.stderr.includes("warning: ")).toBe(byState !== 0);
        expect(plain.exitCode).toBe(0);
        expect((await send([words, "--exit-state"])).exitCode).toBe(byState);
      });
    }

    it("exits by 25 with --exit-state when it does not wait", async () => {
      expect((await send(["hold x", "--async", "--exit-state"])).exitCode).toBe(25);
    });

    it("gives up after --timeout with the task's id and the command to go on with (A2ACLI_TASK_POLL_002)", async () => {
      const { stdout, exitCode } = await send(["hold x", "--timeout", "1s", "-o", "json"]);
      const { error } = JSON.parse(stdout) as { error: Record<string, string> };
      expect(error).toMatchObject({ code: "A2ACLI_ERR_TIMEOUT", a2aCode: null });
      const [, id] = /^task (\S+) \(context \S+\) has not ended within 1s, working; it goes on$/.exec(
        error["message"] ?? "",
      ) ?? [undefined, "no id"];
      expect(error["hint"]).toBe(`a2a task get -a ${agent.url} --wait ${id}`);
      expect(exitCode).toBe(5);
    });
  });
}

describe("a2a send to an agent without streams (A2ACLI_SEND_003, VER_003, TASK_POLL_001)", () => {
  const send = (...words: string[]) => runCommand(["send", "-a", silent.url, ...words]);

  it("polls until the task has ended", async () => {
    const { stdout, exitCode } = await send("task hello");
    expect(field(stdout, "State")).toBe("TASK_STATE_COMPLETED");
    expect(exitCode).toBe(0);
  });

  it("still prints lines with --stream, and says that it polls", async () => {
    const { stdout, stderr } = await send("task hello", "--stream", "-o", "json");
    expect(JSON.stringify(linesOf(stdout).at(-1))).toContain("TASK_STATE_COMPLETED");
    expect(stderr).toContain("the agent cannot stream, so a2a polls it\n");
  });

  it("stops at a question", async () => {
    expect(field((await send("ask")).stdout, "State")).toBe("TASK_STATE_INPUT_REQUIRED");
  });
});

describe("a2a send with arguments that make no sense", () => {
  for (const [what, argv, problem] of [
    ["nothing to send", [], "nothing to send"],
    ["a media type without a part", ["--media-type", "text/plain"], "no part flag before it"],
    ["--stream and --async", ["x", "--stream", "--async"], "--stream and --async contradict each other"],
    ["metadata that is no object", ["x", "--metadata", "[1]"], "is not a JSON object"],
    ["data that is no JSON", ["--data", "-"], "is not JSON"],
    ["a file that is not there", ["--file", "/nowhere/at-all"], "cannot be read"],
  ] as const) {
    it(`refuses ${what} as a usage error, before anybody is called (A2ACLI_EXIT_001)`, async () => {
      const { stdout, exitCode } = await runCommand(["send", ...argv, "-o", "json"], { stdin: "no json" });
      expect(JSON.parse(stdout)).toMatchObject({
        error: { code: "A2ACLI_ERR_USAGE", message: expect.stringContaining(problem) },
      });
      expect(exitCode).toBe(2);
    });
  }
});

describe("a2a send as a process of its own", () => {
  for (const transport of ["JSONRPC", "GRPC"]) {
    it(`prints its document on stdout and ends over ${transport} (A2ACLI_SEND_001)`, async () => {
      const { result } = spawnCommand([
        "send",
        "-a",
        agent.url,
        "--transport",
        transport,
        "-o",
        "json",
        "task x",
      ]);
      const { stdout, stderr, exitCode } = await result;
      expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
      expect(JSON.parse(stdout)).toMatchObject({ task: { status: { state: "TASK_STATE_COMPLETED" } } });
    });

    it(`detaches at Ctrl-C over ${transport}: the task goes on, and it says how to come back`, async () => {
      const command = spawnCommand(["send", "-a", agent.url, "--transport", transport, "hold x"]);
      const [, id = ""] = await command.waitFor(/^task (\S+) is \S+; Ctrl-C/m);
      command.interrupt();
      const { stdout, stderr, exitCode } = await command.result;
      expect(exitCode).toBe(130);
      expect(field(stdout, "Task")).toBe(id);
      const [, line = ""] = /^to follow it again: (.*)$/m.exec(stderr) ?? [];
      expect(shellWords(line)).toEqual(
        expect.arrayContaining(["a2a", "task", "subscribe", "--after", expect.stringMatching(/^\d+$/), id]),
      );
      const task = await runCommand(["task", "get", "-a", agent.url, id]);
      expect(field(task.stdout, "State")).toBe("TASK_STATE_WORKING");
    });
  }
});
