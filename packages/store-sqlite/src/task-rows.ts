import type { DatabaseSync } from "node:sqlite";
import type { TaskState } from "@a2a-connect/proto";
import {
  type EntryKind,
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

const segmentsAfter = "from segments where task = ? and (generation, sequence) > (?, ?)";
const inOrder = "order by generation, sequence";

/** The columns of a segment. The last one is the artifacts', so that SQLite reads past none when they are left out. */
function segmentColumns(kinds: number): string {
  const artifacts = (kinds & kindBits(["artifact"])) === 0 ? "null as artifacts" : "artifacts";
  return `sequence, generation, kinds, run, run_bytes, layout, head, ${artifacts}`;
}

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

  function* placedAfter({ number }: TaskRow, after: LogTail, view: LogView, gaps: Gap[]) {
    const { kinds, query } = views[view];
    const cut = showsHistory(view) ? undefined : "task";
    for (const segment of query.iterate(number, after.generation, after.sequence)) {
      for (const placed of openRow(number, segment, kinds, gaps, cut)) {
        if (placed.entry.sequence > after.sequence) yield placed;
      }
    }
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
  function* openRow(
    task: number,
    { artifacts, run, run_bytes: bytes, ...row }: SegmentRow,
    kinds: number,
    gaps: Gap[],
    cut?: EntryKind,
  ): Iterable<PlacedEntry> {
    for (const placed of openSegment({ ...row, artifacts: artifacts ?? undefined }, kinds)) {
      if (run === null) {
        yield placed;
        continue;
      }
      const { entry, reached } = placed;
      const value = { inRow: entry.payload, run, bytes };
      const payload = readValue(task, value, entry.kind === cut ? undefined : gaps);
      yield { entry: { ...entry, payload }, reached };
    }
  }

  function* eventsAfter(task: number, after: number, gaps: Gap[]): Iterable<LogEvent> {
    for (const segment of events.iterate(task, after)) {
      for (const { entry } of openRow(task, segment, eventBits, gaps)) {
        const { kind, generation = 0 } = entry;
        if (generation > after && (kind === "task" || kind === "status" || kind === "artifact"))
          yield { ...entry, kind, generation };
      }
    }
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
      const read = {
        ...toBareTask(row),
        snapshot: snapshot && toSnapshot(number, snapshot_sequence, snapshot, view, gaps),
        entries,
        more: more ? end : undefined,
      };
      return viewTask(read, view, cut.bytes);
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

    events({ number }, after, limit, gaps) {
      return takeEventPage(eventsAfter(number, after, gaps), limit);
    },

    entries(row, after, view, limit, gaps) {
      return takeLogPage(viewEntries(placedAfter(row, after, view, gaps), view), after, toTail(row), limit);
    },
  };
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
