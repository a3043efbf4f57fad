import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
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

describe("about a topic", () => {
  const lives = (value: string, day: number) => ({
    ...fact,
    subject: "Ada",
    value,
    evidence: { ...fact.evidence, at: `2025-01-${day}T00:00:00.000Z`, turn: day },
  });
  const days = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index);

  it("tells the newest statements of the tasks until then, and that of the value that was decided on", () => {
    using store = openMemoryStore(temporaryFile());
    const decided = { ...decision, predicate: "lives_in", value: "Kiel" };
    const facts = [
      lives("Kiel", 10),
      lives("Lund", 11),
      ...days(12, 25).map((day) => lives("Malmö", day)),
      fact,
    ];
    store.save("task-1", { facts, decisions: [decided, decision] });
    const tasks = store.countTasks();
    store.save("task-2", { facts: [lives("Oslo", 28)], decisions: [decided] });
    expect(store.recall("ada lives_in", tasks, 10)).toEqual({
      facts: [lives("Kiel", 10), ...days(16, 25).map((day) => lives("Malmö", day))],
      decisions: [decided],
    });
    expect(store.recall("ada lives_in", store.countTasks(), 10).facts.at(-1)).toEqual(lives("Oslo", 28));
    expect(store.recall("ada lives_in", 0, 10)).toEqual({ facts: [], decisions: [] });
  });

  it("tells whom a name may mean, of people that tasks until then have known", () => {
    using store = openMemoryStore(temporaryFile());
    const of = (subject: string) => ({ ...fact, subject });
    store.save("task-1", { facts: [of("Ada Byron"), of("Tomás Herrera"), of("ADA BYRON")], decisions: [] });
    store.save("task-2", { facts: ["Ada", "Ada Lind", "Ada Berg"].map(of), decisions: [] });
    expect(store.findPeople("ada", 1)).toEqual(["Ada Byron"]);
    expect(store.findPeople("tomas herrera", 1)).toEqual(["Tomás Herrera"]);
    expect(store.findPeople("Ada", 2)).toEqual(["Ada", "Ada Byron", "Ada Lind"]);
    expect(store.findPeople("Byron", 2)).toEqual([]);
  });
});

it("refuses a file whose tables are older", () => {
  const file = temporaryFile();
  openMemoryStore(file)[Symbol.dispose]();
  using database = new DatabaseSync(file);
  database.exec("drop table fact; create table fact (subject text)");
  expect(() => openMemoryStore(file)).toThrow("older version");
});

it("saves all of a task or nothing", () => {
  using store = openMemoryStore(temporaryFile());
  const broken = { ...fact, evidence: { ...fact.evidence, turn: 1.5 } };
  expect(() => store.save("task-1", { facts: [fact, broken], decisions: [] })).toThrow();
  expect(store.load().facts).toEqual([]);
  store.save("task-1", { facts: [fact], decisions: [] });
  expect(store.load().facts).toEqual([fact]);
});
