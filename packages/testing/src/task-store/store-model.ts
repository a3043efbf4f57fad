import { TaskState } from "@a2a-connect/proto";
import type {
  EntryKind,
  Owner,
  StoredTask,
  TaskCommit,
  TaskPage,
  TaskQuery,
  TaskView,
} from "@a2a-connect/server/store";

/** A task in the model: the whole log in one list. */
export type ModelTask = StoredTask;

/** The one webhook that a task of the model may have. */
interface ModelHook {
  readonly order: number;
  readonly next: number;
  readonly attempts: number;
  readonly retryAt: number;
}

/** What a store must contain, in the simplest form; changed in place. */
export interface StoreModel {
  readonly tasks: Map<string, ModelTask>;
  /** By task id. */
  readonly hooks: Map<string, ModelHook>;
  /** Task ids and generations, by owner and key. */
  readonly keys: Map<string, { readonly taskId: string; readonly generation: number }>;
  /** How many webhooks there were so far. */
  puts: number;
}

/** An empty store. */
export function createStoreModel(): StoreModel {
  return { tasks: new Map(), hooks: new Map(), keys: new Map(), puts: 0 };
}

/** The owner's task. */
export function ownTask({ tasks }: StoreModel, owner: Owner, taskId: string): ModelTask | undefined {
  const task = tasks.get(taskId);
  return task !== undefined && isSame(task.owner, owner) ? task : undefined;
}

/** The name of an owner's key in `keys`. */
export function nameOf({ tenant, principal }: Owner, key: string): string {
  return `${tenant} ${principal} ${key}`;
}

/** The task with what a commit appends. */
export function append(task: ModelTask | undefined, commit: TaskCommit): ModelTask {
  const entries = [...(task?.entries ?? []), ...commit.entries];
  return {
    owner: commit.owner,
    taskId: commit.taskId,
    index: commit.index,
    tail: { sequence: entries.length, generation: entries.filter(isEvent).length },
    fence: task?.fence ?? 1,
    snapshot: commit.snapshot ?? task?.snapshot,
    entries,
    more: undefined,
  };
}

/** Stores the webhook of a task. */
export function putHook(model: StoreModel, taskId: string, begin: number): void {
  model.puts += 1;
  const next = model.hooks.get(taskId)?.next ?? begin;
  model.hooks.set(taskId, { order: model.puts, next, attempts: 0, retryAt: 0 });
}

/** Removes the tasks that finished before a time. */
export function forgetFinished({ tasks, hooks, keys }: StoreModel, before: number): void {
  for (const [taskId, { index }] of tasks) {
    if (index.state !== TaskState.COMPLETED || index.statusTimestamp >= before) continue;
    tasks.delete(taskId);
    hooks.delete(taskId);
    for (const [name, key] of keys) if (key.taskId === taskId) keys.delete(name);
  }
}

const hiddenBy: Readonly<Record<TaskView, readonly EntryKind[]>> = {
  full: [],
  head: ["artifact"],
  results: ["input"],
  summary: ["artifact", "input"],
};

/** What a store returns for a task of the model. */
export function stored(task: ModelTask, view: TaskView): StoredTask {
  const { snapshot } = task;
  const hidden = ["command", "journal", ...hiddenBy[view]];
  const entries = task.entries.filter(
    ({ sequence, kind }) => sequence > (snapshot?.sequence ?? 0) && !hidden.includes(kind),
  );
  const half =
    hidden.includes("artifact") && snapshot !== undefined ? { ...snapshot, artifacts: undefined } : snapshot;
  return { ...task, snapshot: half, entries };
}

/** What a load of the task reads: the snapshot, and all payloads after it. */
export function bytesToLoad({ snapshot, entries }: ModelTask): number {
  const payloads = entries.slice(snapshot?.sequence ?? 0).map(({ payload }) => payload);
  const halves = snapshot === undefined ? [] : [snapshot.head, snapshot.artifacts ?? []];
  return [...halves, ...payloads].reduce((sum, { length }) => sum + length, 0);
}

/** The result of `list`. */
export function answer(
  tasks: readonly ModelTask[],
  { owner, contextId, state, since, after, limit, maxBytes, view }: TaskQuery,
): TaskPage {
  const matches = tasks.filter(
    (task) =>
      isSame(task.owner, owner) &&
      (contextId ?? task.index.contextId) === task.index.contextId &&
      (state ?? task.index.state) === task.index.state &&
      (since ?? 0) <= task.index.statusTimestamp,
  );
  const key = ({ taskId, statusTimestamp }: { taskId: string; statusTimestamp: number }) =>
    `${statusTimestamp} ${taskId}`;
  const place = (task: ModelTask) =>
    key({ taskId: task.taskId, statusTimestamp: task.index.statusTimestamp });
  matches.sort((one, other) => byBytes(place(other), place(one)));
  const rest = matches.filter((task) => after === undefined || byBytes(place(task), key(after)) < 0);
  const found = rest.map((task) => stored(task, view));
  const full = found.findIndex((_, at) => found.slice(0, at + 1).reduce(addBytes, 0) > maxBytes);
  const page = found.slice(0, Math.min(limit, full < 0 ? found.length : full + 1));
  return { tasks: page, totalSize: matches.length, more: rest.length > page.length };
}

function addBytes(sum: number, { snapshot, entries }: StoredTask): number {
  const halves = [snapshot?.head, snapshot?.artifacts, ...entries.map(({ payload }) => payload)];
  return sum + halves.reduce((bytes, half) => bytes + (half?.byteLength ?? 0), 0);
}

/** The result of `dueDeliveries`, both kinds in one list, without number and config. */
export function dueHooks({ tasks, hooks }: StoreModel, until: number): unknown {
  return [...hooks]
    .flatMap(([taskId, { order, next, attempts, retryAt }]) => {
      const task = tasks.get(taskId);
      if (task === undefined || task.tail.generation < next || retryAt > until) return [];
      const event = task.entries.find(({ generation }) => generation === next);
      const bytes = event?.payload.length;
      return [{ order, delivery: { owner: task.owner, taskId, next, bytes, attempts, dueAt: retryAt } }];
    })
    .sort((one, other) => one.delivery.dueAt - other.delivery.dueAt || one.order - other.order)
    .map(({ delivery }) => delivery);
}

/** Whether an entry is an event. */
export function isEvent({ generation }: { readonly generation: number | undefined }): boolean {
  return generation !== undefined;
}

/** Whether two owners are the same. */
export function isSame(one: Owner, other: Owner): boolean {
  return one.tenant === other.tenant && one.principal === other.principal;
}

/** The order of owners. */
export function byOwner(one: Owner, other: Owner): number {
  return byBytes(one.principal, other.principal) || byBytes(one.tenant, other.tenant);
}

/** The order of ids. */
export function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
