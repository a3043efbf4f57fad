import type { DatabaseSync } from "node:sqlite";
import {
  type CommitResult,
  type CommitTarget,
  decideCommit,
  divideEntries,
  type LogEntry,
  type LogTail,
  type Owner,
  packSegment,
  type Snapshot,
  type TaskClaim,
  type TaskCommit,
  withoutHistory,
} from "@a2a-connect/server/store";
import type { Run, WrittenValues } from "./large-values.ts";
import { type ListChange, toPlace } from "./list-totals.ts";
import type { EncodedConfig, PushDeliveries } from "./push-deliveries.ts";
import type { RequestKeys } from "./request-keys.ts";
import { prepareQuery } from "./schema.ts";
import { type TaskReader, type TaskRow, toTail } from "./task-rows.ts";

/** Changes tasks. Every method runs inside a transaction. */
export interface TaskWriter {
  /** The number of a task, or one to create it with. */
  reserve(taskId: string): number;
  /**
   * @param configs the push configs of the commit
   * @param written the values of the commit that are in pieces already; undefined: all are in rows, as of most commits
   */
  commit(commit: TaskCommit, configs: readonly EncodedConfig[], written?: WrittenValues): Committed;
  claim(owner: Owner, taskId: string): TaskClaim | undefined;
  noteLoads(owner: Owner, taskId: string, loads: number): void;
  putPushConfig(owner: Owner, taskId: string, config: EncodedConfig): boolean;
  deletePushConfig(owner: Owner, taskId: string, id: string): boolean;
}

/** The result of a commit. */
export interface Committed {
  readonly result: CommitResult;
  /** Runs that no row names any more. */
  readonly lost: readonly LostRun[];
  /** Undefined when the task stays where it is in lists. */
  readonly listChange: ListChange | undefined;
}

/** A run whose pieces are to be removed. */
export interface LostRun {
  readonly task: number;
  readonly run: number;
}

/** The other parts of the store that a commit writes to. */
export interface WriterParts {
  readonly reader: TaskReader;
  readonly deliveries: PushDeliveries;
  readonly keys: RequestKeys;
}

/** Prepares the statements that change tasks. */
export function createTaskWriter(
  database: DatabaseSync,
  { reader, deliveries, keys }: WriterParts,
): TaskWriter {
  const insertTask = database.prepare(`
    insert into tasks (number, task_id, tenant, principal, context_id, state, status_timestamp, wake_at, sequence, generation,
      stored_bytes, fence, snapshot_sequence, snapshot_generation)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, 0, 0)`);
  const tailColumns = "sequence = ?, generation = ?, stored_bytes = stored_bytes + ?";
  const moveTail = database.prepare(`update tasks set ${tailColumns} where number = ?`);
  const moveIndex = database.prepare(
    `update tasks set context_id = ?, state = ?, status_timestamp = ?, wake_at = ?, ${tailColumns} where number = ?`,
  );
  const appendEntries = createAppendEntries(database);
  const runsOfSnapshot = prepareQuery<{
    readonly head_run: number | null;
    readonly artifacts_run: number | null;
  }>(database, "select head_run, artifacts_run from snapshots where task = ?");
  const putSnapshot = database.prepare(`
    insert or replace into snapshots (task, head, head_run, head_bytes, artifacts, artifacts_run, artifacts_bytes)
    values (?, ?, ?, ?, ?, ?, ?)`);
  const moveSnapshot = database.prepare(
    "update tasks set snapshot_sequence = ?, snapshot_generation = ?, stored_bytes = ? where number = ?",
  );
  const raiseFence = database.prepare("update tasks set fence = fence + 1 where number = ?");
  const setLoads = database.prepare("update tasks set loads = ? where number = ?");
  /**
   * SQLite would give a new task the number of a removed one, whose entries may still exist. So numbers only grow. A
   * write that is rolled back leaves a gap in the numbers, which does no harm.
   */
  let lastNumber = findLastNumber(database);

  function nextNumber(): number {
    lastNumber += 1;
    return lastNumber;
  }

  function createTask(number: number, { taskId, owner, index, entries }: TaskCommit, tail: LogTail): number {
    const { contextId, state, statusTimestamp, wakeAt } = index;
    insertTask.run(
      number,
      taskId,
      owner.tenant,
      owner.principal,
      contextId,
      state,
      statusTimestamp,
      wakeAt ?? null,
      tail.sequence,
      tail.generation,
      bytesOf(entries),
    );
    return number;
  }

  /**
   * Most commits of a stream do not change the values by which lists are ordered. Those commits change no index of the
   * table.
   */
  function updateTask(
    row: TaskRow,
    { index, entries }: TaskCommit,
    { sequence, generation }: LogTail,
  ): number {
    const { contextId, state, statusTimestamp, wakeAt = null } = index;
    const bytes = bytesOf(entries);
    if (
      row.status_timestamp === statusTimestamp &&
      row.state === state &&
      row.wake_at === wakeAt &&
      row.context_id === contextId
    ) {
      moveTail.run(sequence, generation, bytes, row.number);
    } else {
      moveIndex.run(contextId, state, statusTimestamp, wakeAt, sequence, generation, bytes, row.number);
    }
    return row.number;
  }

  /** @returns runs of the snapshot before this one */
  function writeSnapshot(
    task: number,
    { head, artifacts }: Snapshot,
    tail: LogTail,
    written: WrittenValues | undefined,
  ): readonly LostRun[] {
    const { head_run = null, artifacts_run = null } = runsOfSnapshot.get(task) ?? {};
    putSnapshot.run(task, ...place(head, written, withoutHistory.head), ...place(artifacts, written));
    moveSnapshot.run(tail.sequence, tail.generation, head.length + (artifacts?.length ?? 0), task);
    return [head_run, artifacts_run].flatMap((run) => (run === null ? [] : [{ task, run }]));
  }

  return {
    reserve: (taskId) => reader.row(taskId)?.number ?? nextNumber(),

    commit(commit, configs, written) {
      const row = reader.row(commit.taskId);
      const { owner } = commit;
      const result = decideCommit(commit, row && toTarget(row), (key) => keys.isTaken(owner, key));
      if ("refused" in result) {
        return { result, lost: written === undefined ? [] : runsOf(written), listChange: undefined };
      }
      const { tail } = result;
      const task =
        row === undefined
          ? createTask(written?.task ?? nextNumber(), commit, tail)
          : updateTask(row, commit, tail);
      const before = row?.generation ?? 0;
      const { entries, runs } =
        written === undefined ? { entries: commit.entries, runs: noRuns } : cutLargeEntries(commit, written);
      appendEntries(task, before, entries, runs);
      const lost = commit.snapshot === undefined ? [] : writeSnapshot(task, commit.snapshot, tail, written);
      if (result.deliveryDue && row !== undefined) deliveries.wake(task);
      for (const config of configs) deliveries.put(task, config, before + 1, tail.generation);
      for (const key of commit.keys) keys.putTask(owner, task, key);
      return { result, lost, listChange: toListChange(row, commit) };
    },

    claim(owner, taskId) {
      const row = reader.ownRow(owner, taskId);
      if (row === undefined) return undefined;
      raiseFence.run(row.number);
      return { fence: row.fence + 1, tail: toTail(row) };
    },

    noteLoads(owner, taskId, loads) {
      const row = reader.ownRow(owner, taskId);
      if (row !== undefined) setLoads.run(loads, row.number);
    },

    putPushConfig(owner, taskId, config) {
      const row = reader.ownRow(owner, taskId);
      if (row !== undefined) deliveries.put(row.number, config, row.generation + 1, row.generation);
      return row !== undefined;
    },

    deletePushConfig(owner, taskId, id) {
      const row = reader.ownRow(owner, taskId);
      if (row !== undefined) deliveries.remove(row.number, id);
      return row !== undefined;
    },
  };
}

function bytesOf(entries: readonly LogEntry[]): number {
  return entries.reduce((sum, { payload }) => sum + payload.length, 0);
}

function toListChange(
  row: TaskRow | undefined,
  { owner, taskId, index }: TaskCommit,
): ListChange | undefined {
  const from = row && toPlace(row);
  if (
    from?.contextId === index.contextId &&
    from.state === index.state &&
    from.statusTimestamp === index.statusTimestamp
  ) {
    return undefined;
  }
  return { from, to: { owner, taskId, ...index } };
}

/** Bytes that a row has of a value in pieces, at most. */
const maxSmallBytes = 32 * 1024;

const nothing = new Uint8Array(0);

/** Of a value in pieces, its row has what a list without history shows, where that is small: then no piece is read. */
function takeSmall(value: Uint8Array): Uint8Array {
  return value.length <= maxSmallBytes ? value : nothing;
}

/** The entries as their rows have them, and the runs of those whose payload is in pieces. */
function cutLargeEntries(
  { entries }: TaskCommit,
  written: WrittenValues,
): { readonly entries: readonly LogEntry[]; readonly runs: ReadonlyMap<LogEntry, Run> } {
  const runs = new Map<LogEntry, Run>();
  const inRows = entries.map((entry) => {
    const run = written.runs.get(entry.payload);
    if (run === undefined) return entry;
    const payload = entry.kind === "task" ? takeSmall(withoutHistory.task(entry.payload)) : nothing;
    const cut = { ...entry, payload };
    runs.set(cut, run);
    return cut;
  });
  return { entries: inRows, runs };
}

const noRuns: ReadonlyMap<LogEntry, Run> = new Map();

/** The three columns of a value. @param cut makes what the row has of it when it is in pieces */
function place(
  value: Uint8Array | undefined,
  written: WrittenValues | undefined,
  cut: (value: Uint8Array) => Uint8Array = () => nothing,
): readonly [inRow: Uint8Array | null, run: number | null, bytes: number | null] {
  const run = value && written?.runs.get(value);
  return value === undefined || run === undefined
    ? [value ?? null, null, null]
    : [takeSmall(cut(value)), run.run, run.bytes];
}

/** The runs that were written for a commit. */
export function runsOf({ task, runs }: WrittenValues): readonly LostRun[] {
  return [...runs.values()].map(({ run }) => ({ task, run }));
}

function toTarget(row: TaskRow): CommitTarget {
  return { owner: row, tail: toTail(row), fence: row.fence, hasPushConfigs: row.push_config_count > 0 };
}

function findLastNumber(database: DatabaseSync): number {
  const last = prepareQuery<{ readonly number: number }>(
    database,
    "select max(ifnull((select max(number) from tasks), 0), ifnull((select max(task) from doomed), 0)) as number",
  );
  return last.get()?.number ?? 0;
}

/**
 * Appends entries to a log, in a row for each segment; runs inside a transaction.
 *
 * @param before generation of the log before the entries
 * @param runs of entries whose payload is in pieces; such an entry has the rest of it
 */
export type AppendEntries = (
  task: number,
  before: number,
  entries: readonly LogEntry[],
  runs: ReadonlyMap<LogEntry, Run>,
) => void;

/** Prepares the statement that writes segments. */
export function createAppendEntries(database: DatabaseSync): AppendEntries {
  const insert = database.prepare(`
    insert into segments (task, sequence, generation, kinds, run, run_bytes, layout, head, artifacts)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?)`);

  return (task, before, entries, runs) => {
    let reached = before;
    for (const part of divideEntries(entries, (entry) => runs.has(entry))) {
      const { sequence, generation, kinds, layout, head, artifacts = null } = packSegment(part, reached);
      const [first] = part;
      const { run = null, bytes = null } = (first && runs.get(first)) ?? {};
      insert.run(task, sequence, generation, kinds, run, bytes, layout, head, artifacts);
      reached = generation;
    }
  };
}
