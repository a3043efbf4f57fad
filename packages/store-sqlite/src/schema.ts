import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { TaskState } from "@a2a-connect/proto";
import { unlessFull } from "./store-failure.ts";

/**
 * "A2AC": marks a file as ours, so that the store does not take another program's database for one of its own (pragma
 * application_id).
 */
const applicationId = 0x41324143;

/**
 * Selects tasks in a terminal state. The index `tasks_finished` has the same words, and a query must repeat them. `in`
 * with more than two values would make a table for them in each statement that changes a task, a third of the cost of a
 * commit.
 */
export const finished: string = `(state = ${TaskState.COMPLETED} or state = ${TaskState.FAILED}
    or state = ${TaskState.CANCELED} or state = ${TaskState.REJECTED})`;

/** Selects what `tasks_by_state` has; a query must repeat it. */
export const notCompleted: string = `state <> ${TaskState.COMPLETED}`;

/**
 * The steps that made the schema: step n leads from version n to n + 1 (pragma user_version). Steps that were released
 * are never edited.
 *
 * - A task has an integer number, because SQLite writes rows with a short key faster.
 * - Entries are stored in the order of arrival (rowid), so that a group of commits writes few pages. Their only index
 *   has the generation that the log had *reached* with each entry. It never falls, so (generation, sequence) is the
 *   order of the log, and the same index finds entries after a sequence and events after a generation. It also has the
 *   kind, so that a query skips artifacts without reading them.
 * - SQLite rewrites a whole row to change one number in it, so `tasks` has no large values.
 * - `snapshot_sequence` and `snapshot_generation` are zeros without a snapshot.
 *
 * Version 2:
 * - `push_config_count` is in the row that each commit reads anyway, so webhooks cost nothing for a task that has none.
 * - A push config has a number that is never used again, so the cursor of a removed config never moves a later config.
 *   `due_at` is null when every event is delivered. Configs of version 1 begin with the event after the last.
 * - A key belongs to a task (`task`, `generation`) or has a Message of its own (`message`, `expires_at`).
 * - `doomed` has the tasks whose own row is removed and whose entries, keys and configs are not removed yet. Until then
 *   no other task gets their number, and a key or a config without its task counts as removed.
 * - Entries that are not events have an index of their own, so that a query finds a journal among a million chunks
 *   without reading the chunks.
 *
 * Version 3: `loads`, as `TaskStore.noteLoads` sets it.
 *
 * Version 4: large values lie in `pieces` and not in their rows, which name their `run` and how many bytes it has (see
 * `LargeValues`). Of a task in pieces, the row has what a list without history shows. What was stored before stays where it is.
 *
 * Version 5: `tasks_by_context` has the order of a list and its filters, as `tasks_by_owner` has.
 *
 * Version 6: a row of `segments` has what a commit appended, where an entry had a row of its own (see `Segment`). The
 * indexes are those of the entries, with the numbers of a segment's last entry: a segment has nothing after
 * (generation, sequence) unless these are greater. A value in pieces has a segment of its own.
 *
 * Version 7: every entry has been moved. That takes many transactions (see `moveEntries`), and until then the file
 * has version 6.
 *
 * Version 8: `tasks_by_state` lists the tasks in one state, however many others there are. Most tasks end as COMPLETED, which is left
 * out: a task that ends in its first commit never gets into this index.
 *
 * Version 9: `tasks_unfinished` has the tasks without a timer apart from those with one; a query must repeat its words.
 *
 * Version 10: that index has each caller's tasks together. `stored_bytes` is what a load of the task reads: its snapshot and the
 * entries after it. It is null for a task that has had no snapshot since it was stored by an older version: to count takes long for a
 * task of many entries.
 *
 * Version 11: `deliveries` has the cursors, and `push_configs` what is large and never changes. An event moves all cursors of its task,
 * which may be a hundred. Both have the same numbers, which `deliveries` gives.
 */
export const schemaSteps: readonly string[] = [
  `
  create table tasks (
    number integer primary key,
    task_id text not null unique,
    tenant text not null,
    principal text not null,
    context_id text not null,
    state integer not null,
    status_timestamp integer not null,
    wake_at integer,
    sequence integer not null,
    generation integer not null,
    fence integer not null,
    snapshot_sequence integer not null,
    snapshot_generation integer not null
  ) strict;
  create index tasks_by_owner on tasks (tenant, principal, status_timestamp, task_id, state);
  create index tasks_by_context on tasks (tenant, principal, context_id);
  create index tasks_unfinished on tasks (task_id) where state in (${TaskState.SUBMITTED}, ${TaskState.WORKING});
  create index tasks_due on tasks (wake_at, task_id) where wake_at is not null;

  create table entries (
    task integer not null,
    sequence integer not null,
    generation integer not null,
    kind integer not null,
    payload blob not null
  ) strict;
  create unique index entries_by_task on entries (task, generation, sequence, kind);

  create table snapshots (
    task integer primary key,
    head blob not null,
    artifacts blob
  ) strict;

  create table push_configs (
    task integer not null,
    id text not null,
    config blob not null,
    primary key (task, id)
  ) strict, without rowid;
  `,
  `
  alter table tasks add column push_config_count integer not null default 0;
  create index tasks_finished on tasks (status_timestamp)
    where ${finished};

  create index entries_notes on entries (task, generation, sequence) where kind > 2;

  alter table push_configs rename to old_push_configs;
  create table push_configs (
    number integer primary key autoincrement,
    task integer not null,
    id text not null,
    config blob not null,
    next integer not null,
    attempts integer not null,
    due_at integer
  ) strict;
  insert into push_configs (task, id, config, next, attempts)
    select old.task, old.id, old.config, tasks.generation + 1, 0
    from old_push_configs as old join tasks on tasks.number = old.task;
  drop table old_push_configs;
  create unique index push_configs_by_task on push_configs (task, id);
  create index push_configs_due on push_configs (due_at) where due_at is not null;
  update tasks set push_config_count = (select count(*) from push_configs where task = tasks.number)
    where number in (select task from push_configs);

  create table keys (
    number integer primary key,
    tenant text not null,
    principal text not null,
    key text not null,
    fingerprint blob not null,
    task integer,
    generation integer,
    message blob,
    expires_at integer
  ) strict;
  create unique index keys_by_owner on keys (tenant, principal, key);
  create index keys_by_task on keys (task) where task is not null;
  create index keys_by_expiry on keys (expires_at) where expires_at is not null;

  create table doomed (task integer primary key) strict;
  `,
  `
  alter table tasks add column loads integer not null default 0;
  `,
  `
  create table pieces (
    number integer primary key,
    task integer not null,
    run integer not null,
    payload blob not null
  ) strict;
  create index pieces_by_run on pieces (task, run);

  alter table entries add column run integer;
  alter table entries add column run_bytes integer;
  create index entries_by_run on entries (task, run) where run is not null;

  alter table snapshots add column head_run integer;
  alter table snapshots add column head_bytes integer;
  alter table snapshots add column artifacts_run integer;
  alter table snapshots add column artifacts_bytes integer;
  `,
  `
  drop index tasks_by_context;
  create index tasks_by_context on tasks (tenant, principal, context_id, status_timestamp, task_id, state);
  `,
  `
  create table segments (
    task integer not null,
    sequence integer not null,
    generation integer not null,
    kinds integer not null,
    run integer,
    run_bytes integer,
    layout blob not null,
    head blob not null,
    artifacts blob
  ) strict;
  create unique index segments_by_task on segments (task, generation, sequence, kinds);
  create index segments_notes on segments (task, generation, sequence) where kinds > 7;
  create index segments_by_run on segments (task, run) where run is not null;
  drop index entries_notes;
  drop index entries_by_run;
  `,
  `
  drop table entries;
  `,
  `
  create index tasks_by_state on tasks (tenant, principal, state, status_timestamp, task_id)
    where ${notCompleted};
  `,
  `
  drop index tasks_unfinished;
  create index tasks_unfinished on tasks ((wake_at is not null), task_id)
    where state in (${TaskState.SUBMITTED}, ${TaskState.WORKING});
  `,
  `
  drop index tasks_unfinished;
  create index tasks_unfinished on tasks ((wake_at is not null), principal, tenant, task_id)
    where state in (${TaskState.SUBMITTED}, ${TaskState.WORKING});
  alter table tasks add column stored_bytes integer;
  `,
  `
  drop index push_configs_by_task;
  drop index push_configs_due;
  alter table push_configs rename to deliveries;
  create table push_configs (
    number integer primary key,
    task integer not null,
    id text not null,
    config blob not null
  ) strict;
  insert into push_configs select number, task, id, config from deliveries;
  alter table deliveries drop column config;
  alter table deliveries drop column id;
  alter table deliveries drop column task;
  create unique index push_configs_by_task on push_configs (task, id);
  create index deliveries_due on deliveries (due_at) where due_at is not null;
  `,
];

/** In a file of this version, `entries` are being moved to `segments`. */
const movingVersion = 6;

/**
 * Refuses a file that this version cannot use, before it writes anything to it.
 *
 * @throws Error when the file belongs to another program or to a newer version of this package
 */
export function checkSchema(database: DatabaseSync): void {
  const isEmpty = readNumber(database, "select count(*) from sqlite_schema") === 0;
  if (!isEmpty && readNumber(database, "pragma application_id") !== applicationId) {
    throw new Error("it is a database, but not one of tasks");
  }
  const version = readVersion(database);
  if (version > schemaSteps.length) {
    throw new Error(
      `its schema has version ${version} and this version of the store knows ${schemaSteps.length}: update the store`,
    );
  }
}

/**
 * Brings a tested file to the newest schema. It writes in every case, so the log is not empty from then on.
 *
 * @param moveEntries see `movingVersion`
 * @throws Error when the disk is full, unless the file has the newest schema already
 */
export function migrate(database: DatabaseSync, moveEntries: (database: DatabaseSync) => void): void {
  if (readVersion(database) === schemaSteps.length) {
    unlessFull(() => runSteps(database, schemaSteps.length));
    return;
  }
  runSteps(database, movingVersion);
  if (readVersion(database) === movingVersion) moveEntries(database);
  runSteps(database, schemaSteps.length);
}

function runSteps(database: DatabaseSync, end: number): void {
  inTransaction(database, () => {
    const version = readVersion(database);
    for (const step of schemaSteps.slice(version, end)) database.exec(step);
    database.exec(
      `pragma application_id = ${applicationId}; pragma user_version = ${Math.max(version, end)}`,
    );
  });
}

/** Runs statements in a transaction of their own. */
export function inTransaction(database: DatabaseSync, run: () => void): void {
  database.exec("begin exclusive");
  try {
    run();
    database.exec("commit");
  } catch (error) {
    if (database.isTransaction) database.exec("rollback");
    throw error;
  }
}

function readVersion(database: DatabaseSync): number {
  return readNumber(database, "pragma user_version");
}

function readNumber(database: DatabaseSync, sql: string): number {
  return Number(Object.values(database.prepare(sql).get() ?? {})[0]);
}

/** A prepared statement that reads rows of one known type. */
export interface Query<Row> {
  get(...values: SQLInputValue[]): Row | undefined;
  all(...values: SQLInputValue[]): Row[];
  iterate(...values: SQLInputValue[]): Iterable<Row>;
}

/** Prepares a statement that reads. `Row` has one member for each column, by the column's name. */
export function prepareQuery<Row extends object>(database: DatabaseSync, sql: string): Query<Row> {
  return database.prepare(sql) as unknown as Query<Row>; // STRICT tables: a column holds what its declaration says
}
