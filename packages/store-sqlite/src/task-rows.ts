import type { DatabaseSync } from "node:sqlite";
import type { TaskState } from "@a2a-connect/proto";
import {
  eventBits,
  kindBits,
  type LogEvent,
  type LogPage,
  type LogTail,
  type LogView,
  type Owner,
  openSegment,
  type PlacedEntry,
  type Snapshot,
  type StoredTask,
  showsArtifacts,
  showsHistory,
  type TaskIndex,
  type TaskView,
  type TaskWeight,
  takeEventPage,
  takeLogPage,
  taskPageLimit,
  viewEntries,
  viewedKinds,
  viewSnapshot,
  withoutHistoryInSteps,
} from "@a2a-connect/server/store";
import { createGap, type Gap, type Reading } from "./large-values.ts";
import { prepareQuery, type Query } from "./schema.ts";

/** Columns of `tasks` that make a TaskRow. */
export const taskColumns: string =
  "number, task_id, tenant, principal, context_id, state, status_timestamp, wake_at, " +
  "sequence, generation, fence, snapshot_sequence, snapshot_generation, push_config_count, loads, stored_bytes";

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
  readonly stored_bytes: number | null;
}

interface SegmentRow {
  readonly sequence: number;
  readonly generation: number;
  readonly kinds: number;
  readonly run: number | null;
  readonly run_bytes: number | null;
  readonly layout: Uint8Array;
  readonly head: Uint8Array;
  readonly artifacts: Uint8Array | null;
}

/** The three columns of a value that may lie in pieces. */
interface StoredValue {
  readonly inRow: Uint8Array;
  readonly run: number | null;
  readonly bytes: number | null;
}

/** What an entry counts besides its bytes: reading a short one takes as long as copying so many bytes. */
const entryBytes = 1024;

/** The same of an entry in a row that a view leaves out, such as one of a journal of thousands of steps: SQLite passes it in its index. */
const passedEntryBytes = 16;

interface SegmentQuery {
  readonly query: Query<SegmentRow>;
  /** Bits of the kinds that it is for. */
  readonly kinds: number;
}

interface SnapshotRow {
  readonly head: Uint8Array;
  readonly head_run: number | null;
  readonly head_bytes: number | null;
  readonly artifacts: Uint8Array | null;
  readonly artifacts_run: number | null;
  readonly artifacts_bytes: number | null;
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
   * @param reading gets what was read, and the large values, which are still to be read. Until then these count whole, also what
   *   the view cuts out of them
   */
  task(row: TaskRow, view: TaskView, reading: Reading): StoredTask;
  /** What reading that would read. */
  weight(row: TaskRow): TaskWeight;
  /** A page of a task's events, as `TaskStore.events` bounds it. */
  events(row: TaskRow, after: number, limit: number, reading: Reading): readonly LogEvent[];
  /** A page of a task's log, as `TaskStore.entries` bounds it, up to where the log ended when the row was read. */
  entries(row: TaskRow, after: LogTail, view: LogView, limit: number, reading: Reading): LogPage;
}

const segmentsAfter = "from segments where task = ? and (generation, sequence) > (?, ?)";
const inOrder = "order by generation, sequence";

/** The columns of a segment. The last one is the artifacts', so that SQLite reads past none when they are left out. */
function segmentColumns(kinds: number): string {
  const artifacts = (kinds & kindBits(["artifact"])) === 0 ? "null as artifacts" : "artifacts";
  return `sequence, generation, kinds, run, run_bytes, layout, head, ${artifacts}`;
}

/** Prepares the statements that read tasks. */
export function createTaskReader(database: DatabaseSync): TaskReader {
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
    `select (select ifnull(sum(ifnull(run_bytes, length(head) + ifnull(length(artifacts), 0))), 0) ${segmentsAfter}) +
       ifnull((
         select ifnull(head_bytes, length(head)) + ifnull(artifacts_bytes, ifnull(length(artifacts), 0))
         from snapshots where task = ?), 0) as bytes`,
  );
  const segmentsOf = (view: LogView): SegmentQuery => {
    const kinds = kindBits(viewedKinds[view]);
    const condition = view === "notes" ? `kinds > ${eventBits}` : `kinds & ${kinds} <> 0`;
    const sql = `select ${segmentColumns(kinds)} ${segmentsAfter} and ${condition} ${inOrder}`;
    return { kinds, query: prepareQuery(database, sql) };
  };
  const views: Readonly<Record<LogView, SegmentQuery>> = {
    all: segmentsOf("all"),
    full: segmentsOf("full"),
    head: segmentsOf("head"),
    results: segmentsOf("results"),
    summary: segmentsOf("summary"),
    notes: segmentsOf("notes"),
  };
  const events = prepareQuery<SegmentRow>(
    database,
    `select ${segmentColumns(eventBits)} from segments
     where task = ? and generation > ? and kinds & ${eventBits} <> 0 ${inOrder}`,
  );

  function row(taskId: string): TaskRow | undefined {
    return byId.get(taskId);
  }

  function* placedAfter(
    { number, sequence: last }: TaskRow,
    after: LogTail,
    view: LogView,
    reading: Reading,
  ) {
    const { kinds, query } = views[view];
    for (const segment of countPassed(
      query.iterate(number, after.generation, after.sequence),
      after.sequence,
      last,
      reading,
    )) {
      for (const placed of viewEntries(openRow(segment, kinds, reading), view)) {
        const { sequence } = placed.entry;
        if (sequence > last) return;
        if (sequence > after.sequence) yield leavePieces(number, segment, placed, view, reading);
      }
    }
  }

  function* eventsAfter(
    { number: task, sequence }: TaskRow,
    after: number,
    reading: Reading,
  ): Iterable<LogEvent> {
    for (const segment of countPassed(events.iterate(task, after), undefined, sequence, reading)) {
      for (const placed of openRow(segment, eventBits, reading)) {
        const { entry } = leavePieces(task, segment, placed, "all", reading);
        const { kind, generation = 0 } = entry;
        if (generation > after && (kind === "task" || kind === "status" || kind === "artifact"))
          yield { ...entry, kind, generation };
      }
    }
  }

  function takePage(row: TaskRow, after: LogTail, view: LogView, limit: number, reading: Reading): LogPage {
    return takeLogPage(placedAfter(row, after, view, reading), after, toTail(row), limit, undefined, reading);
  }

  return {
    row,

    ownRow({ tenant, principal }, taskId) {
      const found = row(taskId);
      return found?.tenant === tenant && found.principal === principal ? found : undefined;
    },

    task(row, view, reading) {
      const { number, snapshot_sequence, snapshot_generation } = row;
      const begin = { sequence: snapshot_sequence, generation: snapshot_generation };
      const half = showsArtifacts(view) ? snapshotFull : snapshotHead;
      const snapshot = snapshot_sequence === 0 ? undefined : half.get(number);
      const { entries, end, more } = takePage(row, begin, view, taskPageLimit, reading);
      return {
        ...toBareTask(row),
        snapshot: snapshot && toSnapshot(row, snapshot, view, reading),
        entries,
        more: more ? end : undefined,
      };
    },

    weight(row) {
      const { number, snapshot_sequence, snapshot_generation } = row;
      return {
        ...toBareTask(row),
        loads: row.loads,
        bytes:
          row.stored_bytes ?? bytes.get(number, snapshot_generation, snapshot_sequence, number)?.bytes ?? 0,
      };
    },

    events(row, after, limit, reading) {
      return takeEventPage(eventsAfter(row, after, reading), limit, reading);
    },

    entries: takePage,
  };
}

/**
 * Counts the entries of the rows that a query passes.
 *
 * @param from the entry before the first row; undefined: the first row is the first that it passes
 * @param last the end of the log
 */
function* countPassed(
  rows: Iterable<SegmentRow>,
  from: number | undefined,
  last: number,
  reading: Reading,
): Iterable<SegmentRow> {
  let at = from;
  for (const row of rows) {
    if (at !== undefined) reading.bytes += passedEntryBytes * Math.max(0, row.sequence - at);
    at = row.sequence;
    yield row;
  }
  if (at !== undefined) reading.bytes += passedEntryBytes * Math.max(0, last - at);
}

/**
 * The entries of these kinds in a row. The row counts when its last one was taken: a page that ended with its first, because the row
 * is large, would read it again for each of them.
 */
function* openRow({ artifacts, ...row }: SegmentRow, kinds: number, reading: Reading): Iterable<PlacedEntry> {
  const isWhole = (row.kinds & ~kinds) === 0;
  try {
    for (const placed of openSegment({ ...row, artifacts: artifacts ?? undefined }, kinds)) {
      reading.bytes += entryBytes;
      yield isWhole ? placed : letRowGo(placed);
    }
  } finally {
    reading.bytes += row.head.length + (artifacts?.length ?? 0);
  }
}

/** The entry without the rest of its row, which would stay in memory as long as the entry. */
function letRowGo(placed: PlacedEntry): PlacedEntry {
  const { payload } = placed.entry;
  if (payload.byteLength > payload.buffer.byteLength / 2) return placed;
  return { ...placed, entry: { ...placed.entry, payload: payload.slice() } };
}

/** @param placed what the row has of the entry, in the view */
function leavePieces(
  task: number,
  { run, run_bytes: bytes }: SegmentRow,
  placed: PlacedEntry,
  view: LogView,
  reading: Reading,
): PlacedEntry {
  if (run === null) return placed;
  const entry = { ...placed.entry };
  leaveGap(
    reading,
    task,
    { inRow: entry.payload, run, bytes },
    {
      cut: entry.kind === "task" && !showsHistory(view) ? withoutHistoryInSteps.task : undefined,
      put: (payload) => {
        entry.payload = payload;
      },
    },
  );
  return { ...placed, entry };
}

function toSnapshot(
  { number, snapshot_sequence: sequence }: TaskRow,
  { head, head_run, head_bytes, artifacts, artifacts_run, artifacts_bytes }: SnapshotRow,
  view: TaskView,
  reading: Reading,
): Snapshot {
  const snapshot = {
    ...viewSnapshot({ sequence, head, artifacts: artifacts ?? undefined }, view, reading),
  };
  leaveGap(
    reading,
    number,
    { inRow: snapshot.head, run: head_run, bytes: head_bytes },
    {
      cut: showsHistory(view) ? undefined : withoutHistoryInSteps.head,
      put: (value) => {
        snapshot.head = value;
      },
    },
  );
  if (artifacts !== null) {
    leaveGap(
      reading,
      number,
      { inRow: artifacts, run: artifacts_run, bytes: artifacts_bytes },
      {
        cut: undefined,
        put: (value) => {
          snapshot.artifacts = value;
        },
      },
    );
  }
  return snapshot;
}

/** Leaves a value in pieces to be read later, unless its row has what the view shows of it. */
function leaveGap(
  { gaps }: Reading,
  task: number,
  { inRow, run, bytes }: StoredValue,
  place: Pick<Gap, "cut" | "put">,
): void {
  if (run === null || bytes === null || (place.cut !== undefined && inRow.length > 0)) return;
  gaps.push(createGap(task, { run, bytes }, place));
}

/** What a row alone says of its task. */
export function toBareTask(row: TaskRow): Pick<StoredTask, "owner" | "taskId" | "index" | "tail" | "fence"> {
  return {
    owner: { tenant: row.tenant, principal: row.principal },
    taskId: row.task_id,
    index: toIndex(row),
    tail: toTail(row),
    fence: row.fence,
  };
}

/** The end of a row's log. */
export function toTail({ sequence, generation }: TaskRow): LogTail {
  return { sequence, generation };
}

function toIndex({ context_id, state, status_timestamp, wake_at }: TaskRow): TaskIndex {
  return { contextId: context_id, state, statusTimestamp: status_timestamp, wakeAt: wake_at ?? undefined };
}
