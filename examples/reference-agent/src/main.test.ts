import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";

const main = fileURLToPath(new URL("main.ts", import.meta.url));
const run = promisify(execFile);

describe("npm start", () => {
  it("explains itself with --help", async () => {
    const { stdout, stderr } = await run(process.execPath, [main, "--help"]);
    expect(stdout).toContain("Usage: npm start -- [options]");
    expect(stdout).toContain("--profile NAME");
    expect(stdout).toContain("stream N [MS]");
    expect(stderr).toBe("");
  });

  it.each([
    [["--port", "http"], '--port must be a number from 0 to 65535, not "http"'],
    [["--profile", "fast"], '--profile must be one of full, bare, required-extension, not "fast"'],
    [["--store", "tape"], '--store must be one of sqlite, memory, not "tape"'],
    [["--public-url", "agents.example"], "--public-url must begin with http:// or https://"],
    [["--colour"], "--colour"],
  ])("refuses %j with a sentence", async (args, sentence) => {
    const failure = await run(process.execPath, [main, ...args]).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining(sentence),
    });
    expect(failure).toMatchObject({ stderr: expect.stringContaining("npm start -- --help") });
  });

  it("says when it is ready, and keeps what an executor throws out of answer and log", async () => {
    const agent = spawn(process.execPath, [main, "--port", "0", "--store", "memory"]);
    let log = "";
    agent.stderr.on("data", (chunk: Buffer) => {
      log += chunk.toString();
    });
    const [line] = (await once(createInterface(agent.stdout), "line")) as [string];
    expect(line).toMatch(/^ready http:\/\/localhost:\d+$/);
    const response = await fetch(`${line.slice("ready ".length)}/rest/message:send`, {
      method: "POST",
      headers: { "a2a-version": "1.0", "content-type": "application/json" },
      body: JSON.stringify({ message: { messageId: "1", role: "ROLE_USER", parts: [{ text: "throw" }] } }),
    });
    const answer = await response.text();
    agent.kill("SIGTERM");
    const [code] = (await once(agent, "close")) as [number];
    expect(code).toBe(0);
    expect(answer).toContain("TASK_STATE_FAILED");
    expect(log).toContain("an executor failed");
    for (const text of [answer, log]) {
      expect(text).not.toMatch(/on purpose|\bat \w+ \(|\.ts:\d/);
    }
  });
});
