import { expect } from "vitest";
import { collectChecks } from "../check.ts";

/** What holds when nobody says anything (§6.5). The other defaults are shown beside what they are about. */
export const defaults = collectChecks((shows) => {
  shows(
    ["output_human_readable_text: shipped", "output_human_readable_text: overridable"],
    "prints text for people, or JSON",
    async ({ ask }) => {
      expect((await ask("send", "task x")).stdout).toMatch(/^Task: /);
      expect(JSON.parse((await ask("send", "task x", "-o", "json")).stdout)).toHaveProperty("task");
      expect(JSON.parse((await ask("send", "task x", "--output", "json")).stdout)).toHaveProperty("task");
    },
  );

  shows(
    ["detail_level_concise: shipped", "detail_level_concise: overridable"],
    "is concise, or shows everything",
    async ({ ask }) => {
      const concise = await ask("send", "parts");
      const verbose = await ask("send", "parts", "--verbose");
      expect(verbose.stdout.length).toBeGreaterThan(concise.stdout.length);
      for (const line of concise.stdout.split("\n").filter((text) => !/^(?:Task|Context|Save):/.test(text))) {
        expect(verbose.stdout).toContain(line);
      }
    },
  );

  shows("A2ACLI_DEFAULT_001", "shows its defaults in help", async ({ a2a }) => {
    const help = (await a2a("send", "--help")).stdout.replaceAll(/\s+/g, " ");
    for (const [flag, value] of [
      ["--transport", "the card's order"],
      ["--wait", "on for send"],
      ["--output", "text"],
      ["--verbose", "off"],
      ["--a2a-version", "the highest that both sides support, 1.0 or later"],
      ["--insecure", "off"],
      ["--poll-interval", "2s"],
    ] as const) {
      expect(help).toMatch(new RegExp(`${flag}\\b[^()]*(?:\\([^()]*\\)[^()]*)?\\(default: ${value}\\)`));
    }
  });
});
