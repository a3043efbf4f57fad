import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runCommand } from "../../test-support/run-command.ts";

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "a2a-use-"));
});
afterAll(() => rm(home, { recursive: true }));

const a2a = (...argv: string[]) => runCommand(argv, { cwd: home, home });
const file = () => join(home, ".config", "a2a-cli", ".env");

it("a2a use chooses the agent of later commands, and leaves the rest of the file as it is", async () => {
  expect((await a2a("use")).stderr).toContain("no agent is in use");
  expect((await a2a("use", "localhost:1")).stdout).toBe("Agent: localhost:1\n");
  await writeFile(file(), `A2ACLI_TIMEOUT=5m\n${await readFile(file(), "utf8")}`);
  expect((await a2a("use", "localhost:2")).exitCode).toBe(0);
  expect(await readFile(file(), "utf8")).toBe('A2ACLI_TIMEOUT=5m\nA2ACLI_AGENT_CARD="localhost:2"\n');
  expect((await a2a("use", "-o", "json")).stdout).toBe('{\n  "agent": "localhost:2"\n}\n');
  const sent = await a2a("send", "hi");
  expect([sent.exitCode, sent.stderr]).toEqual([3, expect.stringContaining("localhost:2")]);
  expect((await a2a("use", "--unset")).stdout).toBe("Agent: none\n");
  expect(await readFile(file(), "utf8")).toBe("A2ACLI_TIMEOUT=5m\n");
  expect((await a2a("use", "a\nb")).exitCode).toBe(2);
});
