import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { Fact } from "./fact.ts";
import { openMemoryStore } from "./memory-store.ts";
import { recall } from "./recall.ts";

const said = { transcript: "t1", turn: 1, saidBy: "Ada", quote: "…", firsthand: false, change: false };

/** The fact that a person lived in a place on that day. */
function lived(subject: string, day: number): Fact {
  const evidence = { ...said, at: `2025-01-${10 + day}T00:00:00.000Z` };
  return { subject, about: "person", predicate: "lives_in", value: `Town ${day}`, evidence };
}

it("looks up fewer statements of each topic where a batch has many", async () => {
  const directory = mkdtempSync(join(tmpdir(), "a2a-recall-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  using memories = openMemoryStore(join(directory, "memories.sqlite"));
  const subjects = Array.from({ length: 1_000 }, (_, number) => `Person ${number}`);
  const days = Array.from({ length: 12 }, (_, day) => day);
  const facts = subjects.flatMap((subject) => days.map((day) => lived(subject, day)));
  memories.save("task-1", { facts, decisions: [] });
  const known = async (count: number) => {
    const batch = subjects.slice(0, count).map((subject) => lived(subject, 15));
    return (await recall(memories, batch, [], 1, async () => {})).known.facts.length;
  };
  expect(await known(1)).toBe(10);
  expect(await known(300)).toBe(3_000);
  expect(await known(1_000)).toBe(3_000);
});
