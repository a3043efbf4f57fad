// Each example of docs/mount.md serves the agent of that page. Next.js itself is too large for CI: `next-server.ts` calls the
// functions of its route.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { findA2AError } from "@a2a-connect/core";
import { connectBinding, grpcWebBinding } from "@a2a-connect/core/internal";
import { connectAgent } from "@a2a-connect/node/client";
import { TaskState } from "@a2a-connect/proto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installPackages } from "../../packages/cli/test-support/bundled-program.ts";
import { readCodeBlocks } from "../readme/code-blocks.ts";

const here = dirname(fileURLToPath(import.meta.url));
const blocks = readCodeBlocks(join(here, "..", "..", "docs", "mount.md"));
const preload = join(here, "announce-port.ts");

/** Bindings of a mount, in the card's order. */
const bindings = ["JSONRPC", "HTTP+JSON", connectBinding, grpcWebBinding];

const mounts = [
  ["http", ""],
  ["express", "/a2a"],
  ["fastify", "/a2a"],
  ["hono", "/a2a"],
  ["next", "/a2a"],
] as const;

describe.each(mounts)("docs/mount.md, %s", (name, path) => {
  const directory = mkdtempSync(join(here, ".tmp-")); // where the frameworks can be imported from
  let process_: ChildProcess;
  let url: string;

  beforeAll(async () => {
    await installPackages(directory, ["@a2a-connect/node"]);
    for (const each of ["agent", name]) {
      writeFileSync(join(directory, `${each}.ts`), codeOf(each).replaceAll("3000", "0"));
    }
    const file = join(directory, `${name}.ts`);
    const program = name === "next" ? [join(here, "next-server.ts"), file] : [file];
    process_ = spawn(process.execPath, ["--import", preload, ...program], {
      cwd: directory,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = createInterface(process_.stdout ?? expect.unreachable("its output is a pipe"));
    const [port] = (await once(lines, "line")) as [string];
    url = `http://127.0.0.1:${port}${path}`;
  });

  afterAll(async () => {
    process_.kill("SIGKILL");
    await once(process_, "exit");
    rmSync(directory, { recursive: true });
  });

  it("has a card with the mount's URL, and with what a mount can serve", async () => {
    await using agent = await connectAgent(url);
    const current = agent.card.supportedInterfaces.filter(({ protocolVersion }) => protocolVersion === "1.0");
    expect(current.map(({ protocolBinding }) => protocolBinding)).toEqual(bindings);
    for (const { url: each } of agent.card.supportedInterfaces) expect(each.startsWith(url)).toBe(true);
  });

  it("answers, streams, asks and cancels on every wire of its card", async () => {
    await using first = await connectAgent(url);
    const wires = new Set(first.card.supportedInterfaces.map(({ protocolBinding }) => protocolBinding));
    expect(wires.size).toBe(bindings.length);
    for (const pinBinding of wires) {
      await using agent = await connectAgent(url, { pinBinding });
      const sent = await agent.run("Ada");
      expect(sent.artifacts.map((artifact) => artifact.text())).toEqual(["Hello, Ada!"]);

      const kinds: (string | undefined)[] = [];
      for await (const { payload } of agent.stream("Bob")) kinds.push(payload.case);
      expect(kinds).toEqual(["task", "artifactUpdate", "artifactUpdate", "artifactUpdate", "statusUpdate"]);

      const asked = await agent.run("", { onInputRequired: () => "Eve" });
      expect(asked.artifacts.map((artifact) => artifact.text())).toEqual(["Hello, Eve!"]);

      const { payload } = await agent.sendMessage("");
      if (payload.case !== "task") expect.unreachable("a question needs a task");
      const canceled = await agent.cancelTask(payload.value.id);
      expect(canceled.status?.state).toBe(TaskState.CANCELED);
    }
  });

  it("tells errors on every wire of its card", async () => {
    await using first = await connectAgent(url);
    for (const { protocolBinding: pinBinding } of first.card.supportedInterfaces) {
      await using agent = await connectAgent(url, { pinBinding });
      const error = await agent.getTask("none").catch((thrown: unknown) => thrown);
      expect(findA2AError(error)?.reason).toBe("TASK_NOT_FOUND");
    }
  });

  it("answers what is no call with JSON", async () => {
    const missing = await fetch(`${url}/nothing-here`);
    expect([missing.status, missing.headers.get("content-type")]).toEqual([404, "application/json"]);
    const head = await fetch(`${url}/.well-known/agent-card.json`, { method: "HEAD" });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });
});

function codeOf(name: string): string {
  return (blocks.find((block) => block.name === name) ?? expect.unreachable(`the page has ${name}`)).code;
}
