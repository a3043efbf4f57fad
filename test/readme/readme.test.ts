import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { ServedAgent } from "@a2a-connect/node";
import { parseOptions, startReferenceAgent } from "@a2a-connect/reference-agent";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bundleProgram, installPackages } from "../../packages/cli/test-support/bundled-program.ts";
import { type CodeBlock, readCodeBlocks } from "./code-blocks.ts";

const run = promisify(execFile);
const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "..", "..");
const blocks = readCodeBlocks(join(root, "README.md"));
const command = await bundleProgram(new URL("../../packages/cli/src/main.ts", import.meta.url));
const directory = mkdtempSync(join(here, ".tmp-"));
await installPackages(directory, ["a2a-connect"]);
/** A machine may have no curl; the commands are for those that do. */
const hasCurl = spawnSync("curl", ["--version"]).status === 0;
let served: ServedAgent;

beforeAll(async () => {
  const options = parseOptions(["--port", "0", "--store", "memory"]);
  if (options === undefined) {
    throw new Error("no help was asked for");
  }
  served = await startReferenceAgent(options, () => {});
});

afterAll(async () => {
  await served.close({ graceMs: 0 });
  rmSync(directory, { recursive: true });
});

describe("README", () => {
  it("shows an agent of at most fifteen lines that serves and asks back", async () => {
    const { code } = block("agent");
    expect(code.trim().split("\n").length).toBeLessThanOrEqual(15);
    const file = join(directory, "agent.ts");
    writeFileSync(file, `${code.replace("port: 4000", "port: 0")}\nconsole.log(url);\n`);
    const agent = spawn(process.execPath, [file], { cwd: directory, stdio: ["ignore", "pipe", "inherit"] });
    try {
      const [url] = (await once(createInterface(agent.stdout), "line")) as [string];
      const empty = await send(url, "");
      expect(empty.task.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
      const greeted = await send(url, "Ada");
      expect(greeted.task.artifacts[0]?.parts[0]?.text).toBe("Hello, Ada!");
    } finally {
      agent.kill("SIGKILL");
    }
  });

  it("shows a durable agent whose task goes on after kill -9", async () => {
    const file = join(directory, "durable.ts");
    writeFileSync(file, `${block("durable").code.replace("port: 4000", "port: 0")}\nconsole.log(url);\n`);
    const start = async () => {
      const agent = spawn(process.execPath, [file], { cwd: directory, stdio: ["ignore", "pipe", "inherit"] });
      const [url] = (await once(createInterface(agent.stdout), "line")) as [string];
      return { agent, url };
    };
    const first = await start();
    const asked = await send(first.url, "A table for two");
    expect(asked.task.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    first.agent.kill("SIGKILL");
    await once(first.agent, "exit");
    const second = await start();
    try {
      const booked = await send(second.url, "yes", asked.task.id);
      expect(booked.task.status.state).toBe("TASK_STATE_COMPLETED");
      expect(booked.task.artifacts[0]?.parts[0]?.data).toEqual({ table: 7, price: 40 });
    } finally {
      second.agent.kill("SIGKILL");
    }
  });

  it("shows a client of five lines that answers a question", async () => {
    const { code } = block("client");
    expect(
      code
        .trim()
        .split("\n")
        .filter((line) => line !== "" && !line.startsWith("import")).length,
    ).toBe(4);
    const file = join(directory, "client.ts");
    writeFileSync(file, atServed(code));
    const { stdout } = await run(process.execPath, [file]);
    expect(stdout.trim()).toBe("Which colour? Blue.");
  });

  it("is joined by docs/client.md: its first block runs as it stands", async () => {
    const first = readCodeBlocks(join(root, "docs/client.md")).find(({ name }) => name === "run");
    const file = join(directory, "client-page.ts");
    writeFileSync(file, atServed(first?.code ?? "throw new Error('there is no block')"));
    const { stdout } = await run(process.execPath, [file]);
    expect(stdout.trim()).toBe("hello");
  });

  it("shows commands that work", { timeout: 60_000 }, async () => {
    const lines = blocks
      .filter(
        ({ language, name, code }) =>
          language === "sh" && name === undefined && code.includes("npx a2a-connect"),
      )
      .flatMap(({ code }) => code.trim().split("\n"))
      .map((line) => line.replace(/\s+#.*$/, ""));
    const [serve, ...calls] = lines;
    expect([serve?.startsWith("npx a2a-connect demo-server"), calls.length]).toEqual([true, 4]);
    const demo = spawn(process.execPath, [command, "demo-server", "--port", "0"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      let host: string | undefined;
      for await (const line of createInterface(demo.stdout)) {
        host = /localhost:\d+/.exec(line)?.[0];
        if (host !== undefined) break;
      }
      for (const call of calls) {
        const args =
          call
            .replace("npx a2a-connect ", "")
            .replace("localhost:4100", host ?? "none")
            .match(/"[^"]*"|\S+/g) ?? [];
        const child = spawn(process.execPath, [command, ...args.map((arg) => arg.replaceAll('"', ""))], {
          stdio: ["ignore", "ignore", "inherit"],
        });
        expect(await once(child, "close"), call).toEqual([0, null]);
      }
      const script = block("trust")
        .code.replaceAll("npx a2a-connect", `'${process.execPath}' '${command}'`)
        .replaceAll("localhost:4100", host ?? "none");
      const { stdout } = await run("sh", ["-ec", script], { cwd: directory });
      expect(stdout).toContain("Verdict: VERIFIED");
    } finally {
      demo.kill("SIGKILL");
    }
  });

  const shells = blocks.filter(({ language, code }) => language === "sh" && code.includes("localhost:4000/"));
  it("shows the call on three wires", () => expect(shells).toHaveLength(3));

  for (const { code } of shells) {
    it(`shows a command that works: ${code.split("\n")[0]}`, {
      skip: code.includes("\ncurl") && !hasCurl,
      meta: { skipReason: "no `curl`" },
    }, async () => {
      // The only command of ours that is not everywhere is buf, which npx would take from here, too.
      const path = `${join(root, "node_modules", ".bin")}:${process.env["PATH"]}`;
      const { stdout } = await run("sh", ["-ec", atServed(code).replace("npx @bufbuild/buf", "buf")], {
        env: { ...process.env, PATH: path },
      });
      expect(stdout).toContain("TASK_STATE_COMPLETED");
    });
  }
});

function block(name: string): CodeBlock {
  const found = blocks.find((candidate) => candidate.name === name);
  if (found === undefined) {
    throw new Error(`the README has no block "${name}"`);
  }
  return found;
}

function atServed(code: string): string {
  return code.replaceAll("http://localhost:4000", served.url);
}

interface SendResult {
  readonly task: {
    readonly id: string;
    readonly status: { readonly state: string };
    readonly artifacts: readonly {
      readonly parts: readonly { readonly text?: string; readonly data?: unknown }[];
    }[];
  };
}

async function send(url: string, text: string, taskId = ""): Promise<SendResult> {
  const response = await fetch(`${url}/rest/message:send`, {
    method: "POST",
    headers: { "a2a-version": "1.0", "content-type": "application/json" },
    body: JSON.stringify({ message: { messageId: "1", taskId, role: "ROLE_USER", parts: [{ text }] } }),
  });
  return (await response.json()) as SendResult;
}
