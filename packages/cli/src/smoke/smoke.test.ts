import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ServedAgent, serve } from "@a2a-connect/node";
import { createMemoryTaskStore, defineAgent } from "@a2a-connect/server";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { linesOf } from "../../test-support/fields.ts";
import { runCommand, startCommand } from "../../test-support/run-command.ts";
import { readTargets } from "./read-targets.ts";
import type { SmokeResult } from "./run-smoke.ts";

const examples = ["work", "reply", "ask", "auth", "fail", "reject", "hang", ""];

/** A skill for each way that an example can end. */
const agent = defineAgent({
  card: {
    name: "All kinds",
    description: "Ends in every way there is.",
    skills: examples.map((example) => ({
      id: example || "silent",
      name: example || "silent",
      description: "One way to end.",
      examples: example === "" ? [] : [example],
    })),
  },
  lifecycle: { asks: true, asksForAuth: true },
  async *execute(turn) {
    switch (turn.text) {
      case "reply":
        return yield turn.reply("Here.");
      case "ask":
        return yield turn.inputRequired("Which?");
      case "auth":
        return yield turn.authRequired("Sign in.");
      case "fail":
        return yield turn.fail("It broke.", { reason: "on-purpose" });
      case "reject":
        return yield turn.reject("Not here.", { reason: "no" });
      case "hang":
        yield turn.working("hanging");
        await new Promise((resolve) => turn.signal.addEventListener("abort", resolve, { once: true }));
        return;
      default:
        return yield turn.artifact({ name: "result", text: "done" });
    }
  },
});

const works = defineAgent({
  card: { name: "Works", skills: [{ id: "work", name: "Work", description: "Works.", examples: ["work"] }] },
  async *execute(turn) {
    yield turn.artifact({ name: "result", text: "done" });
  },
});

let mixed: ServedAgent;
let good: ServedAgent;
let directory: string;

beforeAll(async () => {
  mixed = await serve(agent, { store: createMemoryTaskStore() });
  good = await serve(works, { store: createMemoryTaskStore() });
});

afterAll(async () => {
  await mixed.close({ graceMs: 0, timeoutMs: 1_000 });
  await good.close({ graceMs: 0, timeoutMs: 1_000 });
});

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "a2a-smoke-"));
});

afterEach(async () => {
  await rm(directory, { recursive: true });
});

async function file(name: string, text: string): Promise<string> {
  const path = join(directory, name);
  await writeFile(path, text);
  return path;
}

describe("a2a smoke", () => {
  it("tells how each skill took its first example, and exits with 1 when one does not work", async () => {
    const argv = ["smoke", mixed.url, "--skill-timeout", "3s", "-o", "json"];
    const { stdout, exitCode } = await runCommand(argv);
    const { results, summary } = JSON.parse(stdout) as { results: SmokeResult[]; summary: object }; // our own
    const seen = Object.fromEntries(results.map(({ skill, outcome, ok }) => [skill, `${outcome} ${ok}`]));
    expect(seen).toEqual({
      work: "completed true",
      reply: "answered true",
      ask: "asks true",
      auth: "wants-auth true",
      fail: "failed false",
      reject: "rejected false",
      hang: expect.stringMatching(/^(timeout|canceled) false$/),
      silent: "skipped true",
      undefined: "operations true",
    });
    expect(results.find(({ skill }) => skill === "fail")).toMatchObject({
      reason: "on-purpose",
      sentence: "It broke.",
    });
    expect(summary).toEqual({ ok: 5, skipped: 1, failed: 3 });
    expect(exitCode).toBe(1);
  });

  it("leaves no question open", async () => {
    const skills = [{ id: "ask", name: "Ask", description: "Asks.", examples: ["ask"] }];
    const asks = defineAgent({ ...agent, card: { name: "Asks", skills } });
    await using served = await serve(asks, { store: createMemoryTaskStore() });
    const { stdout } = await runCommand(["smoke", served.url, "-o", "json"]);
    const { results } = JSON.parse(stdout) as { results: SmokeResult[] }; // our own
    const taskId = results.find(({ skill }) => skill === "ask")?.taskId ?? "";
    const task = await runCommand(["task", "get", taskId, "-a", served.url, "-o", "json"]);
    expect(JSON.parse(task.stdout)).toMatchObject({ status: { state: "TASK_STATE_CANCELED" } });
  });

  it("prints a line a skill, and exits with 0 when all work", async () => {
    const { stdout, exitCode } = await runCommand(["smoke", good.url]);
    expect(stdout).toMatch(
      /^OK: http:\/\/localhost:\d+ {2}- {2}operations {2}\d+ms\nOK: http:\/\/localhost:\d+ {2}work {2}completed {2}\d+ms\nSummary: 2 ok, 0 skipped, 0 failed\n$/,
    );
    expect(exitCode).toBe(0);
  });

  it("goes on after an agent that cannot be reached", async () => {
    const { stdout, exitCode } = await runCommand([
      "smoke",
      "https://no-such-agent.invalid",
      good.url,
      "-o",
      "json",
      "--stream",
    ]);
    const lines = linesOf(stdout);
    expect(lines).toContainEqual(
      expect.objectContaining({
        agent: "https://no-such-agent.invalid",
        ok: false,
        reason: "A2ACLI_ERR_UNREACHABLE",
      }),
    );
    expect(lines).toContainEqual(expect.objectContaining({ agent: good.url, skill: "work", ok: true }));
    expect(lines.at(-1)).toEqual({ summary: { ok: 2, skipped: 0, failed: 1 } });
    expect(exitCode).toBe(1);
  });

  it("tries the agents of a2a.config.yaml when nothing is given", async () => {
    await file(
      "a2a.config.yaml",
      `agents:\n  first: { url: "${good.url}" }\n  second: { url: "${good.url}" }\n`,
    );
    const { stdout } = await runCommand(["smoke"], { cwd: directory });
    expect(stdout).toMatch(/first {2}work/);
    expect(stdout).toMatch(/second {2}work/);
    expect(stdout).toContain("4 ok");
  });

  it("sends one credential to one agent only", async () => {
    const { exitCode, stderr } = await runCommand(["smoke", good.url, mixed.url], {
      env: { A2ACLI_BEARER: "s3cret" },
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain("a2a.config.yaml");
    expect(stderr).not.toContain("s3cret");
  });

  it("ends at once when it is interrupted", async () => {
    const command = startCommand(["smoke", mixed.url, "--concurrency", "8"]);
    await command.waitFor(/work {2}completed/);
    command.interrupt();
    expect((await command.result).exitCode).toBe(130);
  });
});

describe("a skill that is tagged expected-failure", () => {
  const refusing = (end: "reject" | "complete") =>
    defineAgent({
      card: {
        name: "Refuses",
        skills: [
          {
            id: "limits",
            name: "Limits",
            description: "Shows what is refused.",
            tags: ["expected-failure"],
            examples: ["too much"],
          },
        ],
      },
      *execute(turn) {
        yield end === "reject" ? turn.reject("Too much.", { reason: "limit" }) : turn.complete("Taken.");
      },
    });

  for (const [end, exitCode, line] of [
    ["reject", 0, /^OK: .*limits {2}rejected/m],
    ["complete", 1, /^Failed: .*limits {2}completed .*expected-failure/m],
  ] as const) {
    it(`has to fail, so ${end} gives exit code ${exitCode}`, async () => {
      await using served = await serve(refusing(end), { store: createMemoryTaskStore() });
      const result = await runCommand(["smoke", served.url]);
      expect(result.stdout).toMatch(line);
      expect(result.exitCode).toBe(exitCode);
    });
  }
});

describe("a list of agents", () => {
  for (const [what, name, text, expected] of [
    [
      "lines",
      "list.txt",
      "# ours\nhttps://a.example\n\nb.example:8080  # staging\nlegal\n",
      ["https://a.example", "b.example:8080", "legal"],
    ],
    ["a YAML list", "list.yaml", "- https://a.example\n- legal\n", ["https://a.example", "legal"]],
    ["a JSON list", "list.json", '["a.example", "legal"]', ["a.example", "legal"]],
    ["the same twice", "list", "a.example\na.example\n", ["a.example"]],
    [
      "the agents of a2a.config.yaml",
      "a2a.config.yaml",
      "agents:\n  one: { url: a.example }\n  two: { url: b.example }\n",
      ["one", "two"],
    ],
  ] as const) {
    it(`may be ${what}`, async () => {
      await file(name, text);
      expect(await readTargets([name], { cwd: directory })).toEqual(expected);
    });
  }

  for (const [what, name, text, sentence] of [
    ["empty", "list", "# nothing\n", "no agent"],
    ["of something else", "list.yaml", "- url: a\n", "entry 1"],
    ["broken", "list.yaml", "- [\n", "not valid YAML"],
    [
      "another project's",
      "elsewhere.yaml",
      "agents:\n  one: { url: a.example }\n",
      "not the a2a.config.yaml that applies in this directory",
    ],
  ] as const) {
    it(`is refused when it is ${what}`, async () => {
      await file(name, text);
      await expect(readTargets([name], { cwd: directory })).rejects.toThrow(sentence);
    });
  }

  for (const name of ["nosuch.txt", "lists/nosuch.yaml", "nosuch.yml"]) {
    it(`is refused when there is no file ${name}, which no host is called`, async () => {
      await expect(readTargets([name], { cwd: directory })).rejects.toThrow(`there is no file`);
    });
  }

  it("leaves a card file what it is", async () => {
    await file("card.json", "{}");
    expect(await readTargets(["card.json"], { cwd: directory })).toEqual(["card.json"]);
  });
});
