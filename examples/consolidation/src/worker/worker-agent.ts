import { json } from "@a2a-connect/core";
import { type AgentDefinition, type DurableEvent, type DurableTask, defineAgent } from "@a2a-connect/server";
import type { JsonObject } from "@bufbuild/protobuf";
import { toQuestion } from "./clash-question.ts";
import { decide, findContradictions, toMemories } from "./contradictions.ts";
import { type Extractor, maxFacts } from "./extractor.ts";
import type { Fact } from "./fact.ts";
import type { Decision, Memory, MemorySet } from "./memory.ts";
import type { MemoryStore } from "./memory-store.ts";
import { type Recalled, recall } from "./recall.ts";
import { writeReport } from "./report.ts";
import { createSlices } from "./slices.ts";
import { BatchError, type Transcript } from "./transcript.ts";
import { readBatch } from "./transcript-batch.ts";

/** What the worker works with. */
export interface WorkerParts {
  readonly extractor: Extractor;
  readonly memories: MemoryStore;
  /** Rest after each transcript, so that there is time to watch, and to `kill -9`. Default none. */
  readonly paceMs?: number;
}

/** Somebody has to be found who knows; a day is enough. */
const patienceMs = 86_400_000;

/**
 * The agent that makes a memory set out of conversations (README.md). It is durable: what it has extracted, saved and
 * been told, it is not doing, saving or asking again, however often its process dies.
 */
export function createWorkerAgent(parts: WorkerParts): AgentDefinition {
  return defineAgent({
    card: {
      name: "Memory consolidator",
      description:
        "Reads conversation transcripts, extracts facts about people and arrangements, merges duplicates, asks which " +
        "of two contradicting facts is right, and keeps the result with its evidence.",
      version: "1.0.0",
      skills: [
        {
          id: "consolidate",
          name: "Consolidate",
          description:
            "Takes transcripts as JSON: { id, startedAt, turns: [{ speaker, text }] }, in data parts or files. Gives " +
            "the artifacts `facts` (as they are found), `memories` (JSON: what is known about what they speak of) and " +
            "`report` (text).",
          tags: ["memory", "extraction"],
          inputModes: ["application/json", "text/plain"], // text: answers to its questions
          outputModes: ["application/json", "text/plain"],
          examples: [
            '{ "transcripts": [{ "id": "t1", "startedAt": "2025-01-11T19:20:00Z", "turns": [{ "speaker": "Ada", "text": "I play the cello." }] }] }',
          ],
        },
      ],
    },
    lifecycle: { asks: true, reportsProgress: true },
    inputTimeoutMs: patienceMs,
    durable: true,
    whileWorking: "refuse",
    execute: (task) => consolidate(task, parts),
  });
}

async function* consolidate(task: DurableTask, parts: WorkerParts): AsyncGenerator<DurableEvent> {
  const transcripts = readOrExplain(task);
  if (typeof transcripts === "string") {
    return yield task.reject(transcripts, { reason: "bad-batch" });
  }
  const extracted = yield* extractAll(task, transcripts, parts);
  if (extracted.length > maxFacts) {
    const sentence = `These transcripts have more than ${maxFacts} facts: send fewer at a time.`;
    return yield task.reject(sentence, { reason: "too-many-facts" });
  }
  const nextPiece = createSlices(task.signal);
  const { facts, unclear, known } = await recallAll(task, transcripts, extracted, parts.memories, nextPiece);
  const all = [...known.facts, ...facts];
  await nextPiece();
  const decisions = yield* askAll(task, { facts: all, decisions: known.decisions });

  await nextPiece();
  const memories = toMemories({ facts: all, decisions: [...known.decisions, ...decisions] });
  yield task.artifact({
    id: "memories",
    name: "memories",
    data: { memories: memories.map(toJson) },
    last: true,
  });
  await nextPiece();
  const counts = { transcripts: transcripts.length, extracted: extracted.length, asked: decisions.length };
  yield task.artifact({
    id: "report",
    name: "report",
    text: writeReport({ ...counts, unclear, memories }),
    last: true,
  });
  // Only now: what comes of a task that has failed must not be in memory.
  await nextPiece();
  await task.step("save", () => parts.memories.save(task.taskId, { facts, decisions }), { retries: 3 });
  yield task.complete(`Consolidated ${transcripts.length} transcripts into ${memories.length} memories.`);
}

function readOrExplain({ message }: DurableTask): readonly Transcript[] | string {
  try {
    return readBatch(message);
  } catch (error) {
    if (error instanceof BatchError) {
      return error.message;
    }
    throw error;
  }
}

/** One step, one chunk of `facts` and one report of progress for each transcript. */
async function* extractAll(
  task: DurableTask,
  transcripts: readonly Transcript[],
  { extractor, paceMs = 0 }: WorkerParts,
): AsyncGenerator<DurableEvent, readonly Fact[]> {
  const all: Fact[] = [];
  for (const [index, transcript] of transcripts.entries()) {
    const extract = async ({ signal }: { signal: AbortSignal }) =>
      (await extractor.extract(transcript, signal)).slice(0, maxFacts + 1);
    const found = await task.step("extract", extract, { retries: 3 });
    all.push(...found);
    if (all.length > maxFacts) {
      return all;
    }
    const done = index + 1;
    const last = done === transcripts.length;
    yield task.append("facts", json({ transcript: transcript.id, facts: found.map(toJson) }), { last });
    yield task.working(`${transcript.id}: ${found.length} found`, {
      progress: (0.9 * done) / transcripts.length,
    });
    if (paceMs > 0) {
      await task.sleep(paceMs);
    }
  }
  return all;
}

/**
 * What is known is read outside of a step, whose result would be stored once more. A step gives the point up to which
 * it is read: since nothing that was saved ever changes, every run of the task reads the same.
 */
async function recallAll(
  task: DurableTask,
  transcripts: readonly Transcript[],
  facts: readonly Fact[],
  memories: MemoryStore,
  nextPiece: () => Promise<void>,
): Promise<Recalled> {
  const tasks = await task.step("count", () => memories.countTasks());
  const speakers = transcripts.flatMap(({ turns }) => turns.map(({ speaker }) => speaker));
  return recall(memories, facts, speakers, tasks, nextPiece);
}

async function* askAll(task: DurableTask, set: MemorySet): AsyncGenerator<DurableEvent, readonly Decision[]> {
  const decisions: Decision[] = [];
  const contradictions = findContradictions(set);
  for (const [index, contradiction] of contradictions.entries()) {
    const answer = yield* task.ask(toQuestion(contradiction, index + 1, contradictions.length));
    decisions.push(decide(contradiction, answer.text));
  }
  return decisions;
}

/** Facts and memories are plain JSON but for their types. */
function toJson(value: Fact | Memory): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject; // what was plain stays plain
}
