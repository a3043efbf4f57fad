// A worker that dies in the middle, again and again, and an orchestrator that does: what comes of it is what would have
// come of it anyway, and nothing is done, asked or saved twice.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import {
  consolidate,
  preferNewer,
  readTranscriptFiles,
  workerConnection,
} from "@a2a-connect/consolidation/orchestrator";
import { connectAgent } from "@a2a-connect/node/client";
import { Role, type Task } from "@a2a-connect/proto";
import { describe, expect, it, onTestFinished } from "vitest";
import { createRandom } from "../faults/random.ts";
import { readTranscripts, transcriptDirectory } from "./transcripts.ts";
import { type MortalWorker, startMain, startWorker, temporaryDirectory } from "./worker-process.ts";

/** In the order in which they are worked on: oldest first. */
const ids = readTranscripts()
  .toSorted((one, other) => Date.parse(one.startedAt) - Date.parse(other.startedAt))
  .map(({ id }) => id);
const contradictions = 9;

const seeds = Array.from({ length: process.env["A2A_LONG"] === "1" ? 20 : 1 }, (_, index) => index + 1);

/** Artifacts as text, and what the caller has said besides the batch. */
function outcomeOf({ artifacts, history }: Task) {
  const answers = history.filter(({ role }) => role === Role.USER).slice(1);
  return {
    artifacts: artifacts.map(({ artifactId, parts }) => [
      artifactId,
      parts.map(({ content }) => JSON.stringify(content)),
    ]),
    answers: answers.map(({ parts }) => parts.map(({ content }) => content.value).join("")),
  };
}

/** One run: hands over all transcripts and decides by the rule. */
async function run(
  worker: MortalWorker,
  watch: {
    tell?: (line: string) => void;
    beforeAnswer?: (number: number) => Promise<void>;
    signal?: AbortSignal;
  } = {},
) {
  await using agent = await connectAgent(worker.url, workerConnection);
  const asked: string[] = [];
  const task = await consolidate(agent, await readTranscriptFiles(transcriptDirectory), randomUUID(), {
    async resolve(clash) {
      asked.push(`${clash.subject} ${clash.predicate}`);
      await watch.beforeAnswer?.(asked.length);
      return preferNewer(clash);
    },
    tell: (line) => watch.tell?.(line),
    ...(watch.signal === undefined ? {} : { signal: watch.signal }),
  });
  return { ...outcomeOf(task), asked };
}

/** How often each transcript was extracted. */
function extractions(worker: MortalWorker): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const line of worker.sideEffects()) {
    const id = /^extract (.+)$/.exec(line)?.[1];
    if (id !== undefined) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

const savings = (worker: MortalWorker) =>
  worker.sideEffects().filter((line) => line.startsWith("save ")).length;

describe("a worker that is killed", () => {
  it.each(seeds)(
    "gives the memory set of an undisturbed run, and does nothing twice: seed %i",
    async (seed) => {
      const [undisturbed, worker] = await Promise.all([startWorker(0), startWorker(10)]);
      const expected = await run(undisturbed);
      expect(expected.asked).toHaveLength(contradictions);

      const random = createRandom(seed);
      const afterTranscripts = [random.between(1, 20), random.between(22, 45)];
      const beforeAnswers = [random.between(1, 4), random.between(5, contradictions)];
      const afterAnswer = random.between(1, contradictions);
      onTestFinished(({ task }) => {
        if (task.result?.state === "fail")
          console.info({ seed, afterTranscripts, beforeAnswers, afterAnswer });
      });
      const kills: Promise<void>[] = [];
      const broken = new AbortController(); // nobody need wait for a worker that does not come back
      const finished: string[] = [];
      /** Transcripts whose facts had arrived when the worker was killed, and how often they had been extracted by then. */
      const done: (readonly [id: string, count: number | undefined])[] = [];
      let answered = 0;
      const result = await run(worker, {
        signal: broken.signal,
        tell(line) {
          const id = /^\d+% +(\S+):/.exec(line)?.[1];
          if (id !== undefined) finished.push(id);
          const dies =
            (id !== undefined && afterTranscripts.includes(finished.length)) ||
            (line.startsWith("asked") && ++answered === afterAnswer);
          if (dies) {
            const counts = extractions(worker);
            done.push(...finished.map((id) => [id, counts.get(id)] as const));
            kills.push(worker.kill().catch((error: unknown) => broken.abort(error))); // and on with what was being done, as if nothing had happened
          }
        },
        async beforeAnswer(number) {
          await Promise.all(kills);
          if (beforeAnswers.includes(number)) await worker.kill();
        },
      }).finally(() => Promise.allSettled(kills)); // so that a run that fails leaves nothing behind

      expect(kills).toHaveLength(3);
      expect(result).toEqual(expected);
      expect(worker.memories()).toEqual(undisturbed.memories());
      expect(finished).toEqual(ids);
      const counts = extractions(worker);
      expect([...counts.keys()]).toEqual(ids);
      expect(done.map(([id]) => [id, counts.get(id)])).toEqual(done);
      // One may have been cut off by each kill between what it did and its commit.
      const repeated = [...counts.values()].reduce((sum, count) => sum + count - 1, 0);
      expect(repeated).toBeLessThanOrEqual(kills.length);
      expect(savings(worker)).toBe(1);
    },
    120_000,
  );
});

describe("the memory set", () => {
  it("has the same batch a second time without a question, and is the same afterwards", async () => {
    const worker = await startWorker(0);
    const first = await run(worker);
    const kept = worker.memories();
    const second = await run(worker);
    expect(second.asked).toEqual([]);
    expect(second.artifacts.find(([name]) => name === "memories")).toEqual(
      first.artifacts.find(([name]) => name === "memories"),
    );
    expect(worker.memories()).toEqual(kept);
  }, 60_000);
});

describe("an orchestrator that is killed", () => {
  it.each([
    ["while facts are extracted", /^\d+% +2\d-/],
    ["at a question", /^asked {3}Priya/],
  ])(
    "goes on with its task when it is started again: %s",
    async (_when, line) => {
      const worker = await startWorker(10);
      const state = join(temporaryDirectory(), "handover.json");
      const first = startMain("orchestrator", worker.url, "--state", state);
      const task = await first.line(/^task {4}(\S+)$/);
      await first.line(line);
      await first.kill();
      await worker.kill();
      const output = await startMain("orchestrator", worker.url, "--state", state).output();
      expect(output).toContain("Maya Lindqvist\n");
      expect(output).toMatch(/lives in +Lund/);
      expect(worker.sideEffects().filter((effect) => effect.startsWith("save"))).toEqual([`save ${task}`]);
      expect([...extractions(worker).keys()]).toEqual(ids);
    },
    60_000,
  );
});
