import {
  type TaskPushNotificationConfig,
  TaskPushNotificationConfigSchema,
  TaskState,
} from "@a2a-connect/proto";
import { clone } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { decideCommit, isSameOwner } from "./decide-commit.ts";
import { takeEventPage } from "./event-page.ts";
import type {
  ListCursor,
  LogEntry,
  LogEvent,
  LogTail,
  Owner,
  Snapshot,
  StoredTask,
  TaskCommit,
  TaskIndex,
  TaskPage,
  TaskQuery,
  TaskStore,
  TaskView,
} from "./task-store.ts";
import { compareText } from "./text-order.ts";

interface MemoryTask {
  readonly owner: Owner;
  readonly taskId: string;
  index: TaskIndex;
  tail: LogTail;
  fence: number;
  snapshot: Snapshot | undefined;
  /** The whole log: `entries[n]` has sequence n + 1. */
  readonly entries: LogEntry[];
  /** Its events: `events[n]` has generation n + 1. */
  readonly events: LogEvent[];
  readonly pushConfigs: Map<string, TaskPushNotificationConfig>;
}

/**
 * A TaskStore that forgets everything with the process: for tests, and for agents whose tasks may be lost. A commit
 * costs the entries it has, whatever the log's length; lists look at all tasks of their owner.
 */
export function createMemoryTaskStore(): TaskStore {
  const tasks = new Map<string, MemoryTask>();
  /** By tenant, then by principal. */
  const owners = new Map<string, Map<string, MemoryTask[]>>();
  let open = true;

  function assertOpen(): void {
    if (!open) throw new ConnectError("the task store is closed", Code.Unavailable);
  }

  function findTask(owner: Owner, taskId: string): MemoryTask | undefined {
    assertOpen();
    const task = tasks.get(taskId);
    return task !== undefined && isSameOwner(task.owner, owner) ? task : undefined;
  }

  function ownedTasks({ tenant, principal }: Owner): readonly MemoryTask[] {
    assertOpen();
    return owners.get(tenant)?.get(principal) ?? [];
  }

  function createTask({ owner, taskId, index }: TaskCommit): MemoryTask {
    const task: MemoryTask = {
      owner,
      taskId,
      index,
      tail: { sequence: 0, generation: 0 },
      fence: 1,
      snapshot: undefined,
      entries: [],
      events: [],
      pushConfigs: new Map(),
    };
    tasks.set(taskId, task);
    const principals = owners.get(owner.tenant) ?? new Map<string, MemoryTask[]>();
    const owned = principals.get(owner.principal) ?? [];
    owners.set(owner.tenant, principals.set(owner.principal, owned));
    owned.push(task);
    return task;
  }

  return {
    async commit(commit) {
      assertOpen();
      const found = tasks.get(commit.taskId);
      const result = decideCommit(commit, found);
      if (!("refused" in result)) appendTo(found ?? createTask(commit), commit, result.tail);
      return result;
    },

    async claim(owner, taskId) {
      const task = findTask(owner, taskId);
      if (task === undefined) return undefined;
      task.fence += 1;
      return toStoredTask(task, "full");
    },

    async find(owner, taskId, view) {
      const task = findTask(owner, taskId);
      return task === undefined ? undefined : toStoredTask(task, view);
    },

    async list(query) {
      return listTasks(ownedTasks(query.owner), query);
    },

    async events(owner, taskId, after, limit) {
      const task = findTask(owner, taskId);
      return task === undefined ? [] : takeEventPage(eventsAfter(task.events, after), limit);
    },

    async unfinished(after, limit) {
      assertOpen();
      return [...tasks.values()]
        .filter(({ index }) => index.state === TaskState.SUBMITTED || index.state === TaskState.WORKING)
        .filter(({ taskId }) => after === undefined || compareText(taskId, after) > 0)
        .sort((one, other) => compareText(one.taskId, other.taskId))
        .slice(0, limit)
        .map(({ owner, taskId }) => ({ owner, taskId }));
    },

    async due(until, limit) {
      assertOpen();
      const due = [];
      for (const { owner, taskId, index } of tasks.values()) {
        if (index.wakeAt !== undefined && index.wakeAt <= until)
          due.push({ owner, taskId, wakeAt: index.wakeAt });
      }
      return due
        .sort((one, other) => one.wakeAt - other.wakeAt || compareText(one.taskId, other.taskId))
        .slice(0, limit);
    },

    async putPushConfig(owner, config) {
      const task = findTask(owner, config.taskId);
      if (task !== undefined) keepPushConfig(task, config);
      return task !== undefined;
    },

    async findPushConfig(owner, taskId, id) {
      const config = findTask(owner, taskId)?.pushConfigs.get(id);
      return config === undefined ? undefined : clone(TaskPushNotificationConfigSchema, config);
    },

    async listPushConfigs(owner, taskId, after, limit) {
      const task = findTask(owner, taskId);
      if (task === undefined) return undefined;
      return [...task.pushConfigs.values()]
        .filter(({ id }) => after === undefined || compareText(id, after) > 0)
        .sort((one, other) => compareText(one.id, other.id))
        .slice(0, limit)
        .map((config) => clone(TaskPushNotificationConfigSchema, config));
    },

    async deletePushConfig(owner, taskId, id) {
      const task = findTask(owner, taskId);
      task?.pushConfigs.delete(id);
      return task !== undefined;
    },

    async close() {
      open = false;
    },
  };
}

function appendTo(task: MemoryTask, commit: TaskCommit, tail: LogTail): void {
  for (const entry of commit.entries) {
    task.entries.push(entry);
    if (isEvent(entry)) task.events.push(entry);
  }
  task.index = commit.index;
  task.tail = tail;
  task.snapshot = commit.snapshot ?? task.snapshot;
  for (const config of commit.pushConfigs) keepPushConfig(task, config);
}

function isEvent(entry: LogEntry): entry is LogEvent {
  return entry.generation !== undefined;
}

/** Keeps a copy: messages are mutable, and what is stored must not change under its owner's hands. */
function keepPushConfig(task: MemoryTask, config: TaskPushNotificationConfig): void {
  task.pushConfigs.set(config.id, clone(TaskPushNotificationConfigSchema, config));
}

function toStoredTask(
  { owner, taskId, index, tail, fence, snapshot, entries }: MemoryTask,
  view: TaskView,
): StoredTask {
  const rest = entries.slice(snapshot?.sequence ?? 0);
  if (view === "full") return { owner, taskId, index, tail, fence, snapshot, entries: rest };
  return {
    owner,
    taskId,
    index,
    tail,
    fence,
    snapshot: snapshot === undefined ? undefined : { ...snapshot, artifacts: undefined },
    entries: rest.filter(({ kind }) => kind !== "artifact"),
  };
}

function listTasks(
  owned: readonly MemoryTask[],
  { contextId, state, since, after, limit, view }: TaskQuery,
): TaskPage {
  const matches = owned
    .filter(({ index }) => contextId === undefined || index.contextId === contextId)
    .filter(({ index }) => state === undefined || index.state === state)
    .filter(({ index }) => since === undefined || index.statusTimestamp >= since)
    .sort((one, other) => compareNewestFirst(toCursor(one), toCursor(other)));
  const rest =
    after === undefined ? matches : matches.filter((task) => compareNewestFirst(toCursor(task), after) > 0);
  return {
    tasks: rest.slice(0, limit).map((task) => toStoredTask(task, view)),
    totalSize: matches.length,
    more: rest.length > limit,
  };
}

function toCursor({ taskId, index }: MemoryTask): ListCursor {
  return { taskId, statusTimestamp: index.statusTimestamp };
}

function compareNewestFirst(one: ListCursor, other: ListCursor): number {
  return other.statusTimestamp - one.statusTimestamp || compareText(other.taskId, one.taskId);
}

function* eventsAfter(events: readonly LogEvent[], generation: number): Iterable<LogEvent> {
  for (let at = generation; at < events.length; at += 1) {
    const event = events[at];
    if (event !== undefined) yield event;
  }
}
