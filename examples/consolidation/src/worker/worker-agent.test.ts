import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { json } from "@a2a-connect/core";
import { type ServeOptions, serve } from "@a2a-connect/node";
import {
  connectAgent,
  type Question,
  type RunOptions,
  TaskFailedError,
  TaskRejectedError,
} from "@a2a-connect/node/client";
import { createMemoryTaskStore } from "@a2a-connect/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { tellProgress } from "../orchestrator/tell.ts";
import type { Extractor } from "./extractor.ts";
import type { Fact } from "./fact.ts";
import { openMemoryStore } from "./memory-store.ts";
import { ruleExtractor } from "./rules/rule-extractor.ts";
import { createWorkerAgent } from "./worker-agent.ts";

/** A worker on a memory of its own, and what a caller does with it. */
async function startWorker(extractor: Extractor = ruleExtractor, limits: ServeOptions["limits"] = {}) {
  const directory = mkdtempSync(join(tmpdir(), "a2a-worker-"));
  const memories = openMemoryStore(join(directory, "memories.sqlite"));
  const served = await serve(createWorkerAgent({ extractor, memories }), {
    store: createMemoryTaskStore(),
    limits,
  });
  const agent = await connectAgent(served.url);
  onTestFinished(async () => {
    await agent.close();
    await served.close({ graceMs: 0 });
    memories[Symbol.dispose]();
    rmSync(directory, { recursive: true, force: true });
  });
  return {
    memories,
    /** Hands over what Ada said on that day of January; `answer` is given to every question. */
    async say(day: number, said: readonly string[], answer = "", options: RunOptions = {}) {
      const questions: Question[] = [];
      const result = await agent.run([json(adaSays(day, said))], {
        skill: "consolidate",
        onInputRequired(question) {
          questions.push(question);
          return answer;
        },
        ...options,
      });
      return { result, questions, report: result.artifact("report").text() };
    },
    send: (value: Parameters<typeof json>[0]) => agent.run([json(value)], { skill: "consolidate" }),
  };
}

const adaSays = (day: number, said: readonly string[]) => ({
  id: `t${day}`,
  startedAt: `2025-01-0${day}T10:00:00Z`,
  turns: said.map((text) => ({ speaker: "Ada Byron", text })),
});

/** One person says where another one lives. */
function statement(subject: string, value: string, turn: number): Fact {
  const evidence = {
    transcript: "another",
    turn,
    at: "2025-01-01T00:00:00.000Z",
    saidBy: "Mallory",
    quote: `${subject} lives ${value}. `.padEnd(200, "!"),
    firsthand: false,
    change: false,
  };
  return { subject, about: "person", predicate: "lives_in", value, evidence };
}

describe("the worker", () => {
  it("refuses what is no batch, saying why, and has done nothing", async () => {
    const { send } = await startWorker();
    const refusal = await send({ transcripts: [{ id: "t" }] }).catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(TaskRejectedError);
    expect(refusal).toMatchObject({ reason: "bad-batch" });
    expect(String(refusal)).toContain("transcripts[0].startedAt is a text");
  });

  it("tells its progress, and streams the facts of each transcript", async () => {
    const { say } = await startWorker();
    const seen: string[] = [];
    await say(1, ["I live in Lund.", "I play the cello."], "", {
      onArtifact: ({ artifact, append, lastChunk }) => {
        seen.push(`${artifact?.artifactId} ${append ? "chunk" : "new"}${lastChunk ? " last" : ""}`);
      },
      onProgress: (update) => tellProgress(update, (line) => seen.push(line.replace(/ +/, " "))),
    });
    expect(seen).toEqual(["facts new last", "90% t1: 2 found", "memories new last", "report new last"]);
  });

  it("asks about what contradicts what it knew already, for people and for programs", async () => {
    const { say } = await startWorker();
    const first = await say(1, ["I live in Lund."]);
    expect(first.questions).toEqual([]);
    const { questions, report } = await say(2, ["I live in Malmö."], "malmö");
    expect(questions).toHaveLength(1);
    expect(questions[0]?.text).toContain(
      "Ada Byron, lives in?\n  Lund: “I live in Lund.” (Ada Byron, 2025-01-01, t1, turn 1)",
    );
    expect(questions[0]).toMatchObject({
      choices: ["Lund", "Malmö", "neither"],
      details: { kind: "contradiction", subject: "Ada Byron", predicate: "lives_in" },
    });
    expect(report).toContain("lives in: Malmö");
    const third = await say(3, ["I live in Malmö, as I said."]);
    expect(third.questions).toEqual([]);
    expect(third.report).toContain("lives in: Malmö (2 times)");
  });

  it("asks again for an answer that is no choice", async () => {
    const { say } = await startWorker();
    const asked: string[] = [];
    await say(1, ["I live in Lund.", "I live in Malmö."], "", {
      onInputRequired({ text }) {
        asked.push(text);
        return asked.length === 1 ? "Paris" : "neither";
      },
    });
    expect(asked).toHaveLength(2);
    expect(asked[1]).toMatch(/^Please answer with one of: Lund, Malmö, neither\./);
  });

  it("works with any extractor, and tries again when it has failed", async () => {
    let calls = 0;
    const { say } = await startWorker({
      async extract(transcript, signal) {
        if (++calls === 1) throw new Error("overloaded");
        const facts = await ruleExtractor.extract(transcript, signal);
        return facts.map((fact) => ({ ...fact, predicate: "home_town", value: ` ${fact.value}\u001b[31m ` }));
      },
    });
    const { report } = await say(1, ["I live in Lund."]);
    expect(calls).toBe(2);
    expect(report).toContain("  home town: Lund\n");
  });

  it("knows people by their first names whom earlier tasks have heard of", async () => {
    const { say, memories } = await startWorker();
    await say(1, ["My sister's name is Maya Lind. I live in Lund.", "Maya Lind plays the cello."]);
    await say(2, ["Maya works for Studio Forma."]);
    const maya = memories.load().facts.filter(({ subject }) => subject === "Maya Lind");
    expect(maya.map(({ predicate }) => predicate)).toEqual(["plays", "works_at"]);
  });

  describe("whose memory others have filled", () => {
    /** More than the result of a step may have. */
    const filled = Array.from({ length: 5_000 }, (_, turn) => statement("Nobody", `in ${turn} places`, turn));

    it("works as before, and tells only what a batch speaks of", async () => {
      const { say, memories } = await startWorker();
      memories.save("another task", { facts: filled, decisions: [] });
      const { result } = await say(1, ["I play the cello."]);
      expect(result.artifact("memories").json()).toMatchObject({ memories: [{ subject: "Ada Byron" }] });
    });

    it("asks about no more than the newest of what they have said", async () => {
      const { say, memories } = await startWorker();
      memories.save("another task", {
        facts: filled.map((fact) => ({ ...fact, subject: "Ada Byron" })),
        decisions: [],
      });
      const { questions, report } = await say(9, ["I live in Lund."], "Lund");
      expect(questions[0]?.choices).toHaveLength(12); // ten, hers, and neither
      expect(report).toContain("lives in: Lund");
    });
  });

  it("refuses more facts than a batch may have, and saves none of them", async () => {
    const { say, memories } = await startWorker();
    const refusal = await say(1, Array(41).fill("I speak A1, B1. ".replaceAll("1", "a").repeat(25))).catch(
      (error: unknown) => error,
    );
    expect(refusal).toMatchObject({ reason: "too-many-facts" });
    expect(String(refusal)).toContain("more than 1000 facts");
    expect(memories.load().facts).toEqual([]);
  });

  it("saves nothing of a task whose result is too large", async () => {
    const { say, memories } = await startWorker(ruleExtractor, { maxTaskBytes: 40_000 });
    const failure = await say(1, ["I speak Aa, Bb, Cc, Dd, Ee, Ff."]).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(TaskFailedError);
    expect(memories.load().facts).toEqual([]);
  });
});
