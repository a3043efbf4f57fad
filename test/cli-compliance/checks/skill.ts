import { globSync, readFileSync } from "node:fs";
import { expect } from "vitest";
import { parse } from "yaml";
import { collectChecks } from "../check.ts";

const root = new URL("../../../", import.meta.url);

function findSkills(): string[] {
  return globSync("**/SKILL.md", {
    cwd: root,
    exclude: (name) => /(?:^|\/)(?:node_modules|\..*)$/.test(name),
  });
}

/** The Agent Skill that comes with the command (§14). */
export const skill = collectChecks((shows) => {
  shows(
    "A2ACLI_SKILL_001",
    "comes with one Agent Skill, which is short and sends its reader to help",
    async ({ a2a }) => {
      const found = findSkills();
      expect(found).toEqual(["packages/cli/skills/a2a/SKILL.md"]);
      const text = readSkill();
      const [, frontmatter = "", body = ""] = /^---\n(.*?)\n---\n(.*)$/s.exec(text) ?? [];
      expect(parse(frontmatter)).toEqual({
        name: "a2a",
        description: expect.stringMatching(/\w{3}/),
        compatibility: expect.stringMatching(/\ba2a\b/),
      });
      expect(body).toMatch(/a2a help/);
      expect(body).toMatch(/a2a --version/); // the preflight check
      expect(text.length).toBeLessThan(4_000);
      const help = (await a2a("help")).stdout;
      const commands = [...help.matchAll(/^ {2}([a-z][a-z-]+) /gm)].map(([, name = ""]) => name);
      const named = commands.filter((name) => body.includes(`a2a ${name}`));
      expect(named.length).toBeLessThan(commands.length / 2); // it is no list of commands
    },
  );

  shows("A2ACLI_SKILL_002", "says in its skill how, and repeats no norm", async () => {
    expect(readSkill()).not.toMatch(
      /\b(?:MUST|SHALL|SHOULD|REQUIRED|RECOMMENDED)\b|A2ACLI_[A-Z_]+_\d|§|\bTier \d/,
    );
  });
});

function readSkill(): string {
  return readFileSync(new URL("packages/cli/skills/a2a/SKILL.md", root), "utf8");
}
