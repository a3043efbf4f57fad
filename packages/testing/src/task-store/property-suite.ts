import { TaskState } from "@a2a-connect/proto";
import type { EntryKind, Owner, StoredTask, TaskCommit, TaskQuery, TaskStore } from "@a2a-connect/server";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createCommit } from "../task-commit.ts";
import type { OpenTaskStore } from "./opened-store.ts";

/** Short runs for every check; the seed is fixed, so that a failure is one for everybody. */
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

const step = fc.record({
  owner: fc.constantFrom(...owners),
  taskId: fc.constantFrom(...taskIds),
  contextId: fc.constantFrom(...contexts),
  state: fc.constantFrom(...states),
  at: fc.integer({ min: 0, max: 3 }),
  wakeAt: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
  kinds: fc.array(fc.constantFrom(...kinds), { minLength: 1, maxLength: 4 }),
  snapshot: fc.boolean(),
  claims: fc.boolean(),
  /** How far the writer is mistaken about the end of the log, and about its fence. */
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
  view: fc.constantFrom("full", "head"),
});

/** A task as the model has it: the whole log in one list. */
type ModelTask = StoredTask;

/** Random commits, claims and reads answer as a list of tasks would. */
export function propertySuite(open: OpenTaskStore): void {
  describe("any sequence of commits and claims", () => {
    it("reads like a list of whole logs", { timeout: 60_000 }, async () => {
      const steps = fc.array(step, { maxLength: 40 });
      const queries = fc.array(query, { minLength: 5, maxLength: 5 });
      await fc.assert(
        fc.asyncProperty(steps, queries, async (walk, questions) => {
          const { store } = await open();
          try {
            const model = new Map<string, ModelTask>();
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

async function take(store: TaskStore, model: Map<string, ModelTask>, next: Step): Promise<void> {
  const known = model.get(next.taskId);
  const isOwn = known !== undefined && isSame(known.owner, next.owner);
  if (next.claims) {
    const claimed = isOwn ? { ...known, fence: known.fence + 1 } : undefined;
    if (claimed !== undefined) model.set(next.taskId, claimed);
    expect(await store.claim(next.owner, next.taskId)).toEqual(claimed && stored(claimed, "full"));
    return;
  }
  const sequence = Math.max(0, (known?.tail.sequence ?? 0) + next.ahead);
  const tail = { sequence, generation: known?.entries.slice(0, sequence).filter(isEvent).length ?? 0 };
  const fence = (known?.fence ?? 1) + (known === undefined ? 0 : next.fenceAhead);
  const commit = createCommit({ ...withoutUndefined(next), after: { tail, fence } });
  const current = isOwn ? known.tail : { sequence: 0, generation: 0 };
  const result = await store.commit(commit);
  if (isOwn && sequence > 0 && fence !== known.fence)
    expect(result).toEqual({ refused: "fenced", tail: current });
  else if ((known !== undefined && !isOwn) || sequence !== current.sequence) {
    expect(result).toEqual({ refused: "conflict", tail: current });
  } else {
    const task = append(known, commit);
    model.set(next.taskId, task);
    expect(result).toEqual({ tail: task.tail });
  }
}

async function compare(
  store: TaskStore,
  model: Map<string, ModelTask>,
  questions: readonly TaskQuery[],
): Promise<void> {
  for (const owner of owners) {
    for (const taskId of taskIds) {
      const task = model.get(taskId);
      const own = task !== undefined && isSame(task.owner, owner) ? task : undefined;
      for (const view of ["full", "head"] as const) {
        expect(await store.find(owner, taskId, view)).toEqual(own && stored(own, view));
      }
      const events = own?.entries.filter(isEvent) ?? [];
      for (const after of [0, 1, 5]) {
        expect(await store.events(owner, taskId, after, 4)).toEqual(events.slice(after, after + 4));
      }
    }
  }
  const tasks = [...model.values()];
  for (const question of questions) expect(await store.list(question)).toEqual(answer(tasks, question));
  const working = tasks.filter(
    ({ index }) => index.state === TaskState.SUBMITTED || index.state === TaskState.WORKING,
  );
  expect((await store.unfinished("a", 3)).map(({ taskId }) => taskId)).toEqual(
    working
      .map(({ taskId }) => taskId)
      .filter((id) => byBytes(id, "a") > 0)
      .sort(byBytes)
      .slice(0, 3),
  );
  const due = tasks.flatMap(({ taskId, index: { wakeAt } }) =>
    wakeAt === undefined || wakeAt > 2 ? [] : [{ taskId, wakeAt }],
  );
  due.sort((one, other) => one.wakeAt - other.wakeAt || byBytes(one.taskId, other.taskId));
  expect((await store.due(2, 10)).map(({ taskId, wakeAt }) => ({ taskId, wakeAt }))).toEqual(due);
}

function answer(
  tasks: readonly ModelTask[],
  { owner, contextId, state, since, after, limit, view }: TaskQuery,
): unknown {
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
  return {
    tasks: rest.slice(0, limit).map((task) => stored(task, view)),
    totalSize: matches.length,
    more: rest.length > limit,
  };
}

function append(task: ModelTask | undefined, commit: TaskCommit): ModelTask {
  const entries = [...(task?.entries ?? []), ...commit.entries];
  return {
    owner: commit.owner,
    taskId: commit.taskId,
    index: commit.index,
    tail: { sequence: entries.length, generation: entries.filter(isEvent).length },
    fence: task?.fence ?? 1,
    snapshot: commit.snapshot ?? task?.snapshot,
    entries,
  };
}

/** What a store gives for a task of the model. */
function stored(task: ModelTask, view: "full" | "head"): StoredTask {
  const { snapshot } = task;
  const entries = task.entries.filter(
    ({ sequence, kind }) => sequence > (snapshot?.sequence ?? 0) && (view === "full" || kind !== "artifact"),
  );
  const half = view === "head" && snapshot !== undefined ? { ...snapshot, artifacts: undefined } : snapshot;
  return { ...task, snapshot: half, entries };
}

function isEvent({ generation }: { readonly generation: number | undefined }): boolean {
  return generation !== undefined;
}

function isSame(one: Owner, other: Owner): boolean {
  return one.tenant === other.tenant && one.principal === other.principal;
}

function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

function withoutUndefined({ wakeAt, ...rest }: Step): Omit<Step, "wakeAt"> & { wakeAt?: number } {
  return wakeAt === undefined ? rest : { ...rest, wakeAt };
}
