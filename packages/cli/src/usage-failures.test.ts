import { describe, expect, it } from "vitest";
import { runCommand } from "../test-support/run-command.ts";

describe("usage errors", () => {
  for (const [argv, message, hint] of [
    [
      ["task", "list", "--nonsense"],
      /unknown option '--nonsense'/,
      "a2a help task list lists its arguments and options",
    ],
    [
      ["-a", "x", "task", "get"],
      /missing required argument/,
      "a2a help task get lists its arguments and options",
    ],
    [["send", "task", "--nonsense"], /unknown option/, "a2a help send lists its arguments and options"],
    [["snd"], /unknown command 'snd'.*Did you mean send/, "a2a help lists the commands"],
    [
      ["card"],
      /a command is missing: a2a card …/,
      "a2a card has get, verify, sign, canonical, forget; a2a help card says more",
    ],
    [
      ["task", "push-config"],
      /a command is missing: a2a task push-config …/,
      /^a2a task push-config has create, .*listen; a2a help task push-config says more$/,
    ],
    [
      ["task", "gett"],
      /unknown command 'gett'.*Did you mean get/,
      /^a2a task has get, list, .*; a2a help task says more$/,
    ],
    [["help", "sned"], /there is no command "sned" \(Did you mean send\?\)/, "a2a help lists the commands"],
    [
      ["help", "task", "gett"],
      /"task gett" \(Did you mean task get\?\)/,
      /^a2a help task lists its commands$/,
    ],
    [["help", "nonsense"], /^there is no command "nonsense"$/, "a2a help lists the commands"],
  ] as const) {
    it(`say which help to ask: a2a ${argv.join(" ")}`, async () => {
      const { stdout, exitCode } = await runCommand(argv, { env: { A2ACLI_OUTPUT: "json" } });
      expect(exitCode).toBe(2);
      expect(JSON.parse(stdout)).toMatchObject({
        error: {
          code: "A2ACLI_ERR_USAGE",
          message: expect.stringMatching(message),
          hint: typeof hint === "string" ? hint : expect.stringMatching(hint),
        },
      });
    });
  }
});
