import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { connectAgent } from "@a2a-connect/node/client";
import { expect, it, onTestFinished } from "vitest";

it("starts the agent again after a message has had it killed, and its tasks go on", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "a2a-supervise-"));
  onTestFinished(() => rmSync(dataDir, { recursive: true, force: true }));
  const program = fileURLToPath(new URL("supervise.ts", import.meta.url));
  const supervisor = spawn(process.execPath, [program, "--port", "0", "--data", dataDir], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const lines = createInterface(supervisor.stdout)[Symbol.asyncIterator]();
  const nextUrl = async (): Promise<string> => {
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error("the supervisor has ended");
      const [, url] = /^ready (\S+)$/.exec(value) ?? [];
      if (url !== undefined) return url;
    }
  };
  try {
    await using first = await connectAgent(await nextUrl());
    const { payload } = await first.sendMessage("crash", { returnImmediately: true });
    if (payload.case !== "task") throw new Error("the agent answered with a Message");
    await using second = await connectAgent(await nextUrl());
    const { task } = await second.resume(payload.value.id);
    const [part] = task?.status?.message?.parts ?? [];
    expect(part?.content.value).toMatch(/^Process \d+ was killed\. This is process \d+, which went on/);
  } finally {
    supervisor.kill("SIGTERM");
    const [code] = await once(supervisor, "exit");
    expect(code).toBe(0);
  }
});
