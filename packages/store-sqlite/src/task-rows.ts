import type { DatabaseSync } from "node:sqlite";
import type { TaskState } from "@a2a-connect/proto";
import {
  type EntryKind,
  type LogEntry,
  type LogEvent,
  type LogPage,
  type LogTail,
  type LogView,
  type Owner,
  type PlacedEntry,
  type Snapshot,
  showsArtifacts,
  showsHistory,
  type TaskIndex,
  type TaskView,
  type TaskWeight,
  takeEventPage,
  takeLogPage,
  taskPageLimit,
  type ViewedTask,
  viewEntries,
  viewedKinds,
  viewTask,
} from "@a2a-connect/server/store";
import { createGap, fillAtOnce, type Gap, type LargeValues } from "./large-values.ts";
import { prepareQuery, type Query } from "./schema.ts";

/** Columns of `tasks` that make a TaskRow. */
export const taskColumns: string =
  "number, task_id, tenant, principal, context_id, state, status_timestamp, wake_at, " +
  "sequence, generation, fence, snapshot_sequence, snapshot_generation, push_config_count, loads";

/** One row of `tasks`, by the names of its columns. */
export interface TaskRow {
  readonly number: number;
  readonly task_id: string;
  readonly tenant: string;
  readonly principal: string;
  readonly context_id: string;
  readonly state: TaskState;
  readonly status_timestamp: number;
  readonly wake_at: number | null;
  readonly sequence: number;
  readonly generation: number;
  readonly fence: number;
  readonly snapshot_sequence: number;
  readonly snapshot_generation: number;
  readonly push_config_count: number;
  readonly loads: number;
}

interface EntryRow {
  readonly sequence: number;
  readonly generation: number;
  readonly kind: number;
  readonly payload: Uint8Array;
  readonly run: number | null;
  readonly run_bytes: number | null;
}

/** The three columns of a value that may lie in pieces. */
interface StoredValue {
  readonly inRow: Uint8Array;
  readonly run: number | null;
  readonly bytes: number | null;
}

interface SnapshotRow {
  readonly head: Uint8Array;
  readonly head_run: number | null;
  readonly head_bytes: number | null;
  readonly artifacts: Uint8Array | null;
  readonly artifacts_run: number | null;
  readonly artifacts_bytes: number | null;
}

/** Kinds, by their number in the file. The order is part of the schema: new kinds are added only at the end. */
const kinds = [
  "task",
  "status",
  "artifact",
  "input",
  "command",
  "journal",
] as const satisfies readonly EntryKind[];
/** Events have kinds up to this one. */
export const lastEventKind: number = formatKind("artifact");

/** The number of a kind in the file. */
export function formatKind(kind: EntryKind): number {
  return kinds.indexOf(kind);
}

/** Reads tasks and their logs. */
export interface TaskReader {
  /** The row of a task, of any owner. */
  row(taskId: string): TaskRow | undefined;
  /** The row of the owner's task. */
  ownRow(owner: Owner, taskId: string): TaskRow | undefined;
  /**
   * The task of a row: its snapshot and the first page of what follows.
   *
   * @param gaps gets the large values, which are still to be read; what a view cuts is not among them
   */
  task(row: TaskRow, view: TaskView, gaps: Gap[], maxBytes?: number): ViewedTask;
  /** What reading that would read. */
  weight(row: TaskRow): TaskWeight;
  /** A page of a task's events, as `TaskStore.events` bounds it. */
  events(row: TaskRow, after: number, limit: number, gaps: Gap[]): readonly LogEvent[];
  /** A page of a task's log, as `TaskStore.entries` bounds it. */
  entries(row: TaskRow, after: LogTail, view: LogView, limit: number, gaps: Gap[]): LogPage;
}

const entryColumns = "sequence, generation, kind, payload, run, run_bytes";
const entriesAfter = "from entries where task = ? and (generation, sequence) > (?, ?)";
const inOrder = "order by generation, sequence";

/** Prepares the statements that read tasks. */
export function createTaskReader(database: DatabaseSync, values: LargeValues): TaskReader {
  const byId = prepareQuery<TaskRow>(database, `select ${taskColumns} from tasks where task_id = ?`);
  const snapshotFull = prepareQuery<SnapshotRow>(
    database,
    "select head, head_run, head_bytes, artifacts, artifacts_run, artifacts_bytes from snapshots where task = ?",
  );
  const snapshotHead = prepareQuery<SnapshotRow>(
    database,
    `select head, head_run, head_bytes, null as artifacts, null as artifacts_run, null as artifacts_bytes
     from snapshots where task = ?`,
  );
  // SQLite knows the length of a value without reading it.
  const bytes = prepareQuery<{ readonly bytes: number }>(
    database,
    `select (select ifnull(sum(ifnull(run_bytes, length(payload))), 0) ${entriesAfter}) +
       ifnull((
         select ifnull(head_bytes, length(head)) + ifnull(artifacts_bytes, ifnull(length(artifacts), 0))
         from snapshots where task = ?), 0) as bytes`,
  );
  const entriesOf = (view: LogView): Query<EntryRow> => {
    const kind = `kind in (${viewedKinds[view].map(formatKind).join(", ")})`;
    return prepareQuery(database, `select ${entryColumns} ${entriesAfter} and ${kind} ${inOrder}`);
  };
  const views: Readonly<Record<LogView, Query<EntryRow>>> = {
    all: prepareQuery(database, `select ${entryColumns} ${entriesAfter} ${inOrder}`),
    full: entriesOf("full"),
    head: entriesOf("head"),
    results: entriesOf("results"),
    summary: entriesOf("summary"),
    notes: prepareQuery(
      database,
      `select ${entryColumns} ${entriesAfter} and kind > ${lastEventKind} ${inOrder}`,
    ),
  };
  const events = prepareQuery<EntryRow>(
    database,
    `select ${entryColumns} from entries where task = ? and generation > ? and kind <= ${lastEventKind} ${inOrder}`,
  );

  function row(taskId: string): TaskRow | undefined {
    return byId.get(taskId);
  }

  function placedAfter({ number }: TaskRow, { generation, sequence }: LogTail, view: LogView, gaps: Gap[]) {
    const cut = showsHistory(view) ? undefined : "task";
    return toPlaced(number, views[view].iterate(number, generation, sequence), gaps, cut);
  }

  function readValue(task: number, { inRow, run, bytes }: StoredValue, gaps: Gap[] | undefined): Uint8Array {
    if (run === null || bytes === null) return inRow;
    if (gaps === undefined && inRow.length > 0) return inRow;
    const gap = createGap(task, { run, bytes });
    if (gaps === undefined) fillAtOnce(values, gap);
    else gaps.push(gap);
    return gap.value;
  }

  /** @param cut kind of the entries that are read at once */
  function toEntry(task: number, row: EntryRow, gaps: Gap[], cut?: EntryKind): LogEntry {
    const { sequence, generation, kind, payload: inRow, run, run_bytes: bytes } = row;
    const name = kinds[kind];
    if (name === undefined) throw new RangeError(`entry ${sequence} has the unknown kind ${kind}`);
    const payload = readValue(task, { inRow, run, bytes }, name === cut ? undefined : gaps);
    return { sequence, generation: kind <= lastEventKind ? generation : undefined, kind: name, payload };
  }

  function* toEvents(task: number, rows: Iterable<EntryRow>, gaps: Gap[]): Iterable<LogEvent> {
    for (const row of rows) {
      const { kind, ...entry } = toEntry(task, row, gaps);
      if (kind === "task" || kind === "status" || kind === "artifact")
        yield { ...entry, kind, generation: row.generation };
    }
  }

  function* toPlaced(
    task: number,
    rows: Iterable<EntryRow>,
    gaps: Gap[],
    cut: EntryKind | undefined,
  ): Iterable<PlacedEntry> {
    for (const row of rows) yield { entry: toEntry(task, row, gaps, cut), reached: row.generation };
  }

  function toSnapshot(
    task: number,
    sequence: number,
    row: SnapshotRow,
    view: TaskView,
    gaps: Gap[],
  ): Snapshot {
    const { head, head_run, head_bytes, artifacts, artifacts_run, artifacts_bytes } = row;
    const whole = { inRow: head, run: head_run, bytes: head_bytes };
    return {
      sequence,
      head: readValue(task, whole, showsHistory(view) ? gaps : undefined),
      artifacts:
        artifacts === null
          ? undefined
          : readValue(task, { inRow: artifacts, run: artifacts_run, bytes: artifacts_bytes }, gaps),
    };
  }

  return {
    row,

    ownRow({ tenant, principal }, taskId) {
      const found = row(taskId);
      return found?.tenant === tenant && found.principal === principal ? found : undefined;
    },

    task(row, view, gaps, maxBytes) {
      const { number, snapshot_sequence, snapshot_generation } = row;
      const begin = { sequence: snapshot_sequence, generation: snapshot_generation };
      const half = showsArtifacts(view) ? snapshotFull : snapshotHead;
      const snapshot = snapshot_sequence === 0 ? undefined : half.get(number);
      const cut = { bytes: 0 };
      const placed = viewEntries(placedAfter(row, begin, view, gaps), view, cut);
      const { entries, end, more } = takeLogPage(placed, begin, toTail(row), taskPageLimit, maxBytes);
      return viewTask(
        {
          owner: { tenant: row.tenant, principal: row.principal },
          taskId: row.task_id,
          index: toIndex(row),
          tail: toTail(row),
          fence: row.fence,
          snapshot: snapshot && toSnapshot(number, snapshot_sequence, snapshot, view, gaps),
          entries,
          more: more ? end : undefined,
        },
        view,
        cut.bytes,
      );
    },

    weight(row) {
      const { number, snapshot_sequence, snapshot_generation } = row;
      return {
        owner: { tenant: row.tenant, principal: row.principal },
        taskId: row.task_id,
        index: toIndex(row),
        tail: toTail(row),
        fence: row.fence,
        loads: row.loads,
        bytes: bytes.get(number, snapshot_generation, snapshot_sequence, number)?.bytes ?? 0,
      };
    },

    events({ number }, after, limit, gaps) {
      return takeEventPage(toEvents(number, events.iterate(number, after), gaps), limit);
    },

    entries(row, after, view, limit, gaps) {
      return takeLogPage(viewEntries(placedAfter(row, after, view, gaps), view), after, toTail(row), limit);
    },
  };
}

/** The end of a row's log. */
export function toTail({ sequence, generation }: TaskRow): LogTail {
  return { sequence, generation };
}

function toIndex({ context_id, state, status_timestamp, wake_at }: TaskRow): TaskIndex {
  return { contextId: context_id, state, statusTimestamp: status_timestamp, wakeAt: wake_at ?? undefined };
}
