import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Fact } from "./fact.ts";
import type { Decision, MemorySet } from "./memory.ts";
import { firstName } from "./people.ts";
import { foldText } from "./plain-text.ts";
import { topicKey } from "./topics.ts";

/** Where memory sets live on after their task. */
export interface MemoryStore extends Disposable {
  /** Everything that has been saved: more than a task should read. */
  load(): MemorySet;
  /** How many tasks have been saved. What the first of them have saved stays as it is. */
  countTasks(): number;
  /**
   * What the first `tasks` tasks have saved about a topic (`topicKey`), oldest first: its newest statements and
   * decisions, and one statement of the value that was decided on last, however old.
   *
   * @param newest how many of each at most
   */
  recall(topic: string, tasks: number, newest: number): MemorySet;
  /**
   * Whole names of people whom a name may mean, of those whom the first `tasks` tasks have saved something about. Of
   * people with the same first name two are enough: it is unclear then who is meant.
   */
  findPeople(name: string, tasks: number): readonly string[];
  /**
   * Adds what a task has found, all of it or nothing. A task is saved once: whoever repeats it, after a crash, changes
   * nothing. Two tasks at a time do not disturb each other, since nothing is ever replaced.
   */
  save(taskId: string, added: MemorySet): void;
}

const schema = `
  pragma journal_mode = wal;
  create table if not exists task (number integer primary key, id text not null unique) strict;
  create table if not exists fact (
    subject text not null, about text not null, predicate text not null, value text not null,
    transcript text not null, turn integer not null, at text not null, said_by text not null, quote text not null,
    firsthand integer not null, change integer not null, task text not null, topic text not null,
    unique (subject, predicate, value, transcript, turn)
  ) strict;
  create table if not exists decision (
    subject text not null, predicate text not null, value text, rejected text not null, up_to text not null,
    task text not null, topic text not null
  ) strict;
  create table if not exists person (
    folded text primary key, first_name text not null, name text not null, task text not null
  ) strict;
  create index if not exists fact_topic on fact (topic, at);
  create index if not exists fact_value on fact (topic, value, at);
  create index if not exists decision_topic on decision (topic);
  create index if not exists person_first_name on person (first_name);
`;

/** Rows of a table that the first tasks have saved. */
const savedBy = (table: string) =>
  `select * from ${table} where (select number from task where id = ${table}.task) <= :tasks`;

const newestFacts = `${savedBy("fact")} and topic = :topic order by at desc, rowid desc limit :newest`;
const newestFactWithValue = `${savedBy("fact")} and topic = :topic and value = :value order by at desc limit 1`;
const newestDecisions = `${savedBy("decision")} and topic = :topic order by rowid desc limit :newest`;
const peopleNamed = `${savedBy("person")} and folded = :name`;
const peopleCalled = `${savedBy("person")} and first_name = :name and folded <> :name order by rowid limit 2`;

/** @param file an SQLite file of its own; made when it is not there */
export function openMemoryStore(file: string): MemoryStore {
  mkdirSync(dirname(file), { recursive: true });
  const database = new DatabaseSync(file);
  if (database.prepare("select 1 from sqlite_schema where name = 'fact' and sql not like '%topic%'").get()) {
    throw new Error(
      `${file} is of an older version of this example: remove it, and hand over the transcripts again.`,
    );
  }
  database.exec(schema);
  return {
    load: () => ({
      facts: database.prepare("select * from fact order by rowid").all().map(toFact),
      decisions: database.prepare("select * from decision order by rowid").all().map(toDecision),
    }),
    countTasks: () => Number(database.prepare("select max(number) as count from task").get()?.["count"] ?? 0),
    recall(topic, tasks, newest) {
      const decisions = database
        .prepare(newestDecisions)
        .all({ topic, tasks, newest })
        .map(toDecision)
        .toReversed();
      const value = decisions.at(-1)?.value ?? "";
      const facts = [
        ...database.prepare(newestFactWithValue).all({ topic, value, tasks }),
        ...database.prepare(newestFacts).all({ topic, tasks, newest }).toReversed(),
      ];
      return { facts: facts.map(toFact), decisions };
    },
    findPeople(name, tasks) {
      const found = [peopleNamed, peopleCalled].flatMap((query) =>
        database.prepare(query).all({ name: foldText(name), tasks }),
      );
      return found.map((row) => String(row["name"]));
    },
    save(taskId, added) {
      database.exec("begin immediate");
      try {
        const { changes } = database.prepare("insert or ignore into task (id) values (?)").run(taskId);
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
  const addFact = database.prepare(`insert or ignore into fact values (${Array(13).fill("?").join()})`);
  const addPerson = database.prepare("insert or ignore into person values (?, ?, ?, ?)");
  for (const fact of facts) {
    const { subject, about, predicate, value, evidence } = fact;
    const { transcript, turn, at, saidBy, quote, firsthand, change } = evidence;
    const source = [transcript, turn, at, saidBy, quote, Number(firsthand), Number(change)];
    addFact.run(subject, about, predicate, value, ...source, taskId, topicKey(fact));
    if (about === "person") {
      const folded = foldText(subject);
      addPerson.run(folded, firstName(folded), subject, taskId);
    }
  }
  const addDecision = database.prepare("insert into decision values (?, ?, ?, ?, ?, ?, ?)");
  for (const decision of decisions) {
    const { subject, predicate, value, rejected, upTo } = decision;
    const what = [subject, predicate, value ?? null, JSON.stringify(rejected), upTo];
    addDecision.run(...what, taskId, topicKey(decision));
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
