import { describe, expect, it } from "vitest";
import { shellWords } from "../test-support/fields.ts";
import { answerCommand, commandLine, subscribeCommand, waitCommand } from "./commands-to-copy.ts";
import { resolveSettings } from "./settings/resolve.ts";

const nowhere = { env: {}, cwd: "/", home: "/nowhere" };
const { settings } = resolveSettings({ "agent-card": "http://localhost:4000" }, nowhere);

describe("commands to copy (A2ACLI_INTERACT_004)", () => {
  it("name the agent, the task and where to go on", () => {
    expect(answerCommand(settings, "t-1")).toBe('a2a send -a http://localhost:4000 --task-id t-1 "<reply>"');
    expect(waitCommand(settings, "t-1")).toBe("a2a task get -a http://localhost:4000 --wait t-1");
    expect(subscribeCommand(settings, "t-1", 7)).toBe(
      "a2a task subscribe -a http://localhost:4000 --after 7 t-1",
    );
  });

  for (const id of ["a b", "$(touch /tmp/x)", "a;b", "it's", '"', "`x`", "a\\b", "*", "~", "#", "<", ""]) {
    it(`quote the id ${JSON.stringify(id)}, which an agent has chosen`, () => {
      const command = commandLine({ ...settings, agentCard: undefined }, ["task", "cancel"], [id]);
      expect(command.slice("a2a task cancel ".length)).toMatch(/^'/);
      expect(shellWords(command).slice(3)).toEqual([id]);
    });
  }

  it("keep an id that looks like an option from being one", () => {
    expect(waitCommand(settings, "--debug")).toMatch(/ --wait -- --debug$/);
  });
});
