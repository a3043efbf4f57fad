import { spawnSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import { expect } from "vitest";
import { field, fieldsOf } from "../../../packages/cli/test-support/fields.ts";
import { collectChecks } from "../check.ts";

/** The command's own surface. */
export const tools = collectChecks((shows) => {
  shows("A2ACLI_CLI_001", "shows its usage and its version, and ends", async ({ a2a }) => {
    const { version } = JSON.parse(
      await readFile(new URL("../../../packages/cli/package.json", import.meta.url), "utf8"),
    ) as { version: string }; // our own package.json
    for (const flag of ["-v", "--version"]) {
      expect(await a2a(flag)).toEqual({ stdout: `${version}\n`, stderr: "", exitCode: 0 });
    }
    const help = await a2a("help");
    expect(help).toMatchObject({ stderr: "", exitCode: 0 });
    for (const command of ["card", "send", "task", "chat", "config", "completion", "demo-server", "help"]) {
      expect(help.stdout).toMatch(new RegExp(`^ {2}${command}\\b`, "m"));
    }
    expect((await a2a("-h")).stdout).toBe((await a2a("--help")).stdout);
    const task = await a2a("help", "task", "get");
    expect(task).toEqual(await a2a("task", "get", "--help"));
    expect(task.stdout).toMatch(/^Usage: a2a task get /);
    expect(task.stdout).toContain("(default: 2s)");
  });

  shows("A2ACLI_CLI_002", "prints a completion script that its shell reads", async ({ a2a }) => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const { stdout, exitCode } = await a2a("completion", shell);
      expect(stdout).toContain("__complete");
      expect(exitCode).toBe(0);
      if (shell === "bash") {
        expect(spawnSync("bash", ["-n"], { input: stdout, encoding: "utf8" })).toMatchObject({
          status: 0,
          stderr: "",
        });
      }
    }
    expect((await a2a("__complete", "--", "task", "")).stdout).toContain("push-config");
  });

  for (const [transport, request] of [
    ["jsonrpc", /"method":"SendStreamingMessage"/],
    ["http+json", /POST http:\/\/\S+\/rest\/message:stream/],
    ["grpc", /SendStreamingMessage/],
  ] as const) {
    shows("A2ACLI_OUT_007", `logs the messages on the wire to stderr over ${transport}`, async ({ ask }) => {
      const { stdout, stderr } = await ask(
        "send",
        "task hello",
        "--debug",
        "--transport",
        transport,
        "-o",
        "json",
      );
      expect(JSON.parse(stdout)).toHaveProperty("task");
      expect(stderr).toMatch(request);
      expect(stderr).toMatch(/^debug: .*"text":"task hello"/m);
      expect(stderr).toMatch(/^debug: .*"TASK_STATE_COMPLETED"/m);
      expect(stderr).toMatch(/\d ms$/m);
    });
  }

  shows(
    "A2ACLI_CHAT_001",
    "chats: each line is a turn, and context and waiting task go along",
    async ({ agent, start }) => {
      const { stdout, exitCode } = await start(["chat", "-a", agent.url], { stdin: "ask\ngreen\ntask x\n" })
        .result;
      expect(exitCode).toBe(0);
      expect(stdout).toContain("Text:\nYou said green.\n\n");
      expect(new Set(fieldsOf(stdout).get("Context")).size).toBe(1);
      expect(new Set(fieldsOf(stdout).get("Task")).size).toBe(2);
    },
  );

  shows("A2ACLI_DEMO_SERVER_001", "runs an agent to practise with", async ({ a2a, start }) => {
    const server = start(["demo-server", "--port", "0"]);
    const [, url = ""] = await server.waitFor(/^Agent Card: (http\S+)\/\.well-known\/agent-card\.json$/m);
    const { stdout } = await a2a("send", "choose", "-a", url);
    expect(field(stdout, "State")).toBe("TASK_STATE_INPUT_REQUIRED");
    server.interrupt();
    await server.result;
  });
});
