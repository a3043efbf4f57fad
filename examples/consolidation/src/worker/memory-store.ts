import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Fact } from "./fact.ts";
import type { Decision, MemorySet } from "./memory.ts";

/** Where memory sets live on after their task. */
export interface MemoryStore extends Disposable {
  /** Everything that has been saved. */
  load(): MemorySet;
  /**
   * Adds what a task has found, all of it or nothing. A task is saved once: whoever repeats it, after a crash, changes
   * nothing. Two tasks at a time do not disturb each other, since nothing is ever replaced.
   */
  save(taskId: string, added: MemorySet): void;
}

const schema = `
  pragma journal_mode = wal;
  create table if not exists task (id text primary key) strict;
  create table if not exists fact (
    subject text not null, about text not null, predicate text not null, value text not null,
    transcript text not null, turn integer not null, at text not null, said_by text not null, quote text not null,
    firsthand integer not null, change integer not null, task text not null,
    unique (subject, predicate, value, transcript, turn)
  ) strict;
  create table if not exists decision (
    subject text not null, predicate text not null, value text, rejected text not null, up_to text not null,
    task text not null
  ) strict;
`;

/** @param file an SQLite file of its own; made when it is not there */
export function openMemoryStore(file: string): MemoryStore {
  mkdirSync(dirname(file), { recursive: true });
  const database = new DatabaseSync(file);
  database.exec(schema);
  return {
    load: () => ({
      facts: database.prepare("select * from fact order by rowid").all().map(toFact),
      decisions: database.prepare("select * from decision order by rowid").all().map(toDecision),
    }),
    save(taskId, added) {
      database.exec("begin immediate");
      try {
        const { changes } = database.prepare("insert or ignore into task values (?)").run(taskId);
        if (changes === 1) {
          insert(database, taskId, added);
        }
        database.exec("commit");
      } catch (error) {
        database.exec("rollback");
        throw error;
      }
    },
    [Symbol.dispose]: () => database.close(),
  };
}

function insert(database: DatabaseSync, taskId: string, { facts, decisions }: MemorySet): void {
  const addFact = database.prepare(`insert or ignore into fact values (${Array(12).fill("?").join()})`);
  for (const { subject, about, predicate, value, evidence } of facts) {
    const { transcript, turn, at, saidBy, quote, firsthand, change } = evidence;
    const source = [transcript, turn, at, saidBy, quote, Number(firsthand), Number(change)];
    addFact.run(subject, about, predicate, value, ...source, taskId);
  }
  const addDecision = database.prepare("insert into decision values (?, ?, ?, ?, ?, ?)");
  for (const { subject, predicate, value, rejected, upTo } of decisions) {
    addDecision.run(subject, predicate, value ?? null, JSON.stringify(rejected), upTo, taskId);
  }
}

type Row = ReturnType<ReturnType<DatabaseSync["prepare"]>["all"]>[number];

function toFact(row: Row): Fact {
  return {
    subject: String(row["subject"]),
    about: row["about"] === "person" ? "person" : "arrangement",
    predicate: String(row["predicate"]),
    value: String(row["value"]),
    evidence: {
      transcript: String(row["transcript"]),
      turn: Number(row["turn"]),
      at: String(row["at"]),
      saidBy: String(row["said_by"]),
      quote: String(row["quote"]),
      firsthand: row["firsthand"] === 1,
      change: row["change"] === 1,
    },
  };
}

function toDecision(row: Row): Decision {
  return {
    subject: String(row["subject"]),
    predicate: String(row["predicate"]),
    value: row["value"] === null ? undefined : String(row["value"]),
    rejected: JSON.parse(String(row["rejected"])) as string[], // only `insert` writes it
    upTo: String(row["up_to"]),
  };
}
