import { isTerminal } from "@a2a-connect/core";
import { heapLimit } from "@a2a-connect/core/internal";
import { TaskPushNotificationConfigSchema, TaskState } from "@a2a-connect/proto";
import { clone } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { type CommitTarget, decideCommit, isSameOwner } from "./decide-commit.ts";
import { takeEventPage } from "./log-page.ts";
import { createMemoryDeliveries } from "./memory-deliveries.ts";
import { createMemoryKeys } from "./memory-keys.ts";
import { createMemoryLists } from "./memory-lists.ts";
import { compareText, TaskOrder } from "./memory-order.ts";
import {
  appendTo,
  createMemoryTask,
  eventsAfter,
  type MemoryTask,
  readLogPage,
  readTask,
  toTaskWeight,
} from "./memory-task.ts";
import type {
  DueTimer,
  Owner,
  TaskCommit,
  TaskIndex,
  TaskPage,
  TaskQuery,
  TaskRef,
  TaskStore,
  UnfinishedQuery,
} from "./task-store.ts";
import { TaskPageBuilder } from "./task-view.ts";

/** How much memory the tasks may take. */
export interface MemoryTaskStoreOptions {
  /**
   * Bytes that the tasks may take, about: those of their messages and artifacts, and 512 for each event. Beyond it the store takes
   * no new tasks and no messages of callers until older tasks expire: `Unavailable`. Default a quarter of the heap that Node
   * may use, 1 GiB on most machines, for all stores of the process that have this default together.
   */
  readonly maxBytes?: number | undefined;
}

/** What the stores that share the default have together. */
const together = { bytes: 0 };

/** Names it, for the parts of callers. */
const heap = "heap";

/** The tasks of such a store that was never closed give their bytes back when V8 collects them; the store itself may live on as a copy. */
const dropped = new FinalizationRegistry<{ readonly bytes: number }>(({ bytes }) => {
  together.bytes -= bytes;
});

/**
 * A TaskStore that keeps tasks in memory only: for tests, and for agents whose tasks may be lost. A commit costs only
 * its own entries, for any length of the log, and a list its page, for any number of tasks.
 */
export function createMemoryTaskStore({ maxBytes }: MemoryTaskStoreOptions = {}): TaskStore {
  const own = { bytes: 0 };
  const all = maxBytes === undefined ? together : own;
  const most = maxBytes ?? heapLimit() / 4;
  const tasks = new Map<string, MemoryTask>();
  if (all === together) dropped.register(tasks, own);
  const lists = createMemoryLists();
  /** The tasks that have a timer. */
  const timers = new TaskOrder<MemoryTask>(({ index }) => index.wakeAt ?? 0);
  /** The tasks in a terminal state: they expire in this order. */
  const finished = new TaskOrder<MemoryTask>(({ index }) => index.statusTimestamp);
  const deliveries = createMemoryDeliveries();
  const keys = createMemoryKeys(use);
  let open = true;

  function use(bytes: number): void {
    own.bytes += bytes;
    if (all === together) together.bytes += bytes;
  }

  function assertOpen(): void {
    if (!open) throw new ConnectError("the task store is closed", Code.Unavailable);
  }

  function assertRoom(): void {
    if (all.bytes < most) return;
    const words = "the task store in memory is full; it takes messages again when older tasks have expired";
    throw new ConnectError(words, Code.Unavailable);
  }

  function findTask(owner: Owner, taskId: string): MemoryTask | undefined {
    assertOpen();
    const task = tasks.get(taskId);
    return task !== undefined && isSameOwner(task.owner, owner) ? task : undefined;
  }

  function createTask(commit: TaskCommit): MemoryTask {
    const task = createMemoryTask(commit);
    tasks.set(task.taskId, task);
    addToOrders(task);
    return task;
  }

  function addToOrders(task: MemoryTask): void {
    lists.add(task);
    if (task.index.wakeAt !== undefined) timers.add(task);
    if (isTerminal(task.index.state)) finished.add(task);
  }

  function removeFromOrders(task: MemoryTask): void {
    lists.remove(task);
    if (task.index.wakeAt !== undefined) timers.remove(task);
    if (isTerminal(task.index.state)) finished.remove(task);
  }

  function forgetTask(task: MemoryTask): void {
    tasks.delete(task.taskId);
    use(-task.bytes);
    removeFromOrders(task);
    deliveries.clear(task);
    keys.clear(task);
  }

  return {
    async commit(commit) {
      assertOpen();
      const { owner } = commit;
      const found = tasks.get(commit.taskId);
      const isTaken = (key: string) => keys.find(owner, key) !== undefined;
      const result = decideCommit(commit, found && toTarget(found), isTaken);
      if ("refused" in result) return result;
      // What is at work already may end.
      if (found === undefined || commit.entries.some(({ kind }) => kind === "input")) assertRoom();
      const task = found ?? createTask(commit);
      const begin = task.tail.generation + 1;
      const moves = !isSamePlace(task.index, commit.index);
      if (moves) removeFromOrders(task);
      if (found !== undefined) use(-task.bytes);
      appendTo(task, commit, result.tail);
      if (moves) addToOrders(task);
      if (result.deliveryDue) deliveries.wake(task);
      for (const config of commit.pushConfigs) deliveries.put(task, config, begin);
      for (const key of commit.keys) keys.putTask(task, key);
      use(task.bytes);
      return result;
    },

    async claim(owner, taskId) {
      const task = findTask(owner, taskId);
      if (task === undefined) return undefined;
      task.fence += 1;
      const { fence, tail } = task;
      return { fence, tail };
    },

    async find(owner, taskId, view) {
      const task = findTask(owner, taskId);
      return task === undefined ? undefined : readTask(task, view).task;
    },

    async list(query) {
      assertOpen();
      return listTasks(lists.find(query), query);
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
      assertRoom();
      return keys.putReply(owner, key, message, expiresAt);
    },

    async unfinished({ hasTimer, after, limit }) {
      assertOpen();
      return [...tasks.values()]
        .filter(({ index }) => index.state === TaskState.SUBMITTED || index.state === TaskState.WORKING)
        .filter(({ index }) => (index.wakeAt !== undefined) === hasTimer)
        .filter((task) => after === undefined || isUnfinishedAfter(task, after))
        .sort(compareTasks)
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

    async due(until, limit, after) {
      assertOpen();
      const last = after ?? beforeAllTimers;
      const due: DueTimer[] = [];
      for (const { owner, taskId, index } of timers.oldestFirst({ time: last.wakeAt, taskId: last.taskId })) {
        const { wakeAt = 0 } = index;
        if (wakeAt > until || due.length === limit) break;
        if (wakeAt > last.wakeAt || taskId !== last.taskId) due.push({ owner, taskId, wakeAt });
      }
      return due;
    },

    async dueDeliveries(query) {
      assertOpen();
      return deliveries.due(query);
    },

    async dueDeliveriesOf(owner, taskId, limit) {
      const task = findTask(owner, taskId);
      return task === undefined ? [] : deliveries.dueOf(task, limit);
    },

    async moveDelivery(move) {
      assertOpen();
      deliveries.move(move);
    },

    async expire({ finishedBefore = Number.NEGATIVE_INFINITY, now, limit }) {
      assertOpen();
      let left = limit - keys.expire(now, limit);
      const expired: MemoryTask[] = [];
      for (const task of finished.oldestFirst(beforeAllTasks)) {
        if (left <= 0 || task.index.statusTimestamp >= finishedBefore) break;
        expired.push(task);
        left -= 1 + task.keys.length + task.deliveries.size; // as many rows as another store would remove
      }
      for (const task of expired) forgetTask(task);
      return left <= 0;
    },

    async putPushConfig(owner, config) {
      const task = findTask(owner, config.taskId);
      if (task === undefined) return false;
      assertRoom();
      use(-task.bytes);
      deliveries.put(task, config, task.tail.generation + 1);
      use(task.bytes);
      return true;
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

    async pushConfigIds(owner, taskId, limit) {
      const task = findTask(owner, taskId);
      return task && [...task.deliveries.keys()].slice(0, limit);
    },

    async deletePushConfig(owner, taskId, id) {
      const task = findTask(owner, taskId);
      if (task === undefined) return false;
      use(-task.bytes);
      deliveries.remove(task, id);
      use(task.bytes);
      return true;
    },

    room: () => ({
      used: own.bytes,
      free: Math.max(0, most - all.bytes),
      place: all === together ? heap : undefined,
    }),

    async close() {
      open = false;
      use(-own.bytes);
    },
  };
}

function toTarget({ owner, tail, fence, deliveries }: MemoryTask): CommitTarget {
  return { owner, tail, fence, hasPushConfigs: deliveries.size > 0 };
}

function isSamePlace(one: TaskIndex, other: TaskIndex): boolean {
  const { contextId, state, statusTimestamp, wakeAt } = one;
  const isListedThere = contextId === other.contextId && state === other.state;
  return isListedThere && statusTimestamp === other.statusTimestamp && wakeAt === other.wakeAt;
}

function listTasks(
  order: TaskOrder | undefined,
  { state, since, after, limit, maxBytes, view }: TaskQuery,
): TaskPage {
  if (order === undefined) return { tasks: [], totalSize: 0, more: false };
  const filter = { state, since };
  const page = new TaskPageBuilder({ limit, maxBytes });
  let more = false;
  for (const task of order.newestFirst(after, filter)) {
    more = page.isFull;
    if (more) break;
    page.add(readTask(task, view, page.bytesLeft));
  }
  return { tasks: page.tasks, totalSize: order.count(filter), more };
}

/** Before the first place that a task can have in an order. */
const beforeAllTasks = { time: Number.NEGATIVE_INFINITY, taskId: "" };

/** Before the first timer that a task can have. */
const beforeAllTimers = { wakeAt: beforeAllTasks.time, taskId: beforeAllTasks.taskId };

/** The order of `TaskStore.unfinished`. */
function compareTasks(one: TaskRef, other: TaskRef): number {
  return compareOwners(one.owner, other.owner) || compareText(one.taskId, other.taskId);
}

function isUnfinishedAfter(task: TaskRef, after: NonNullable<UnfinishedQuery["after"]>): boolean {
  return "owner" in after
    ? compareTasks(task, after) > 0
    : compareText(task.owner.principal, after.principal) > 0;
}

function compareOwners(one: Owner, other: Owner): number {
  return compareText(one.principal, other.principal) || compareText(one.tenant, other.tenant);
}
