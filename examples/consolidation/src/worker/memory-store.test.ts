import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { Fact } from "./fact.ts";
import type { Decision } from "./memory.ts";
import { openMemoryStore } from "./memory-store.ts";

const fact: Fact = {
  subject: "Robert'); drop table fact; --",
  about: "person",
  predicate: "lives_in",
  value: "Lund",
  evidence: {
    transcript: "t1",
    turn: 2,
    at: "2025-01-01T00:00:00.000Z",
    saidBy: "Ada",
    quote: "I live in Lund.",
    firsthand: true,
    change: false,
  },
};

const decision: Decision = {
  subject: "Ada",
  predicate: "diet",
  value: undefined,
  rejected: ["vegan", "vegetarian"],
  upTo: "2025-01-01T00:00:00.000Z",
};

function temporaryFile(): string {
  const directory = mkdtempSync(join(tmpdir(), "a2a-memories-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, "deep", "memories.sqlite");
}

it("keeps what was saved, over restarts", () => {
  const file = temporaryFile();
  {
    using store = openMemoryStore(file);
    expect(store.load()).toEqual({ facts: [], decisions: [] });
    store.save("task-1", { facts: [fact], decisions: [decision] });
  }
  using store = openMemoryStore(file);
  expect(store.load()).toEqual({ facts: [fact], decisions: [decision] });
});

it("saves a task once, and adds what other tasks have found that is new", () => {
  using store = openMemoryStore(temporaryFile());
  store.save("task-1", { facts: [fact], decisions: [decision] });
  store.save("task-1", { facts: [{ ...fact, value: "Malmö" }], decisions: [decision] });
  expect(store.load()).toEqual({ facts: [fact], decisions: [decision] });
  const other = { ...fact, value: "Kiel" };
  store.save("task-2", { facts: [fact, other], decisions: [] });
  expect(store.load()).toEqual({ facts: [fact, other], decisions: [decision] });
});

it("saves all of a task or nothing", () => {
  using store = openMemoryStore(temporaryFile());
  const broken = { ...fact, evidence: { ...fact.evidence, turn: 1.5 } };
  expect(() => store.save("task-1", { facts: [fact, broken], decisions: [] })).toThrow();
  expect(store.load().facts).toEqual([]);
  store.save("task-1", { facts: [fact], decisions: [] });
  expect(store.load().facts).toEqual([fact]);
});
