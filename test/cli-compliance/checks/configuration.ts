import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { collectChecks } from "../check.ts";

/** Files, variables, flags. */
export const configuration = collectChecks((shows) => {
  shows(
    "A2ACLI_CONFIG_001",
    "reads files at conventional places, and warns where others may read secrets",
    async ({ start, directory }) => {
      const home = await mkdtemp(join(directory, "home-"));
      const file = join(home, ".config", "a2a-cli", ".env");
      await mkdir(join(home, ".config", "a2a-cli"), { recursive: true });
      await writeFile(file, "A2ACLI_BEARER=s3cret\nA2ACLI_OUTPUT=json\n", { mode: 0o644 });
      const { stdout, stderr } = await start(["config", "show"], { cwd: home }).result;
      const shown: unknown = JSON.parse(stdout);
      expect(shown).toMatchObject({ settings: { bearer: { source: "file", where: file } }, files: [file] });
      expect(stdout + stderr).not.toContain("s3cret");
      expect(stderr).toMatch(/^warning: .*chmod 600/m);
    },
  );

  shows(
    "A2ACLI_CONFIG_002",
    "prefers flag, variable, local file, global file, built-in, and names the source",
    async ({ start, directory }) => {
      const home = await mkdtemp(join(directory, "home-"));
      const project = join(home, "project");
      await mkdir(join(project, "deep"), { recursive: true });
      await mkdir(join(home, ".config", "a2a-cli"), { recursive: true });
      const lines = (value: string, ...flags: string[]) =>
        flags.map((flag) => `A2ACLI_${flag}=${value}\n`).join("");
      await writeFile(join(home, ".config", "a2a-cli", ".env"), lines("1s", "TIMEOUT", "POLL_INTERVAL"));
      await writeFile(
        join(project, ".env"),
        lines("3s", "POLL_INTERVAL") + lines("local", "CONTEXT_ID", "TASK_ID"),
      );
      const other = join(home, "other.env");
      await writeFile(other, lines("other", "CONTEXT_ID"));
      const show = async (...flags: string[]) => {
        const env = { HOME: home, A2ACLI_TASK_ID: "variable", A2ACLI_AGENT_CARD: "variable" };
        const argv = ["config", "show", "--agent-card", "flag", "-o", "json", ...flags];
        const { stdout } = await start(argv, { cwd: join(project, "deep"), env }).result;
        return JSON.parse(stdout) as { settings: Record<string, unknown> };
      };
      expect(await show()).toMatchObject({
        settings: {
          "agent-card": { value: "flag", source: "flag" },
          "task-id": { value: "variable", source: "environment", where: "A2ACLI_TASK_ID" },
          "context-id": { value: "local", source: "file", where: join(project, ".env") },
          "poll-interval": { value: "3s", source: "file", where: join(project, ".env") },
          timeout: { value: "1s", source: "file", where: join(home, ".config", "a2a-cli", ".env") },
          verbose: { value: null, source: "built-in" },
        },
      });
      expect(await show("--config", other)).toMatchObject({
        settings: {
          "context-id": { value: "other", source: "file", where: other },
          "poll-interval": { value: "1s", source: "file" },
        },
      });
    },
  );
});
