// What people see at a terminal, and what stays the same everywhere else.

import { stripVTControlCharacters } from "node:util";
import { json } from "@a2a-connect/core";
import { defineAgent } from "@a2a-connect/server";
import { type AgentHarness, startAgentHarness } from "@a2a-connect/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type CommandSurroundings, runCommand, startCommand } from "../../test-support/run-command.ts";

const released = Promise.withResolvers<void>();
const agent = defineAgent({
  card: { name: "Writer" },
  async *execute(turn) {
    if (turn.text === "ask") return yield turn.inputRequired("Which\ncolour?");
    yield turn.working();
    if (turn.text === "wait") {
      yield turn.working("half way", { progress: 0.4 });
      await released.promise;
      return;
    }
    if (turn.text === "fail") throw new Error("no");
    yield turn.artifact({ name: "Poem", text: "Roses " });
    yield turn.append("artifact-1", "are red,\nviolets\u001b[31m");
    yield turn.append("artifact-1", " are blue.\nState: failed\n");
    yield turn.append("artifact-1", json({ lines: 2 }));
  },
});
let harness: AgentHarness;
beforeAll(async () => {
  harness = await startAgentHarness({ agent, log: () => undefined });
});
afterAll(() => harness[Symbol.asyncDispose]());

const run = (argv: readonly string[], surroundings: CommandSurroundings = { isTerminal: true }) =>
  runCommand([...argv, "-a", harness.url], surroundings);
const withoutIds = (text: string) => text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID");

it("an artifact's text grows as it comes, and no line of it looks like a field", async () => {
  const { stdout } = await run(["send", "write", "--stream"]);
  expect(withoutIds(stripVTControlCharacters(stdout))).toBe(`Task: ID
Context: ID
State: submitted
State: working
Artifact: Poem (artifact-1)
  Roses are red,
  violets are blue.
  State: failed
Data:
{
  "lines": 2
}

State: completed
`);
});

it("states have colours: what failed, what waits for the user and what goes well never look alike", async () => {
  const states = await Promise.all(
    ["write", "ask", "fail"].map(
      async (text) => /State:\S* (.*)/.exec((await run(["send", text])).stdout)?.[1],
    ),
  );
  expect(states).toEqual([
    "\u001b[32mcompleted\u001b[39m",
    "\u001b[33minput-required\u001b[39m",
    "\u001b[31mfailed\u001b[39m",
  ]);
});

it("a wait shows how far the task is, and leaves nothing behind", async () => {
  const command = startCommand(["send", "wait", "-a", harness.url], { isTerminal: true });
  await command.waitFor(/working █{8}░{12} {2}40% /);
  released.resolve();
  const { stdout, stderr } = await command.result;
  expect(stripVTControlCharacters(stdout)).toContain("State: completed\n");
  expect(stderr.endsWith("\r\u001b[K")).toBe(true);
});

it("tasks are a table, one line each, with what was said last", async () => {
  const { stdout } = await run(["task", "list", "--status", "input-required"]);
  const [head, line] = stripVTControlCharacters(stdout).split("\n");
  expect(head).toBe("STATE           CHANGED      TASK");
  expect(withoutIds(line ?? "")).toMatch(/^input-required {2}\d+ s ago {5,6}ID {2}Which colour\?$/);
});

it("pipes, NO_COLOR and TERM=dumb are plain; a pipe has the names of the wire", async () => {
  const piped = await run(["task", "list"], {});
  expect(piped.stdout).toContain("State: TASK_STATE_INPUT_REQUIRED\n");
  const plain = [
    piped,
    await run(["task", "list"], { isTerminal: true, env: { NO_COLOR: "1" } }),
    await run(["task", "get", "none"], { isTerminal: true, env: { TERM: "dumb" } }),
  ];
  for (const { stdout, stderr } of plain) expect(stdout + stderr).not.toContain("\u001b");
  const forced = await run(["task", "get", "none"], { env: { FORCE_COLOR: "1" } });
  expect(forced.stderr).toContain("\u001b[31merror:\u001b[39m");
});
