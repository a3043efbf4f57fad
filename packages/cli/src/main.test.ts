import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { startControlledAgent } from "../test-support/controlled-agent.ts";
import { spawnCommand } from "../test-support/run-command.ts";

const main = fileURLToPath(new URL("main.ts", import.meta.url));

describe("a2a, as a process", () => {
  it("is executable", async () => {
    const { stdout, status } = spawnSync(main, ["--version"], { encoding: "utf8" });
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(status).toBe(0);
  });

  it("prints its commands when nothing is asked", async () => {
    const { stdout, stderr, exitCode } = await spawnCommand([]).result;
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(stdout).toMatch(/^Usage: a2a/);
    expect(stdout.indexOf("Commands:")).toBeLessThan(stdout.indexOf("Agent options:"));
  });

  for (const [signal, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const) {
    it(`ends with ${code} at ${signal}, whatever it waits for`, async () => {
      await using agent = await startControlledAgent();
      const command = spawnCommand(["send", "hold on", "-a", agent.url, "--stream"]);
      await command.waitFor(/TASK_STATE_WORKING/);
      command.interrupt(signal);
      expect((await command.result).exitCode).toBe(code);
    });
  }

  it("says in a sentence that it cannot start", () => {
    const broken = `import { registerHooks } from "node:module";
      registerHooks({ resolve(name, context, next) {
        if (name.endsWith("run.ts")) throw new Error("it is\\nbroken");
        return next(name, context);
      } });`;
    const hook = `data:text/javascript,${encodeURIComponent(broken)}`;
    const { stdout, stderr, status } = spawnSync(process.execPath, ["--import", hook, main, "--version"], {
      encoding: "utf8",
    });
    expect({ stdout, stderr, status }).toEqual({
      stdout: "",
      stderr: "error: the command cannot start: it is broken [A2ACLI_ERR_INTERNAL]\n",
      status: 1,
    });
  });

  it("loads no client, and no server, to show its help", () => {
    const { stderr } = spawnSync(process.execPath, [main, "--help"], {
      encoding: "utf8",
      env: { ...process.env, NODE_DEBUG: "esm", NODE_DISABLE_COMPILE_CACHE: "1" },
    });
    expect(stderr).toContain("run.ts");
    // What tells an old Node that it is too old imports nothing.
    expect(stderr).not.toMatch(/packages\/(?:client|server|node(?!\/src\/supported-node)|core|bindings)\//);
  });
});
