import { isTerminal } from "@a2a-connect/core";
import { TaskPushNotificationConfigSchema, TaskState } from "@a2a-connect/proto";
import { clone } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { type CommitTarget, decideCommit, isSameOwner } from "./decide-commit.ts";
import { takeEventPage } from "./log-page.ts";
import { createMemoryDeliveries } from "./memory-deliveries.ts";
import { createMemoryKeys } from "./memory-keys.ts";
import {
  appendTo,
  createMemoryTask,
  eventsAfter,
  type MemoryTask,
  readLogPage,
  readTask,
  toTaskWeight,
} from "./memory-task.ts";
import type { ListCursor, Owner, TaskCommit, TaskPage, TaskQuery, TaskStore } from "./task-store.ts";
import { TaskPageBuilder } from "./task-view.ts";

/**
 * A TaskStore that keeps tasks in memory only: for tests, and for agents whose tasks may be lost. A commit costs only
 * its own entries, for any length of the log; a list visits all tasks of its owner.
 */
export function createMemoryTaskStore(): TaskStore {
  const tasks = new Map<string, MemoryTask>();
  /** By tenant, then by principal. */
  const owners = new Map<string, Map<string, Set<MemoryTask>>>();
  const deliveries = createMemoryDeliveries();
  const keys = createMemoryKeys();
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
    return [...(owners.get(tenant)?.get(principal) ?? [])];
  }

  function createTask(commit: TaskCommit): MemoryTask {
    const task = createMemoryTask(commit);
    const { tenant, principal } = task.owner;
    tasks.set(task.taskId, task);
    const principals = owners.get(tenant) ?? new Map<string, Set<MemoryTask>>();
    const owned = principals.get(principal) ?? new Set();
    owners.set(tenant, principals.set(principal, owned.add(task)));
    return task;
  }

  /** Returns how many rows another store would remove. */
  function forgetTask(task: MemoryTask): number {
    tasks.delete(task.taskId);
    owners.get(task.owner.tenant)?.get(task.owner.principal)?.delete(task);
    const rows = 1 + task.keys.length + task.deliveries.size;
    deliveries.clear(task);
    keys.clear(task);
    return rows;
  }

  return {
    async commit(commit) {
      assertOpen();
      const { owner } = commit;
      const found = tasks.get(commit.taskId);
      const isTaken = (key: string) => keys.find(owner, key) !== undefined;
      const result = decideCommit(commit, found && toTarget(found), isTaken);
      if ("refused" in result) return result;
      const task = found ?? createTask(commit);
      const begin = task.tail.generation + 1;
      appendTo(task, commit, result.tail);
      if (result.deliveryDue) deliveries.wake(task);
      for (const config of commit.pushConfigs) deliveries.put(task, config, begin);
      for (const key of commit.keys) keys.putTask(task, key);
      return result;
    },

    async claim(owner, taskId) {
      const task = findTask(owner, taskId);
      if (task === undefined) return undefined;
      task.fence += 1;
      return readTask(task, "full").task;
    },

    async find(owner, taskId, view) {
      const task = findTask(owner, taskId);
      return task === undefined ? undefined : readTask(task, view).task;
    },

    async list(query) {
      return listTasks(ownedTasks(query.owner), query);
    },

    async events(owner, taskId, after, limit) {
      const task = findTask(owner, taskId);
      return task === undefined ? [] : takeEventPage(eventsAfter(task, after), limit);
    },

    async entries(owner, taskId, after, view, limit) {
      const task = findTask(owner, taskId);
      if (task === undefined) return { entries: [], end: after, more: false };
      return readLogPage(task, after, view, limit);
    },

    async findKey(owner, key) {
      assertOpen();
      return keys.find(owner, key);
    },

    async findReply(owner, key) {
      assertOpen();
      return keys.findReply(owner, key);
    },

    async putReply(owner, key, message, expiresAt) {
      assertOpen();
      return keys.putReply(owner, key, message, expiresAt);
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

    async weigh(owner, taskId) {
      const task = findTask(owner, taskId);
      return task && toTaskWeight(task);
    },

    async noteLoads(owner, taskId, loads) {
      const task = findTask(owner, taskId);
      if (task !== undefined) task.loads = loads;
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

    async dueDeliveries(query) {
      assertOpen();
      return deliveries.due(query);
    },

    async moveDelivery(move) {
      assertOpen();
      deliveries.move(move);
    },

    async expire({ finishedBefore, now, limit }) {
      assertOpen();
      let left = limit - keys.expire(now, limit);
      for (const task of tasks.values()) {
        if (left <= 0) break;
        if (isFinished(task, finishedBefore)) left -= forgetTask(task);
      }
      return left <= 0;
    },

    async putPushConfig(owner, config) {
      const task = findTask(owner, config.taskId);
      if (task !== undefined) deliveries.put(task, config, task.tail.generation + 1);
      return task !== undefined;
    },

    async findPushConfig(owner, taskId, id) {
      const config = findTask(owner, taskId)?.deliveries.get(id)?.config;
      return config === undefined ? undefined : clone(TaskPushNotificationConfigSchema, config);
    },

    async listPushConfigs(owner, taskId, after, limit) {
      const task = findTask(owner, taskId);
      if (task === undefined) return undefined;
      return [...task.deliveries.values()]
        .map(({ config }) => config)
        .filter(({ id }) => after === undefined || compareText(id, after) > 0)
        .sort((one, other) => compareText(one.id, other.id))
        .slice(0, limit)
        .map((config) => clone(TaskPushNotificationConfigSchema, config));
    },

    async deletePushConfig(owner, taskId, id) {
      const task = findTask(owner, taskId);
      if (task !== undefined) deliveries.remove(task, id);
      return task !== undefined;
    },

    async close() {
      open = false;
    },
  };
}

function toTarget({ owner, tail, fence, deliveries }: MemoryTask): CommitTarget {
  return { owner, tail, fence, hasPushConfigs: deliveries.size > 0 };
}

function isFinished({ index }: MemoryTask, before: number | undefined): boolean {
  return before !== undefined && index.statusTimestamp < before && isTerminal(index.state);
}

function listTasks(
  owned: readonly MemoryTask[],
  { contextId, state, since, after, limit, maxBytes, view }: TaskQuery,
): TaskPage {
  const matches = owned
    .filter(({ index }) => contextId === undefined || index.contextId === contextId)
    .filter(({ index }) => state === undefined || index.state === state)
    .filter(({ index }) => since === undefined || index.statusTimestamp >= since)
    .sort((one, other) => compareNewestFirst(toCursor(one), toCursor(other)));
  const rest =
    after === undefined ? matches : matches.filter((task) => compareNewestFirst(toCursor(task), after) > 0);
  const page = new TaskPageBuilder({ limit, maxBytes });
  for (const task of rest) {
    if (page.isFull) break;
    page.add((bytes) => readTask(task, view, bytes));
  }
  return { tasks: page.tasks, totalSize: matches.length, more: rest.length > page.tasks.length };
}

function toCursor({ taskId, index }: MemoryTask): ListCursor {
  return { taskId, statusTimestamp: index.statusTimestamp };
}

function compareNewestFirst(one: ListCursor, other: ListCursor): number {
  return other.statusTimestamp - one.statusTimestamp || compareText(other.taskId, one.taskId);
}

/**
 * Orders ids by code point, like their UTF-8 bytes: the order of every store. JavaScript's own `<` compares UTF-16
 * units and puts characters beyond U+FFFF before U+E000.
 *
 * @returns negative, zero or positive, as `Array.prototype.sort` expects
 */
function compareText(one: string, other: string): number {
  const shared = Math.min(one.length, other.length);
  for (let at = 0; at < shared; at += 1) {
    const difference = rank(one.charCodeAt(at)) - rank(other.charCodeAt(at));
    if (difference !== 0) return difference;
  }
  return one.length - other.length;
}

/** Moves the surrogates (U+D800 to U+DFFF) above all other UTF-16 units. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit;
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800;
}
