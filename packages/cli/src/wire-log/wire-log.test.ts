import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ControlledAgent, startControlledAgent } from "../../test-support/controlled-agent.ts";
import { field } from "../../test-support/fields.ts";
import { startRecordingAgent } from "../../test-support/recording-agent.ts";
import { runCommand } from "../../test-support/run-command.ts";
import { BodyLog, maxLoggedLength } from "./wire-log.ts";

let agent: ControlledAgent;

beforeAll(async () => {
  agent = await startControlledAgent();
});

afterAll(async () => {
  await agent[Symbol.asyncDispose]();
});

const secrets = ["tok-very-secret", "key-very-secret", "param-very-secret", "hook-very-secret"];
const credentials = [
  "--bearer",
  "tok-very-secret",
  "--api-key",
  "key-very-secret",
  "--svc-param",
  "x-session-id:param-very-secret",
];

for (const transport of ["jsonrpc", "http+json", "grpc", "grpc-web", "connect"]) {
  describe(`--debug over ${transport}`, () => {
    const flags = ["--transport", transport];
    const run = (...words: readonly string[]) => runCommand([...words, ...flags, "-a", agent.url, "--debug"]);

    it("logs request, response, headers, messages and times on stderr (A2ACLI_OUT_007)", async () => {
      const { stdout, stderr } = await run("send", "task hello there", "-o", "json");
      expect(JSON.parse(stdout)).toHaveProperty("task");
      expect(stderr).toMatch(/^debug: \[1\] -> GET http:\/\/.*\/\.well-known\/agent-card\.json$/m);
      expect(stderr).toMatch(/^debug: calls go to \S+ by \S+$/m);
      expect(stderr).toMatch(/^debug: {3}a2a-version: 1\.0$/m);
      expect(stderr).toMatch(/^debug: {3}x-a2a-event-id: 1$/m);
      expect(stderr).toMatch(/SendStreamingMessage|message:stream/);
      expect(stderr).toMatch(/"text":"task hello there"/);
      expect(stderr).toMatch(/"statusUpdate":.*"TASK_STATE_COMPLETED"/);
      expect(stderr).toMatch(/<- .* after .*\d+\.\d ms/);
      expect(stderr.split("\n").filter((line) => !line.startsWith("debug:") && line !== "")).toEqual([]);
    });

    it("logs what failed, and the command says the same as without", async () => {
      const loud = await run("task", "get", "nope", "-o", "json");
      const quiet = await runCommand([
        "task",
        "get",
        "nope",
        "-o",
        "json",
        "-a",
        agent.url,
        "--transport",
        transport,
      ]);
      expect(loud.stdout).toBe(quiet.stdout);
      expect(quiet.stderr).toBe("");
      expect(loud.stderr).toMatch(/<- (?:NotFound|404|200)/);
    });

    it("masks credentials, whatever else is asked for (A2ACLI_AUTH_004)", async () => {
      const task = field((await run("send", "hold on", "--async")).stdout, "Task");
      const outputs = await Promise.all([
        run("send", "task hello", ...credentials, "--verbose"),
        run("send", "task hello", ...credentials, "--verbose", "-o", "json", "--stream"),
        run(
          "task",
          "push-config",
          "create",
          task,
          "--url",
          "http://127.0.0.1:9/?token=hook-very-secret",
          "--token",
          "hook-very-secret",
          ...credentials,
          "--verbose",
        ),
        run("task", "push-config", "list", task, ...credentials),
        run("config", "show", ...credentials, "--verbose"),
      ]);
      for (const { stderr } of outputs) {
        expect(secrets.filter((secret) => stderr.includes(secret))).toEqual([]);
      }
      expect(outputs[0]?.stderr).toMatch(/^debug: {3}authorization: Bearer \*\*\*$/m);
      expect(outputs[0]?.stderr).toMatch(/^debug: {3}x-api-key: \*\*\*$/m);
      expect(outputs[0]?.stderr).toMatch(/^debug: {3}x-session-id: \*\*\*$/m);
      expect(outputs[2]?.stderr).toMatch(/"token":"\*\*\*"/);
    });
  });
}

describe("--debug", () => {
  it("masks an API key in the query", async () => {
    await using recorder = await startRecordingAgent({
      securitySchemes: { k: { apiKeySecurityScheme: { location: "query", name: "x" } } },
      securityRequirements: [{ schemes: { k: { list: [] } } }],
    });
    const flags = ["--api-key", "query-very-secret", "--debug"];
    const { stderr } = await runCommand(["send", "-a", recorder.url, "hello", ...flags]);
    expect(recorder.calls[0]?.url).toBe("/rpc?x=query-very-secret");
    expect(stderr).toMatch(/POST http:\/\/\S+\/rpc\?x=\*\*\*$/m);
    expect(stderr).not.toContain("query-very-secret");
  });
});

describe("BodyLog", () => {
  const encoder = new TextEncoder();

  it("prints whole lines, however the bytes are cut", () => {
    const lines: string[] = [];
    const log = new BodyLog((line) => lines.push(line));
    for (const byte of encoder.encode("data: grün\r\n\r\nid: 1\nlast")) {
      log.write(Uint8Array.of(byte));
    }
    log.end();
    expect(lines).toEqual(["data: grün", "id: 1", "last"]);
  });

  it("prints no more than its limit, and counts everything", () => {
    let printed = 0;
    const log = new BodyLog((line) => {
      printed += line.length;
    });
    for (let count = 0; count < 100; count += 1) {
      log.write(encoder.encode(`${"x".repeat(1_000)}\n`));
    }
    log.end();
    expect(printed).toBeLessThanOrEqual(maxLoggedLength + 1_000);
    expect(log.bytes).toBe(100_100);
  });

  it("keeps nothing of a line that never ends", () => {
    const lines: string[] = [];
    const log = new BodyLog((line) => lines.push(line));
    for (let count = 0; count < 50; count += 1) {
      log.write(encoder.encode("x".repeat(1_000)));
    }
    log.end();
    expect(lines).toHaveLength(1);
    expect(lines[0]?.length).toBeLessThanOrEqual(maxLoggedLength + 1_000);
  });
});
