import { readdir } from "node:fs/promises";
import { serve } from "@a2a-connect/node";
import { createMemoryTaskStore } from "@a2a-connect/server";
import { describe, expect, it } from "vitest";
import { field, shellWords } from "../../test-support/fields.ts";
import { runCommand, spawnCommand } from "../../test-support/run-command.ts";
import type { ChecklistItem } from "../doctor/checklist.ts";
import { demoAgent, demoSkills, sampleCsv, samplePng } from "./demo-agent.ts";

const cardUrl = /Agent Card: (http:\S+)\/\.well-known\/agent-card\.json/;

// Its examples take seconds, in which nothing is done.
describe.concurrent("a2a demo-server", () => {
  it("does what its guide says, and leaves nothing behind", async ({ onTestFinished }) => {
    const before = await readdir(process.cwd());
    const server = spawnCommand(["demo-server", "--port", "0"]);
    onTestFinished(() => server.interrupt());
    await server.waitFor(cardUrl);
    await server.waitFor(/a2a chat -a .+\n/);
    const commands = [...server.printed.matchAll(/^a2a (.+)$/gm)].map(([, words = ""]) => shellWords(words));
    let taskId = "";
    const states: string[] = [];
    for (const words of commands) {
      if (words.includes("chat") || words.includes("listen") || words.includes("download")) continue;
      const known = words.map((word) => (word === "TASK" ? taskId : word));
      const isEndless = words[1] === "subscribe"; // the task before it is the slow one
      const { stdout, exitCode } = isEndless ? { stdout: "", exitCode: 0 } : await runCommand(known);
      expect({ words, exitCode }).toEqual({ words, exitCode: 0 });
      if (/^Task: /m.test(stdout)) taskId = field(stdout, "Task");
      if (/^State: /m.test(stdout)) states.push(field(stdout, "State"));
    }
    expect(new Set(states)).toEqual(
      new Set([
        "TASK_STATE_COMPLETED",
        "TASK_STATE_INPUT_REQUIRED",
        "TASK_STATE_AUTH_REQUIRED",
        "TASK_STATE_WORKING",
        "TASK_STATE_CANCELED",
        "TASK_STATE_FAILED",
        "TASK_STATE_REJECTED",
      ]),
    );
    server.interrupt();
    expect((await server.result).exitCode).toBe(0);
    expect(await readdir(process.cwd())).toEqual(before);
  });

  it("passes its own tools: smoke, and the checklist of doctor", { timeout: 60_000 }, async () => {
    await using served = await serve(demoAgent, { store: createMemoryTaskStore() });
    const [smoke, doctor] = await Promise.all([
      runCommand(["smoke", served.url]),
      runCommand(["doctor", "--checklist", served.url, "-o", "json"]),
    ]);
    expect(smoke.stdout).toContain("10 ok, 0 skipped, 0 failed");
    expect(smoke.exitCode).toBe(0);
    const { checklist } = JSON.parse(doctor.stdout) as { checklist: ChecklistItem[] }; // our own
    // It is open to everybody, and nobody restarts it.
    const missed = checklist.filter(({ verdict }) => verdict !== "yes");
    expect(missed.map(({ id }) => id)).toEqual(["access", "durability"]);
  });

  it("names each skill's first word in its examples", () => {
    for (const { id, examples } of demoSkills) {
      expect(examples?.[0]?.split(" ")[0]).toBe(id);
    }
  });
});

describe("the sample files", () => {
  it("are a PNG of 64 by 64 and a CSV", () => {
    const png = Buffer.from(samplePng);
    expect(png.subarray(1, 4).toString()).toBe("PNG");
    expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([64, 64]);
    expect(png.subarray(-8, -4).toString()).toBe("IEND");
    expect(new TextDecoder().decode(sampleCsv).trimEnd().split("\n")).toHaveLength(5);
  });
});
