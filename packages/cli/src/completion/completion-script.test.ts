import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { runCommand } from "../../test-support/run-command.ts";

const { stdout: bashScript } = await runCommand(["completion", "bash"]);

/** What bash would offer for the last of these words. */
function complete(...words: readonly string[]): readonly string[] {
  const all = ["a2a", ...words].map((word) => `'${word}'`).join(" ");
  const script = `${bashScript}\nCOMP_WORDS=(${all}); COMP_CWORD=${words.length}; _a2a; printf '%s\\n' "\${COMPREPLY[@]}"`;
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

  for (const [shell, marks] of [
    ["zsh", ["#compdef a2a", "compdef _a2a a2a", "'push-config:"]],
    [
      "fish",
      ["complete -c a2a", "-l agent-card -s a -r", "-l output -s o -x -a 'text json'", "'task push-config'"],
    ],
  ] as const) {
    it(`writes a script for ${shell}`, async () => {
      const { stdout } = await runCommand(["completion", shell]);
      for (const mark of marks) {
        expect(stdout).toContain(mark);
      }
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
