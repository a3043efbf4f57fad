import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { bundleProgram } from "../../test-support/bundled-program.ts";
import { runCommand } from "../../test-support/run-command.ts";

const { stdout: bashScript } = await runCommand(["completion", "bash"]);
const main = await bundleProgram(new URL("../main.ts", import.meta.url));

/** What bash would offer for the last of these words. */
function complete(...words: readonly string[]): readonly string[] {
  const all = ["a2a", ...words].map((word) => `'${word}'`).join(" ");
  const script = `a2a() { '${process.execPath}' '${main}' "$@"; }
${bashScript}
COMP_WORDS=(${all}); COMP_CWORD=${words.length}; _a2a; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync("bash", ["-c", script], { encoding: "utf8" });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  return stdout.split("\n").filter((line) => line !== "");
}

describe("a2a completion (A2ACLI_CLI_002)", () => {
  for (const [words, offered] of [
    [["ca"], ["card"]],
    [
      ["card", ""],
      ["get", "verify", "sign", "canonical", "forget", "--help"],
    ],
    [["card", "get", "--val"], ["--validate"]],
    [["task", "push"], ["push-config"]],
    [["task", "push-config", "cr"], ["create"]],
    [
      ["send", "-o", ""],
      ["text", "json"],
    ],
    [["--output", "j"], ["json"]],
    [
      ["send", "--transport", "grpc"],
      ["grpc", "grpc-web"],
    ],
    // The value of an option is no command.
    [["-a", "task", "car"], ["card"]],
    [["send", "--bearer", ""], []],
    [["completion", "--he"], ["--help"]],
  ] as const) {
    it(`in bash, after a2a ${words.join(" ")}, offers ${offered.join(" ") || "nothing of its own"}`, () => {
      expect(complete(...words)).toEqual(offered);
    });
  }

  it("offers every command that help shows, and no hidden spelling", async () => {
    const offered = complete("");
    const { stdout } = await runCommand(["--help"]);
    const commands = /Commands:\n((?: {2}.*\n)+)/.exec(stdout)?.[1]?.match(/^ {2}(?=\S)[\w-]+/gm) ?? [];
    expect(commands.length).toBeGreaterThan(8);
    expect(offered).toEqual(expect.arrayContaining(commands.map((name) => name.trim())));
    expect(offered.filter((word) => word.startsWith("--no-"))).toEqual([]);
  });

  it("says what each word is for, to shells that show it", async () => {
    const { stdout } = await runCommand(["__complete", "--", "task", ""]);
    expect(stdout).toContain("push-config\tWebhooks of a task");
    expect(stdout).toContain("--help\t");
  });

  it("works and is silent whatever is wrong with the settings", async () => {
    const env = { A2ACLI_TIMEOUT: "soon", A2ACLI_TYPO: "1" };
    const { stdout, stderr, exitCode } = await runCommand(["__complete", "--", "task", ""], { env });
    expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    expect(stdout).toContain("push-config");
  });

  for (const shell of ["zsh", "fish"]) {
    it(`writes a script for ${shell}`, async () => {
      const { stdout } = await runCommand(["completion", shell]);
      expect(stdout).toContain(`${shell} completion of a2a`);
      expect(stdout).toContain("__complete -- ");
    });

    it(`writes a script that ${shell} reads`, {
      skip: spawnSync(shell, ["--version"]).error !== undefined,
      meta: { skipReason: `no \`${shell}\`` },
    }, async () => {
      const { stdout } = await runCommand(["completion", shell]);
      expect(spawnSync(shell, ["-n"], { input: stdout }).status).toBe(0);
    });
  }
});
