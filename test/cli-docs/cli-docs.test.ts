import { chmod, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { bundleProgram, installPackages } from "../../packages/cli/test-support/bundled-program.ts";
import { atTerminal } from "../../packages/cli/test-support/pseudo-terminal.ts";
import { formatPage, parsePage } from "./page.ts";
import { recordPage } from "./record-page.ts";
import { StandIns } from "./stand-ins.ts";

const root = new URL("../../", import.meta.url);
const pages = [
  { page: "docs/cli.md", servers: [] },
  { page: "docs/trust.md", servers: [] },
  { page: "packages/cli/skills/a2a/references/examples.md", servers: ["a2a demo-server"] },
];

// Commands on one page wait for agents that take their time: the other pages are recorded meanwhile.
describe.concurrent("transcripts of the a2a command", () => {
  for (const { page, servers } of pages) {
    it(`of ${page} are what it prints; \`vitest run test/cli-docs -u\` writes them`, {
      ...atTerminal,
      timeout: 600_000,
    }, async ({ expect, onTestFinished }) => {
      const home = await makeHome();
      onTestFinished(() => rm(home, { recursive: true }));
      const path = fileURLToPath(new URL(page, root));
      const parsed = parsePage(await readFile(path, "utf8"));
      const commands = parsed.flatMap((piece) => (typeof piece === "string" ? [] : piece.commands));
      console.info(`${page}: ${commands.length} commands`);
      expect(commands.length).toBeGreaterThan(4);
      const env = { ...process.env, PATH: `${join(home, "bin")}:${process.env["PATH"]}`, HOME: home };
      const recorded = await recordPage(parsed, { cwd: home, env }, servers);
      const text = formatPage(recorded);
      expect(text, "a program on the page lacks what it imports").not.toContain("ERR_MODULE_NOT_FOUND");
      await expect(text).toMatchFileSnapshot(path);
    });
  }
});

/** A home of its own for a page, with the command, and with what the `npm install` of a project brings that is begun on the page. */
async function makeHome(): Promise<string> {
  const home = await realpath(await mkdtemp(join(tmpdir(), "a2a-docs-")));
  await mkdir(join(home, "bin"));
  const a2a = join(home, "bin", "a2a");
  const main = await bundleProgram(new URL("packages/cli/src/main.ts", root));
  await writeFile(a2a, `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`);
  await chmod(a2a, 0o755);
  await installPackages(home, ["a2a-connect", "@a2a-connect/signing"]);
  return home;
}

describe("a page", () => {
  const text = "# A\n\n```sh\n$ not run\n```\n\n```console\n$ one\n> more\nout\n> put\n\n$ two\n```\nend\n";

  it("is taken apart and put together again", () => {
    const page = parsePage(text);
    expect(page).toStrictEqual([
      "# A\n\n```sh\n$ not run\n```\n\n",
      {
        kind: "console",
        line: 7,
        commands: [
          { text: "one\nmore", output: "out\n> put\n\n" },
          { text: "two", output: "" },
        ],
      },
      "\nend\n",
    ]);
    expect(formatPage(page)).toBe(text);
  });

  for (const [what, wrong] of [
    ["a kind of block that nobody knows", "```console backwards\n$ x\n```\n"],
    ["a block without a command", "```console\nx\n```\n"],
  ] as const) {
    it(`is refused for ${what}`, () => expect(() => parsePage(wrong)).toThrow("line 1"));
  }
});

describe("stand-ins", () => {
  const id = "0b6f6c5e-6f9a-4d0e-9a55-0c2f3f5f7a01";

  it("are the same for the same command in every run, and mean what they stand for", () => {
    const [first, second] = [new StandIns(), new StandIns()];
    const shown = first.show("a2a x", `Task: ${id}  \nat 2031-01-01T00:00:00.1Z, ${id}\n`);
    const other = "f".repeat(8) + id.slice(8);
    expect(second.show("a2a x", `Task: ${other}\nat 2032-01-01T00:00:00.2Z, ${other}\n`)).toBe(shown);
    const [, standIn = ""] = /^Task: (\S+)\n/.exec(shown) ?? [];
    expect(standIn).not.toBe(id);
    expect(first.mean(`a2a get ${standIn}`)).toBe(`a2a get ${id}`);
    expect(first.show("a2a x", `Task: ${other}\n`)).not.toContain(standIn);
  });

  it("refuse an identifier that nobody has printed", () => {
    expect(() => new StandIns().mean(`a2a get ${id}`)).toThrow("{task}");
  });
});
