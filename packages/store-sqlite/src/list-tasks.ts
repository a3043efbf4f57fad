import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { type TaskPage, type TaskQuery, takeTaskPage } from "@a2a-connect/server/store";
import type { Gap } from "./large-values.ts";
import { prepareQuery, type Query } from "./query.ts";
import { type TaskReader, type TaskRow, taskColumns } from "./task-rows.ts";

/** Answers `TaskStore.list`; `gaps` as in `TaskReader.task`. */
export type ListTasks = (query: TaskQuery, gaps: Gap[]) => TaskPage;

interface CountRow {
  readonly total: number;
}

interface Condition {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

/**
 * Lists by the index `tasks_by_owner`, which has the order and all filters except the context, so that counting all
 * matches reads no row. Within a context it lists by `tasks_by_context`, and sorts the few tasks of the context.
 */
export function createListTasks(database: DatabaseSync, reader: TaskReader): ListTasks {
  /** One statement for each combination of filters: at most 16 of each kind. */
  const pages = new Map<string, Query<TaskRow>>();
  const counts = new Map<string, Query<CountRow>>();

  function page(source: string): Query<TaskRow> {
    const order = "order by status_timestamp desc, task_id desc limit ?";
    return remember(pages, source, () =>
      prepareQuery(database, `select ${taskColumns} from ${source} ${order}`),
    );
  }

  function count(source: string): Query<CountRow> {
    return remember(counts, source, () => prepareQuery(database, `select count(*) as total from ${source}`));
  }

  return (query, gaps) => {
    const filters = toFilters(query);
    const place = toPlace(query);
    const paged = [...filters, ...place];
    const rows = page(formatSource(query, paged)).all(...toValues(paged), query.limit + 1);
    const isAll = rows.length <= query.limit && place.length === 0;
    const total = isAll
      ? rows.length
      : (count(formatSource(query, filters)).get(...toValues(filters))?.total ?? 0);
    const tasks = takeTaskPage(rows, query, (row, bytes) => reader.task(row, query.view, gaps, bytes));
    return { tasks, totalSize: total, more: rows.length > tasks.length };
  };
}

function toFilters({ owner, contextId, state, since }: TaskQuery): readonly Condition[] {
  const filters: Condition[] = [
    { sql: "tenant = ? and principal = ?", values: [owner.tenant, owner.principal] },
  ];
  if (contextId !== undefined) filters.push({ sql: "context_id = ?", values: [contextId] });
  if (state !== undefined) filters.push({ sql: "state = ?", values: [state] });
  if (since !== undefined) filters.push({ sql: "status_timestamp >= ?", values: [since] });
  return filters;
}

function toPlace({ after }: TaskQuery): readonly Condition[] {
  if (after === undefined) return [];
  return [{ sql: "(status_timestamp, task_id) < (?, ?)", values: [after.statusTimestamp, after.taskId] }];
}

/** Names the index, because SQLite cannot know that contexts are small. */
function formatSource({ contextId }: TaskQuery, conditions: readonly Condition[]): string {
  const index = contextId === undefined ? "tasks_by_owner" : "tasks_by_context";
  return `tasks indexed by ${index} where ${conditions.map(({ sql }) => sql).join(" and ")}`;
}

function toValues(conditions: readonly Condition[]): SQLInputValue[] {
  return conditions.flatMap(({ values }) => values);
}

function remember<V>(known: Map<string, V>, key: string, create: () => V): V {
  const value = known.get(key) ?? create();
  known.set(key, value);
  return value;
}
