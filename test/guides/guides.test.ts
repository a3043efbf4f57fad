// The programs of docs/start.md and docs/testing.md run as they stand, and docs/troubleshooting.md knows every reason of an error.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { errorCatalogue } from "@a2a-connect/core/internal";
import { afterAll, expect, it } from "vitest";
import { installPackages } from "../../packages/cli/test-support/bundled-program.ts";
import { readCodeBlocks } from "../readme/code-blocks.ts";

const docs = fileURLToPath(new URL("../../docs/", import.meta.url));
const directory = mkdtempSync(fileURLToPath(new URL(".tmp-", import.meta.url))); // where vitest is found
await installPackages(directory, ["a2a-connect"]);
afterAll(() => rmSync(directory, { recursive: true }));

function write(page: string, name: string, file: string, edit = (code: string) => code): string {
  const code = readCodeBlocks(join(docs, page)).find((block) => block.name === name)?.code;
  if (code === undefined) throw new Error(`docs/${page} has no block "${name}"`);
  const path = join(directory, file);
  writeFileSync(path, edit(code));
  return path;
}

it("docs/start.md: its client reads what its agent streams", async () => {
  writeFileSync(
    join(directory, "model.ts"),
    `export const model = {
      async *stream({ prompt }) { yield { text: prompt + " " }; yield { text: "384,400 km." }; },
    };`,
  );
  const agent = write("start.md", "agent", "agent.ts", (code) =>
    `${code}\nconsole.log(url);\n`.replace("port: 4000", "port: 0"),
  );
  const served = spawn(process.execPath, [agent], { cwd: directory, stdio: ["ignore", "pipe", "inherit"] });
  try {
    const [url] = (await once(createInterface(served.stdout), "line")) as [string];
    const client = write("start.md", "client", "client.ts", (code) =>
      code.replace("http://localhost:4000", url),
    );
    const called = spawn(process.execPath, [client], { stdio: ["ignore", "pipe", "inherit"] });
    expect(await text(called.stdout)).toBe("How far is the moon? 384,400 km.");
  } finally {
    served.kill("SIGKILL");
  }
});

it("docs/testing.md: its test passes", async () => {
  write("testing.md", "test", "agent.test.ts");
  const vitest = fileURLToPath(new URL("../../node_modules/vitest/vitest.mjs", import.meta.url));
  const run = spawn(process.execPath, [vitest, "run", "--root", directory, "--testTimeout=60000"], {
    env: { ...process.env, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  expect(await text(run.stdout)).toMatch(/Tests\s+1 passed/);
});

it("docs/troubleshooting.md has every reason of an error", () => {
  const page = readFileSync(join(docs, "troubleshooting.md"), "utf8");
  const missing = Object.keys(errorCatalogue).filter((reason) => !page.includes(`| \`${reason}\` |`));
  expect(missing).toEqual([]);
});

it("docs/troubleshooting.md quotes the log as the sources write it", () => {
  const page = readFileSync(join(docs, "troubleshooting.md"), "utf8");
  const [, table = ""] = page.split("## Messages of the log\n");
  const quoted = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, message = ""]) => message);
  expect(quoted.length).toBeGreaterThan(10);
  const files = globSync("packages/{server,node}/src/**/*.ts", { cwd: join(docs, "..") });
  const sources = files.map((file) => readFileSync(join(docs, "..", file), "utf8")).join("\n");
  const pieces = quoted.flatMap((message) => message.split("…").map((piece) => piece.trim()));
  expect(pieces.filter((piece) => !sources.includes(piece))).toEqual([]);
});
