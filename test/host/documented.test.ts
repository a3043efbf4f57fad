// The example of docs/several-agents.md does what the page says.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { connectAgent } from "@a2a-connect/node/client";
import { afterAll, describe, expect, it } from "vitest";
import { installPackages } from "../../packages/cli/test-support/bundled-program.ts";
import { readCodeBlocks } from "../readme/code-blocks.ts";

const here = dirname(fileURLToPath(import.meta.url));
const directory = mkdtempSync(join(tmpdir(), "a2a-agents-"));
await installPackages(directory, ["@a2a-connect/node"]);
afterAll(() => rmSync(directory, { recursive: true }));

describe("docs/several-agents.md", () => {
  it("shows two agents that are served together, with a file each", async () => {
    const blocks = readCodeBlocks(join(here, "..", "..", "docs", "several-agents.md"));
    const { code } = blocks.find(({ name }) => name === "agents") ?? expect.unreachable("the page has it");
    const file = join(directory, "agents.ts");
    writeFileSync(file, code.replace("port: 4000", "port: 0"));
    const agents = spawn(process.execPath, [file], { cwd: directory, stdio: ["ignore", "pipe", "inherit"] });
    try {
      const [line] = (await once(createInterface(agents.stdout), "line")) as [string];
      const [url = "", shouter = ""] = line.split(" ");
      expect(shouter).toBe(`${url}/agents/shouter`);
      expect(await replyOf(`${url}/agents/greeter`, "Ada")).toBe("Hello, Ada!");
      expect(await replyOf(shouter, "quiet")).toBe("QUIET");
      expect(readdirSync(join(directory, ".a2a"))).toEqual(
        expect.arrayContaining(["greeter.sqlite", "shouter.sqlite"]),
      );
    } finally {
      agents.kill("SIGTERM");
      await once(agents, "exit");
    }
  });
});

async function replyOf(url: string, words: string): Promise<unknown> {
  await using agent = await connectAgent(url);
  const { payload } = await agent.sendMessage(words);
  return payload.case === "message" ? payload.value.parts[0]?.content.value : payload.case;
}
