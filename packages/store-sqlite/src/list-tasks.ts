import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { type ListCursor, type TaskPage, TaskPageBuilder, type TaskQuery } from "@a2a-connect/server/store";
import type { Gap } from "./large-values.ts";
import type { ListTotals } from "./list-totals.ts";
import { prepareQuery, type Query } from "./schema.ts";
import { type TaskReader, type TaskRow, taskColumns } from "./task-rows.ts";

/** Answers `TaskStore.list`, a slice of the list in each step; `gaps` as in `TaskReader.task`. */
export type ListTasks = (query: TaskQuery, gaps: Gap[]) => Generator<void, TaskPage>;

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

/** How many tasks the first step of a page passes when there is nothing to count. */
const minSliceTasks = 1_000;

const newestFirst = "order by status_timestamp desc, task_id desc";

/**
 * Lists by `tasks_by_owner` or `tasks_by_context`. Both have the order and all filters, so that counting reads no row. When
 * the total is not kept, every task of the owner or context has to be passed to count the matches, so a long list takes many
 * steps. What changes between two steps is seen or not, as between two pages.
 */
export function createListTasks(
  database: DatabaseSync,
  reader: TaskReader,
  totals: ListTotals,
  sliceTasks: number = defaultSliceTasks,
): ListTasks {
  /** One statement for each combination of filters. */
  const queries = new Map<string, Query<object>>();

  function select<Row extends object>(
    columns: string,
    { contextId }: TaskQuery,
    conditions: readonly Condition[],
    end?: Condition,
  ): Row[] {
    const index = contextId === undefined ? "tasks_by_owner" : "tasks_by_context";
    const where = conditions.map(({ sql }) => sql).join(" and ");
    const sql = `select ${columns} from tasks indexed by ${index} where ${where} ${end?.sql ?? ""}`;
    const query = queries.get(sql) ?? prepareQuery<Row>(database, sql);
    queries.set(sql, query);
    return query.all(...conditions.flatMap(({ values }) => values), ...(end?.values ?? [])) as Row[]; // of these columns
  }

  return function* (query, gaps) {
    const page = new TaskPageBuilder(query);
    const tally = totals.open(query);
    const isKept = tally.isDone;
    let more = false;
    // Without tasks to count, the page begins where it begins, and the first slice is what it may need.
    for (let last = isKept ? query.after : undefined, size = isKept ? minSliceTasks : sliceTasks; ; yield) {
      const rest = [...toFilters(query), ...toPlace("<", last)];
      const oldest = toCondition("status_timestamp >= ?", query.since);
      const lastOfSlice = { sql: `${newestFirst} limit 1 offset ?`, values: [size - 1] };
      size = sliceTasks;
      const [end] = select<PlaceRow>("status_timestamp, task_id", query, [...rest, ...oldest], lastOfSlice);
      last = end && { statusTimestamp: end.status_timestamp, taskId: end.task_id };
      // One of the two bounds: with both, SQLite would search by the earlier one, and pass the same tasks in each step.
      const bound = last === undefined ? oldest : toPlace(">=", last);
      const slice = [...rest, ...bound, ...toCondition("state = ?", query.state)];
      if (!more) {
        const untilMore = { sql: `${newestFirst} limit ?`, values: [query.limit + 1 - page.tasks.length] };
        for (const row of select<TaskRow>(
          taskColumns,
          query,
          [...slice, ...toPlace("<", query.after)],
          untilMore,
        )) {
          more ||= page.isFull;
          if (!more) page.add((bytes) => reader.task(row, query.view, gaps, bytes));
        }
      }
      if (!isKept) {
        const [count] = select<{ readonly total: number }>("count(*) as total", query, slice);
        tally.add(count?.total ?? 0, last);
      }
      if (last === undefined || (isKept && more)) {
        return { tasks: page.tasks, totalSize: tally.total, more };
      }
    }
  };
}

function toFilters({ owner: { tenant, principal }, contextId }: TaskQuery): readonly Condition[] {
  const owned = { sql: "tenant = ? and principal = ?", values: [tenant, principal] };
  return [owned, ...toCondition("context_id = ?", contextId)];
}

function toCondition(sql: string, value: SQLInputValue | undefined): readonly Condition[] {
  return value === undefined ? [] : [{ sql, values: [value] }];
}

function toPlace(comparison: "<" | ">=", place: ListCursor | undefined): readonly Condition[] {
  if (place === undefined) return [];
  const sql = `(status_timestamp, task_id) ${comparison} (?, ?)`;
  return [{ sql, values: [place.statusTimestamp, place.taskId] }];
}
