import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { TaskState } from "@a2a-connect/proto";
import {
  countForPage,
  type ListCursor,
  type TaskPage,
  TaskPageBuilder,
  type TaskQuery,
  taskPageLimit,
  type ViewedTask,
} from "@a2a-connect/server/store";
import { pieceBytes, type Reading } from "./large-values.ts";
import type { ListTotals } from "./list-totals.ts";
import { notCompleted, prepareQuery, type Query } from "./schema.ts";
import { type TaskReader, type TaskRow, taskColumns, toBareTask, toTail } from "./task-rows.ts";

/** Answers `TaskStore.list`, a slice of the list in each step; `reading` as in `TaskReader.task`. */
export type ListTasks = (query: TaskQuery, reading: Reading) => Generator<void, TaskPage>;

interface PlaceRow {
  readonly status_timestamp: number;
  readonly task_id: string;
}

interface Condition {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

/** How many tasks one step passes, to count them and to find those of the page: a millisecond or two. */
const defaultSliceTasks = 10_000;

/** So many bytes in the names by which the index finds a task make it as dear as two: names that fit into no cell are on a page of their own. */
const namesBytes = 64;

/** How many tasks the first step of a page passes when there is nothing to count. */
const minSliceTasks = 1_000;

const newestFirst = "order by status_timestamp desc, task_id desc";

/**
 * Lists by an index that has the order and all filters, so that counting reads no row. It passes the tasks of the owner, those of the
 * context, or those in the state. When the total is not kept, all of these have to be passed to count the matches, so a long list takes
 * many steps. What changes between two steps is seen or not, as between two pages.
 */
export function createListTasks(
  database: DatabaseSync,
  reader: TaskReader,
  totals: ListTotals,
  mostInSlice: number = defaultSliceTasks,
): ListTasks {
  /** One statement for each combination of filters. */
  const queries = new Map<string, Query<object>>();

  function select<Row extends object>(
    columns: string,
    index: Passage["index"],
    conditions: readonly Condition[],
    end?: Condition,
  ): Row[] {
    const where = conditions.map(({ sql }) => sql).join(" and ");
    const sql = `select ${columns} from tasks indexed by ${index} where ${where} ${end?.sql ?? ""}`;
    const query = queries.get(sql) ?? prepareQuery<Row>(database, sql);
    queries.set(sql, query);
    return query.all(...conditions.flatMap(({ values }) => values), ...(end?.values ?? [])) as Row[]; // of these columns
  }

  /** Reads a task with the first page of its log. */
  function readRow(row: TaskRow, { view, isKnown }: TaskQuery, reading: Reading): ViewedTask {
    if (isKnown?.(row.task_id, toTail(row)) === true) return toBareView(row);
    return unlessDamaged(row, () => {
      const before = reading.bytes;
      const task = reader.task(row, view, reading);
      return { task, readBytes: reading.bytes - before };
    });
  }

  /** Reads the rest of its log, a page in each step, until the task exceeds `maxBytes`. */
  function* readOn(
    row: TaskRow,
    first: ViewedTask,
    { view }: TaskQuery,
    reading: Reading,
    maxBytes: number,
  ): Generator<void, ViewedTask> {
    const entries = [...first.task.entries];
    for (let viewed = first; ; ) {
      const { task, readBytes } = viewed;
      const { more } = task;
      if (more === undefined || countForPage(viewed) > maxBytes) return viewed;
      yield;
      if (reader.row(row.task_id) === undefined) return viewed; // it has expired, as is found when its log is read on
      viewed = unlessDamaged(row, () => {
        const before = reading.bytes;
        const page = reader.entries(row, more, view, taskPageLimit, reading);
        entries.push(...page.entries);
        return {
          task: { ...task, entries, more: page.more ? page.end : undefined },
          readBytes: readBytes + reading.bytes - before,
        };
      });
    }
  }

  return function* (query, reading) {
    const { index, passed, matching } = choosePassage(query);
    const page = new TaskPageBuilder(query);
    const tally = totals.open(query);
    const isKept = tally.isDone;
    // With nothing to count and nothing to skip, the page is one look into the index.
    const isDirect = isKept && matching.length === 0;
    const { owner, contextId = "" } = query;
    const weight = 1 + Buffer.byteLength(owner.tenant + owner.principal + contextId) / namesBytes;
    const sliceTasks = Math.ceil(mostInSlice / weight);
    let more = false;
    // Without tasks to count, the page begins where it begins, and the first slice is what it may need.
    for (
      let last = isKept ? query.after : undefined,
        size = isKept ? Math.min(minSliceTasks, sliceTasks) : sliceTasks;
      ;
      yield
    ) {
      const rest = [...passed, ...toPlace("<", last)];
      const oldest = toCondition("status_timestamp >= ?", query.since);
      const lastOfSlice = { sql: `${newestFirst} limit 1 offset ?`, values: [size - 1] };
      size = sliceTasks;
      const [end] = isDirect
        ? []
        : select<PlaceRow>("status_timestamp, task_id", index, [...rest, ...oldest], lastOfSlice);
      last = end && { statusTimestamp: end.status_timestamp, taskId: end.task_id };
      // One of the two bounds: with both, SQLite would search by the earlier one, and pass the same tasks in each step.
      const slice = () => [...rest, ...(last === undefined ? oldest : toPlace(">=", last)), ...matching];
      if (!more) {
        const stepEnd = reading.bytes + pieceBytes;
        const untilMore = { sql: `${newestFirst} limit ?`, values: [query.limit + 1 - page.tasks.length] };
        for (const row of select<TaskRow>(
          taskColumns,
          index,
          [...slice(), ...toPlace("<", query.after)],
          untilMore,
        )) {
          more ||= page.isFull;
          if (more) break;
          const first = readRow(row, query, reading);
          page.add(yield* readOn(row, first, query, reading, page.bytesLeft));
          if (first.task.more === undefined && reading.bytes <= stepEnd) continue;
          last = { statusTimestamp: row.status_timestamp, taskId: row.task_id }; // the slice ends here: the next step reads on
          break;
        }
      }
      if (!isKept) {
        const [count] = select<{ readonly total: number }>("count(*) as total", index, slice());
        tally.add(count?.total ?? 0, last);
      }
      if (last === undefined || (isKept && more)) {
        return { tasks: page.tasks, totalSize: tally.total, more };
      }
    }
  };
}

/** A task whose segments are damaged comes without them: the others of its page can be read. */
function unlessDamaged(row: TaskRow, read: () => ViewedTask): ViewedTask {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) return toBareView(row); // of `openSegment`; the reader of the page says that the log is empty
    throw error;
  }
}

function toBareView(row: TaskRow): ViewedTask {
  return { task: { ...toBareTask(row), snapshot: undefined, entries: [], more: undefined }, readBytes: 0 };
}

/** Which tasks a query passes, and which of them match. */
interface Passage {
  readonly index: "tasks_by_owner" | "tasks_by_context" | "tasks_by_state";
  readonly passed: readonly Condition[];
  readonly matching: readonly Condition[];
}

function choosePassage({ owner: { tenant, principal }, contextId, state }: TaskQuery): Passage {
  const owned = { sql: "tenant = ? and principal = ?", values: [tenant, principal] };
  const stated = toCondition("state = ?", state);
  if (contextId !== undefined) {
    const passed = [owned, ...toCondition("context_id = ?", contextId)];
    return { index: "tasks_by_context", passed, matching: stated };
  }
  if (state === undefined || state === TaskState.COMPLETED) {
    return { index: "tasks_by_owner", passed: [owned], matching: stated };
  }
  const indexed = { sql: notCompleted, values: [] };
  return { index: "tasks_by_state", passed: [owned, ...stated, indexed], matching: [] };
}

function toCondition(sql: string, value: SQLInputValue | undefined): readonly Condition[] {
  return value === undefined ? [] : [{ sql, values: [value] }];
}

function toPlace(comparison: "<" | ">=", place: ListCursor | undefined): readonly Condition[] {
  if (place === undefined) return [];
  const sql = `(status_timestamp, task_id) ${comparison} (?, ?)`;
  return [{ sql, values: [place.statusTimestamp, place.taskId] }];
}
