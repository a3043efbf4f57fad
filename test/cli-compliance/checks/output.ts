import { createServer } from "node:net";
import { expect } from "vitest";
import { startControlledAgent } from "../../../packages/cli/test-support/controlled-agent.ts";
import { field, fieldsOf, linesOf } from "../../../packages/cli/test-support/fields.ts";
import { startRecordingAgent } from "../../../packages/cli/test-support/recording-agent.ts";
import { collectChecks } from "../check.ts";

const transports = ["jsonrpc", "http+json", "grpc"];

/** What is printed where, and the exit code. */
export const output = collectChecks((shows) => {
  shows(
    "A2ACLI_OUT_001",
    "has task, context and state in every mode, and nothing but results on stdout",
    async ({ ask }) => {
      const text = await ask("send", "ask");
      for (const label of ["Task", "Context", "State"]) {
        expect(fieldsOf(text.stdout).get(label)).toHaveLength(1);
      }
      const json = await ask("send", "ask", "-o", "json", "--debug", "--verbose");
      expect(JSON.parse(json.stdout)).toMatchObject({
        task: {
          id: expect.any(String),
          contextId: expect.any(String),
          status: { state: "TASK_STATE_INPUT_REQUIRED" },
        },
      });
      expect(json.stderr).toMatch(/^warning: /m);
      expect(json.stderr).toMatch(/^debug: /m);
      const lines = await ask("send", "ask", "-o", "json", "--stream");
      expect(linesOf(lines.stdout).at(-1)).toMatchObject({
        statusUpdate: {
          taskId: expect.any(String),
          contextId: expect.any(String),
          status: { state: "TASK_STATE_INPUT_REQUIRED" },
        },
      });
    },
  );

  shows(
    "A2ACLI_OUT_002",
    "is one document with -o json, also when the environment asks for a stream",
    async ({ agent, start }) => {
      const env = { A2ACLI_STREAM: "true", A2ACLI_OUTPUT: "json" };
      const { stdout } = await start(["send", "task x", "-a", agent.url], { env }).result;
      expect(Object.keys(JSON.parse(stdout))).toEqual(["task"]);
      const message = await start(["send", "echo x", "-a", agent.url], { env }).result;
      expect(Object.keys(JSON.parse(message.stdout))).toEqual(["message"]);
    },
  );

  shows(
    "A2ACLI_OUT_003",
    "is a line an event with --stream, as it happens, the end or the error in the last one",
    async ({ ask, start }) => {
      await using own = await startControlledAgent();
      const streaming = start(["send", "hold x", "-o", "json", "--stream", "-a", own.url]);
      await streaming.waitFor(/"TASK_STATE_WORKING".*\n/); // before the task goes on
      own.release();
      const events = linesOf((await streaming.result).stdout);
      expect(events[0]).toHaveProperty("task");
      expect(events.at(-1)).toMatchObject({ statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } });
      const failed = await ask("task", "subscribe", "nobody's", "-o", "json", "--stream");
      expect(linesOf(failed.stdout).at(-1)).toMatchObject({ error: { code: "TaskNotFoundError" } });
    },
  );

  shows(
    "A2ACLI_OUT_004",
    "has the same errors over all bindings, by the protocol's names, with a hint",
    async ({ ask }) => {
      const results = await Promise.all(
        transports.map((transport) => ask("task", "get", "nobody's", "-o", "json", "--transport", transport)),
      );
      for (const { stdout, exitCode } of results) {
        expect(JSON.parse(stdout)).toEqual({
          error: {
            code: "TaskNotFoundError",
            message: expect.any(String),
            hint: expect.any(String),
            a2aCode: -32001,
          },
        });
        expect([stdout, exitCode]).toEqual([results[0]?.stdout, 1]);
      }
    },
  );

  shows(
    "A2ACLI_OUT_005",
    "is fields and closed blocks in text, without control sequences",
    async ({ ask }) => {
      const { stdout } = await ask("send", "repeat \u001b[31mred\u0007", "--text", "one\ntwo\n\nthree: four");
      expect(stdout).toContain("red");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what this is about
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
      const outside = stdout.replace(/^[A-Z][A-Za-z ]*:\n(?:.*\n)*?(?:$|\n)/gm, "");
      for (const line of outside.split("\n").filter((text) => text !== "")) {
        expect(line).toMatch(/^[A-Z][A-Za-z ]*: \S/);
      }
    },
  );

  shows(
    "A2ACLI_OUT_005",
    "chats in text, and asks nobody, where there is no terminal",
    async ({ agent, start }) => {
      const { stdout, exitCode } = await start(["chat", "-a", agent.url], { stdin: "" }).result;
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 0 });
      const asked = await start(["chat", "-a", agent.url], { stdin: "ask\n" }).result;
      expect(field(asked.stdout, "State")).toBe("TASK_STATE_INPUT_REQUIRED");
    },
  );

  shows(
    ["A2ACLI_EXIT_001", "A2ACLI_ERR_USAGE", "A2ACLI_ERR_UNREACHABLE"],
    "exits by what became of the command, as its error says",
    async ({ ask, a2a }) => {
      const closed = createServer();
      await new Promise<void>((resolve) => closed.listen(0, "127.0.0.1", resolve));
      const address = closed.address();
      const port = typeof address === "object" ? address?.port : undefined;
      await new Promise((resolve) => closed.close(resolve));
      expect((await ask("send", "task x")).exitCode).toBe(0);
      for (const [argv, code, status] of [
        [["task", "get", "nobody's"], "TaskNotFoundError", 1],
        [["send"], "A2ACLI_ERR_USAGE", 2],
        [["send", "x", "--no-such-flag"], "A2ACLI_ERR_USAGE", 2],
        [["send", "x", "-o", "xml"], "A2ACLI_ERR_USAGE", 2],
      ] as const) {
        const { stdout, stderr, exitCode } = await ask(...argv);
        expect([stdout, exitCode]).toEqual(["", status]);
        expect(stderr).toContain(code);
      }
      const unreachable = await a2a("send", "x", "-o", "json", "-a", `http://127.0.0.1:${port}`);
      expect(JSON.parse(unreachable.stdout)).toMatchObject({ error: { code: "A2ACLI_ERR_UNREACHABLE" } });
      expect(unreachable.exitCode).toBe(3);
    },
  );

  shows("A2ACLI_ERR_INTERNAL", "has a code for what has no better one", async ({ a2a }) => {
    await using recorder = await startRecordingAgent({
      supportedInterfaces: [
        { url: "https://example.com/x", protocolBinding: "urn:other", protocolVersion: "1.0" },
      ],
    });
    const { stdout, exitCode } = await a2a("send", "x", "-o", "json", "-a", recorder.url);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: "A2ACLI_ERR_INTERNAL" } });
    expect(exitCode).toBe(1);
  });

  shows("A2ACLI_EXIT_002", "exits with 0 whatever the agent decided, and warns", async ({ ask }) => {
    for (const [words, state] of [
      ["fail no", "TASK_STATE_FAILED"],
      ["reject no", "TASK_STATE_REJECTED"],
      ["ask", "TASK_STATE_INPUT_REQUIRED"],
      ["auth", "TASK_STATE_AUTH_REQUIRED"],
    ] as const) {
      const { stdout, stderr, exitCode } = await ask("send", words);
      expect([field(stdout, "State"), exitCode]).toEqual([state, 0]);
      expect(stderr).toMatch(/^warning: task /);
    }
  });
});
