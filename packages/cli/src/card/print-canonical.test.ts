import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { canonicalCard } from "@a2a-connect/signing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startRecordingAgent } from "../../test-support/recording-agent.ts";
import { runCommand, spawnCommand } from "../../test-support/run-command.ts";
import { runCli } from "../run.ts";

let cwd: string;

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "a2a-canonical-"));
});

afterAll(async () => {
  await rm(cwd, { recursive: true });
});

describe("a2a card canonical", () => {
  const odd =
    '{"name":"\\u0041 \\u009b31m\\u202e","skills":[],"version":"","signatures":[{"protected":"a","signature":"b"}]}';

  for (const flags of [[], ["-o", "json"], ["--verbose"]] as const) {
    it(`prints the canonical bytes and nothing else, ${flags.join(" ") || "as it is"}`, async () => {
      const { stdout, stderr, exitCode } = await spawnCommand(["card", "canonical", "-", ...flags], {
        cwd,
        stdin: odd,
      }).result;
      expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
      expect(stdout).toBe('{"name":"A \u009b31m\u202e","skills":[],"version":""}');
    });
  }

  it("is the same of a file, of an agent and of the standard input", async () => {
    await using recorder = await startRecordingAgent({ unknownMember: { b: 1, a: [] } });
    const text = await (await fetch(`${recorder.url}/.well-known/agent-card.json`)).text();
    await writeFile(join(cwd, "card.json"), text);
    const printed = await Promise.all(
      [["card.json"], ["-"], [recorder.url], ["-a", recorder.url]].map((words) =>
        runCommand(["card", "canonical", ...words], { cwd, stdin: text }),
      ),
    );
    for (const { stdout } of printed) expect(stdout).toBe(canonicalCard(text));
  });

  it("shows a terminal no control characters, and means the same", async () => {
    const shown: string[] = [];
    const terminal = { isTerminal: true, write: async (text: string) => void shown.push(text) };
    const interrupted = new AbortController().signal;
    const stdin = Readable.from([Buffer.from(odd)]);
    await runCli(["card", "canonical", "-"], {
      stdout: terminal,
      stderr: terminal,
      stdin,
      env: {},
      cwd,
      home: cwd,
      interrupted,
    });
    expect(shown.join("")).toBe('{"name":"A \\u009b31m\\u202e","skills":[],"version":""}');
  });

  for (const [what, text, fault] of [
    ["a member that stands twice", '{"name":"a","name":"b"}', "duplicate-member"],
    ["both spellings of a field", '{"iconUrl":"a","icon_url":"b"}', "both-spellings"],
    ["half a character", '{"name":"\\ud800"}', "lone-surrogate"],
    ["a list", "[]", "not-an-object"],
    ["a web page", "<html>", "not-json"],
    ["nothing", "", "not-json"],
    ["a byte order mark", "\ufeff{}", "not-json"],
    ["what is too deep", `{"a":${"[".repeat(200)}${"]".repeat(200)}}`, "too-deep"],
  ] as const) {
    it(`has no form for ${what}`, async () => {
      const { stdout, stderr, exitCode } = await runCommand(["card", "canonical", "-"], { cwd, stdin: text });
      expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 1 });
      expect(stderr).toMatch(new RegExp(`^error: .*\\(${fault}\\) \\[A2ACLI_ERR_CARD_INVALID\\]`));
    });
  }

  it("has no form for what is no UTF-8", async () => {
    await writeFile(join(cwd, "latin.json"), Buffer.from('{"name":"caf\xe9"}', "latin1"));
    const { stderr, exitCode } = await runCommand(["card", "canonical", "latin.json"], { cwd });
    expect([exitCode, stderr]).toEqual([
      1,
      expect.stringContaining("is not UTF-8 [A2ACLI_ERR_CARD_INVALID]"),
    ]);
  });

  it("exits with 3 when there is nothing to be had", async () => {
    expect((await runCommand(["card", "canonical", "./nowhere.json"], { cwd })).exitCode).toBe(3);
    expect((await runCommand(["card", "canonical", "no-such-host.invalid"], { cwd })).exitCode).toBe(3);
  });
});
