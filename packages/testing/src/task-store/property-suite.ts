import { TaskState } from "@a2a-connect/proto";
import type { TaskStore } from "@a2a-connect/server";
import type {
  EntryKind,
  LogEntry,
  LogPage,
  LogView,
  Owner,
  TaskQuery,
  TaskRef,
} from "@a2a-connect/server/store";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCommit, createPushConfig } from "../task-commit.ts";
import { type OpenTaskStore, readDue } from "./opened-store.ts";
import {
  answer,
  append,
  byBytes,
  byOwner,
  bytesToLoad,
  createStoreModel,
  dueHooks,
  forgetFinished,
  isEvent,
  isSame,
  nameOf,
  ownTask,
  putHook,
  type StoreModel,
  stored,
} from "./store-model.ts";

/** Short runs for every check; the seed is fixed, so that a failure repeats on every machine. */
const runs: fc.Parameters<unknown> = { seed: 20_260, numRuns: 40 };

const owners: readonly Owner[] = [
  { tenant: "", principal: "alice" },
  { tenant: "", principal: "bob" },
  { tenant: "acme", principal: "alice" },
];
const taskIds = ["a", "b", "c", "\uffff", "\u{1f642}"];
const contexts = ["x", "y"];
const states = [TaskState.SUBMITTED, TaskState.WORKING, TaskState.INPUT_REQUIRED, TaskState.COMPLETED];
const kinds: readonly EntryKind[] = ["task", "status", "artifact", "input", "command", "journal"];

const fingerprint = new Uint8Array([1, 2, 3]);

const step = fc.record({
  owner: fc.constantFrom(...owners),
  taskId: fc.constantFrom(...taskIds),
  contextId: fc.constantFrom(...contexts),
  state: fc.constantFrom(...states),
  at: fc.integer({ min: 0, max: 3 }),
  wakeAt: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
  kinds: fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 4 }),
  snapshot: fc.boolean(),
  does: fc.constantFrom("commit", "commit", "commit", "commit", "claim", "expire", "deliver"),
  key: fc.constantFrom(undefined, undefined, "k", "l"),
  hook: fc.boolean(),
  /** By how much the writer is wrong about the end of the log, and about its fence. */
  ahead: fc.constantFrom(0, 0, 0, 0, -1, 1),
  fenceAhead: fc.constantFrom(0, 0, 0, 0, -1, 1),
});

const query: fc.Arbitrary<TaskQuery> = fc.record({
  owner: fc.constantFrom(...owners),
  contextId: fc.constantFrom(undefined, ...contexts),
  state: fc.constantFrom(undefined, ...states),
  since: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
  after: fc.option(
    fc.record({ statusTimestamp: fc.integer({ min: 0, max: 4 }), taskId: fc.constantFrom(...taskIds) }),
    {
      nil: undefined,
    },
  ),
  limit: fc.integer({ min: 1, max: 6 }),
  maxBytes: fc.constantFrom(1, 200, 500, Number.POSITIVE_INFINITY),
  view: fc.constantFrom("full", "head", "results", "summary"),
});

/**
 * Random commits, claims, deliveries, expiries and reads have the same results as lists of tasks, webhooks and keys.
 */
export function propertySuite(open: OpenTaskStore): void {
  describe("any sequence of writes", () => {
    it("reads like a list of whole logs", { timeout: 60_000 }, async () => {
      const steps = fc.array(step, { maxLength: 40 });
      const queries = fc.array(query, { minLength: 5, maxLength: 5 });
      await fc.assert(
        fc.asyncProperty(steps, queries, async (walk, questions) => {
          const { store } = await open();
          try {
            const model = createStoreModel();
            for (const next of walk) await take(store, model, next);
            await compare(store, model, questions);
          } finally {
            await store.close();
          }
        }),
        runs,
      );
    });
  });
}

type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

async function take(store: TaskStore, model: StoreModel, next: Step): Promise<void> {
  switch (next.does) {
    case "commit":
      return takeCommit(store, model, next);
    case "claim":
      return takeClaim(store, model, next);
    case "expire":
      return takeExpiry(store, model, next);
    case "deliver":
      return takeDelivery(store, model, next);
  }
}

async function takeClaim(store: TaskStore, model: StoreModel, { owner, taskId }: Step): Promise<void> {
  const known = ownTask(model, owner, taskId);
  const claimed = known && { ...known, fence: known.fence + 1 };
  if (claimed !== undefined) model.tasks.set(taskId, claimed);
  expect(await store.claim(owner, taskId)).toEqual(
    claimed && { fence: claimed.fence, tail: stored(claimed, "full").tail },
  );
}

async function takeCommit(store: TaskStore, model: StoreModel, next: Step): Promise<void> {
  const { owner, taskId } = next;
  const known = model.tasks.get(taskId);
  const isOwn = known !== undefined && isSame(known.owner, owner);
  const sequence = Math.max(0, (known?.tail.sequence ?? 0) + next.ahead);
  const tail = { sequence, generation: known?.entries.slice(0, sequence).filter(isEvent).length ?? 0 };
  const fence = (known?.fence ?? 1) + (known === undefined ? 0 : next.fenceAhead);
  const { key } = next;
  const commit = createCommit({
    ...withoutUndefined(next),
    after: { tail, fence },
    keys: key === undefined ? [] : [{ key, fingerprint, generation: tail.generation }],
    pushConfigs: next.hook ? [createPushConfig(taskId, "hook")] : [],
  });
  const current = isOwn ? known.tail : { sequence: 0, generation: 0 };
  const result = await store.commit(commit);
  if (isOwn && sequence > 0 && fence !== known.fence)
    expect(result).toEqual({ refused: "fenced", tail: current });
  else if ((known !== undefined && !isOwn) || sequence !== current.sequence)
    expect(result).toEqual({ refused: "conflict", tail: current });
  else if (key !== undefined && model.keys.has(nameOf(owner, key)))
    expect(result).toEqual({ refused: "duplicate", tail: current });
  else {
    const task = append(known, commit);
    model.tasks.set(taskId, task);
    if (key !== undefined) model.keys.set(nameOf(owner, key), { taskId, generation: current.generation });
    if (next.hook) putHook(model, taskId, current.generation + 1);
    const deliveryDue = model.hooks.has(taskId) && task.tail.generation > current.generation;
    expect(result).toEqual({ tail: task.tail, deliveryDue });
  }
}

/** The first webhook that is due delivers its event, or fails and is tried again at `at`. */
async function takeDelivery(
  store: TaskStore,
  { tasks, hooks }: StoreModel,
  { hook, at }: Step,
): Promise<void> {
  const [due] = await readDue(store, 3);
  const known = due && hooks.get(due.taskId);
  if (due === undefined || known === undefined) return;
  const move = hook
    ? { next: due.next + 1, attempts: 0, retryAt: undefined }
    : { next: due.next, attempts: due.attempts + 1, retryAt: at };
  await store.moveDelivery({ number: due.number, ...move });
  const waits = (tasks.get(due.taskId)?.tail.generation ?? 0) >= move.next;
  hooks.set(due.taskId, { ...known, ...move, retryAt: waits ? (move.retryAt ?? 0) : 0 });
}

async function takeExpiry(store: TaskStore, model: StoreModel, { at }: Step): Promise<void> {
  const finishedBefore = at + 1;
  while (await store.expire({ finishedBefore, now: 0, limit: 3 }));
  forgetFinished(model, finishedBefore);
}

async function compare(store: TaskStore, model: StoreModel, questions: readonly TaskQuery[]): Promise<void> {
  for (const owner of owners) {
    for (const key of ["k", "l"]) {
      const result = model.keys.get(nameOf(owner, key));
      expect(await store.findKey(owner, key)).toEqual(
        result && { key, fingerprint, result: { kind: "task", ...result } },
      );
    }
    for (const taskId of taskIds) {
      const own = ownTask(model, owner, taskId);
      for (const view of ["full", "head", "results", "summary"] as const) {
        expect(await store.find(owner, taskId, view)).toEqual(own && stored(own, view));
      }
      expect((await store.weigh(owner, taskId))?.bytes).toBe(own && bytesToLoad(own));
      const events = own?.entries.filter(isEvent) ?? [];
      for (const after of [0, 1, 5]) {
        expect(await store.events(owner, taskId, after, 4)).toEqual(events.slice(after, after + 4));
      }
      const entries = own?.entries ?? [];
      expect(await pagesOf(store, { owner, taskId }, "all")).toEqual(entries);
      const notes = entries.filter((entry) => !isEvent(entry));
      expect(await pagesOf(store, { owner, taskId }, "notes")).toEqual(notes);
    }
  }
  const tasks = [...model.tasks.values()];
  for (const question of questions) expect(await store.list(question)).toEqual(answer(tasks, question));
  const working = tasks.filter(
    ({ index }) => index.state === TaskState.SUBMITTED || index.state === TaskState.WORKING,
  );
  for (const hasTimer of [false, true]) {
    const inOrder = working
      .filter(({ index }) => (index.wakeAt !== undefined) === hasTimer)
      .map(({ owner, taskId }) => ({ owner, taskId }))
      .sort((one, other) => byOwner(one.owner, other.owner) || byBytes(one.taskId, other.taskId));
    for (const owner of owners) {
      const afterTask = inOrder.filter(
        (task) => (byOwner(task.owner, owner) || byBytes(task.taskId, "b")) > 0,
      );
      const afterPrincipal = inOrder.filter((task) => byBytes(task.owner.principal, owner.principal) > 0);
      for (const [after, rest] of [
        [{ owner, taskId: "b" }, afterTask],
        [{ principal: owner.principal }, afterPrincipal],
      ] as const) {
        expect(await store.unfinished({ hasTimer, after, limit: 3 })).toEqual(rest.slice(0, 3));
      }
    }
    expect(await store.unfinished({ hasTimer, after: undefined, limit: 3 })).toEqual(inOrder.slice(0, 3));
  }
  const due = tasks.flatMap(({ taskId, index: { wakeAt } }) =>
    wakeAt === undefined || wakeAt > 2 ? [] : [{ taskId, wakeAt }],
  );
  due.sort((one, other) => one.wakeAt - other.wakeAt || byBytes(one.taskId, other.taskId));
  expect((await store.due(2, 10)).map(({ taskId, wakeAt }) => ({ taskId, wakeAt }))).toEqual(due);
  expect((await readDue(store, 2)).map(({ number: _, config: __, ...rest }) => rest)).toEqual(
    dueHooks(model, 2),
  );
}

/** The log in pages of three. */
async function pagesOf(store: TaskStore, { owner, taskId }: TaskRef, view: LogView): Promise<unknown> {
  const found: LogEntry[] = [];
  let page: LogPage = { entries: [], end: { sequence: 0, generation: 0 }, more: true };
  while (page.more) {
    page = await store.entries(owner, taskId, page.end, view, 3);
    found.push(...page.entries);
  }
  return found;
}

function withoutUndefined({ wakeAt, ...rest }: Step): Omit<Step, "wakeAt"> & { wakeAt?: number } {
  return wakeAt === undefined ? rest : { ...rest, wakeAt };
}
