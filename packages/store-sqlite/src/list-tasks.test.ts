import { DatabaseSync } from "node:sqlite";
import { TaskState } from "@a2a-connect/proto";
import type { TaskPage, TaskQuery } from "@a2a-connect/server/store";
import { alice, createCommit } from "@a2a-connect/testing";
import { expect, it, onTestFinished, vi } from "vitest";
import { everything } from "../test-support/everything.ts";
import { temporaryFile } from "../test-support/temporary-file.ts";
import { createListTasks } from "./list-tasks.ts";
import { ListTotals } from "./list-totals.ts";
import { createSqliteTaskStore } from "./sqlite-task-store.ts";
import { createTaskReader } from "./task-rows.ts";

const all: TaskQuery = { ...everything, limit: 3, maxBytes: 1_000_000, view: "head" };

const filters: readonly Partial<TaskQuery>[] = [undefined, "c0"].flatMap((contextId) =>
  [undefined, TaskState.WORKING, TaskState.COMPLETED].flatMap((state) =>
    [undefined, 3].map((since) => ({ contextId, state, since })),
  ),
);

/** Twelve tasks, several of which have the same time. */
async function openFilled(text = "hello"): Promise<DatabaseSync> {
  const file = temporaryFile();
  const store = createSqliteTaskStore({ file });
  for (let number = 0; number < 12; number++) {
    const state = number % 2 === 0 ? TaskState.WORKING : TaskState.COMPLETED;
    const contextId = `c${number % 3}`;
    await store.commit(createCommit({ taskId: `t${number}`, at: number >> 1, contextId, state, text }));
  }
  await store.close();
  return new DatabaseSync(file);
}

function listAll(
  database: DatabaseSync,
  sliceTasks: number | undefined,
  filter: Partial<TaskQuery>,
  totals = new ListTotals(),
) {
  const list = createListTasks(database, createTaskReader(database), totals, sliceTasks);
  const pages: TaskPage[] = [];
  let steps = 0;
  for (let after: TaskQuery["after"]; ; ) {
    const running = list({ ...all, ...filter, after }, { bytes: 0, gaps: [] });
    let step = running.next();
    for (; step.done !== true; step = running.next()) steps++;
    pages.push(step.value);
    const last = step.value.tasks.at(-1);
    if (!step.value.more || last === undefined) return { pages, steps: steps + pages.length };
    after = { taskId: last.taskId, statusTimestamp: last.index.statusTimestamp };
  }
}

it.each(filters)("lists in slices what it lists at once: %o", async (filter) => {
  using database = await openFilled();
  const atOnce = listAll(database, undefined, filter);
  expect(atOnce.steps).toBe(atOnce.pages.length);
  for (const sliceTasks of [1, 2]) {
    const inSlices = listAll(database, sliceTasks, filter);
    expect(inSlices.pages).toEqual(atOnce.pages);
    expect(inSlices.steps).toBeGreaterThan(atOnce.steps);
  }
});

it("passes no task in another state, unless that is COMPLETED", async () => {
  using database = await openFilled();
  const stepsOf = (state: TaskState) => listAll(database, 2, { state, limit: 100 }).steps;
  expect([stepsOf(TaskState.FAILED), stepsOf(TaskState.WORKING)]).toEqual([1, 4]); // none, six by twos
  expect(stepsOf(TaskState.COMPLETED)).toBe(7); // twelve by twos
});

it.each([
  ["context_id", (long: string) => ({ contextId: long })],
  ["tenant", (long: string) => ({ contextId: "c0", owner: { ...alice, tenant: long } })],
  ["principal", (long: string) => ({ contextId: "c0", owner: { ...alice, principal: long } })],
])(
  "passes fewer tasks in a slice where their %s is long: each takes a page of the file",
  async (column, named) => {
    using database = await openFilled();
    const stepsOf = (filter: Partial<TaskQuery>) => listAll(database, 4, { ...filter, limit: 100 }).steps;
    const short = stepsOf({ contextId: "c0" });
    const long = "漢".repeat(64);
    database.prepare(`update tasks set ${column} = ? where context_id = 'c0'`).run(long);
    expect(stepsOf(named(long))).toBeGreaterThan(2 * short);
  },
);

it("passes the tasks of its slice only, in their order, by the index", async () => {
  using database = await openFilled();
  const prepare = vi.spyOn(database, "prepare");
  for (const filter of filters) listAll(database, 2, filter);
  const lists = prepare.mock.calls.map(([sql]) => sql).filter((sql) => sql.includes("indexed by"));
  const plans = lists.map((sql) => database.prepare(`explain query plan ${sql}`).all());
  expect(plans.length).toBeGreaterThan(20);
  for (const [at, steps] of plans.entries()) {
    const plan = steps.map(({ detail }) => String(detail)).join("; ");
    expect(plan).not.toMatch(/SCAN|TEMP B-TREE/);
    const bounds = (sql: string) => sql.match(/status_timestamp,task_id\)?[<>]/g)?.length ?? 0;
    const wanted = new Set(lists[at]?.replaceAll(" ", "").match(/task_id\)[<>]/g)).size;
    expect(bounds(plan), plan).toBe(wanted);
  }
});

it.each(filters)("counts once, and lists as before: %o", async (filter) => {
  using database = await openFilled();
  const counted = listAll(database, undefined, filter);
  const totals = new ListTotals();
  totals.open({ ...all, ...filter }).add(counted.pages[0]?.totalSize ?? 0, undefined);
  const prepare = vi.spyOn(database, "prepare");
  for (const sliceTasks of [undefined, 1, 2])
    expect(listAll(database, sliceTasks, filter, totals).pages).toEqual(counted.pages);
  expect(prepare.mock.calls.filter(([sql]) => sql.includes("count(*)"))).toEqual([]);
});

it.each(filters)("reads large rows in several steps, and lists and counts as before: %o", async (filter) => {
  using small = await openFilled();
  using large = await openFilled("x".repeat(600_000));
  const placesOf = (database: DatabaseSync, isCounted: boolean) => {
    const totals = new ListTotals();
    if (isCounted) totals.open({ ...all, ...filter }).add(12, undefined);
    const { pages, steps } = listAll(database, undefined, { ...filter, maxBytes: 10_000_000 }, totals);
    const places = pages.map(({ tasks, ...rest }) => [tasks.map(({ taskId }) => taskId), rest]);
    return { places, steps: steps - pages.length };
  };
  for (const isCounted of [false, true]) {
    const { places, steps } = placesOf(large, isCounted);
    expect(places).toEqual(placesOf(small, isCounted).places);
    expect(steps).toBeGreaterThan(0);
  }
});

it("reads no log of a task that the caller knows", async () => {
  using database = await openFilled();
  const isKnown: TaskQuery["isKnown"] = (taskId, { sequence }) => taskId !== "t11" && sequence > 0;
  const { pages } = listAll(database, undefined, { limit: 12, isKnown });
  const [page] = pages;
  expect(page?.tasks.map(({ entries }) => entries.length > 0)).toEqual([true, ...Array(11).fill(false)]);
  const bare = page?.tasks.map(({ entries, ...rest }) => rest);
  const read = listAll(database, undefined, { limit: 12 }).pages[0];
  expect(bare).toEqual(read?.tasks.map(({ entries, ...rest }) => rest));
});

it("keeps totals while tasks come, change, go and are counted", async () => {
  const file = temporaryFile();
  await createSqliteTaskStore({ file }).close();
  insertTasks(file, 10_001);
  const store = createSqliteTaskStore({ file });
  onTestFinished(() => store.close());
  const change = { contextId: "c0", state: TaskState.COMPLETED, at: 20_000 };
  const { tail } = (await store.find(alice, "t1", "head")) ?? expect.fail("the task is there");
  // Counting takes two steps, and these are stored between them: one task comes before the place where counting is, two
  // after it, and one moves from behind it.
  await Promise.all([
    store.commit(createCommit({ taskId: "new", at: 30_000, contextId: "c0" })),
    store.commit(createCommit({ taskId: "old", at: 0, contextId: "c0" })),
    store.commit(createCommit({ taskId: "older", at: 0, contextId: "c0" })),
    store.commit(createCommit({ taskId: "t1", after: { tail, fence: 1 }, ...change })),
    store.list(all),
  ]);
  const totalsOf = async () =>
    Promise.all(
      [{}, { contextId: "c0" }, { state: TaskState.COMPLETED }, { since: 15_000 }].map(
        async (filter) => (await store.list({ ...all, ...filter })).totalSize,
      ),
    );
  expect(await totalsOf()).toEqual([10_004, 10_003, 1, 2]);
  await store.commit(createCommit({ taskId: "newer", ...change, at: 30_000 }));
  expect(await totalsOf()).toEqual([10_005, 10_004, 2, 3]);
  await expect(store.commit(createCommit({ taskId: "newer" }))).resolves.toMatchObject({
    refused: "conflict",
  });
  while (await store.expire({ finishedBefore: 40_000, now: 0, limit: 10 }));
  expect(await totalsOf()).toEqual([10_003, 10_002, 0, 1]);
});

it("lets other calls run between ten thousand tasks and the next", async () => {
  const file = temporaryFile();
  await createSqliteTaskStore({ file }).close();
  insertTasks(file, 10_001);
  const store = createSqliteTaskStore({ file });
  onTestFinished(() => store.close());
  let turns = 0;
  setImmediate(() => turns++);
  expect((await store.list({ ...all, contextId: "c1" })).totalSize).toBe(1);
  expect(turns).toBe(0);
  expect((await store.list(all)).totalSize).toBe(10_001);
  expect(turns).toBe(1);
});

/** Writes tasks t1, t2, … without logs, each newer than the one before. */
function insertTasks(file: string, count: number): void {
  using database = new DatabaseSync(file);
  database.exec(`
    with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < ${count})
    insert into tasks (task_id, tenant, principal, context_id, state, status_timestamp, sequence, generation, fence,
      snapshot_sequence, snapshot_generation)
    select 't' || n, '${alice.tenant}', '${alice.principal}', 'c' || (n > 10000), 1, n, 0, 0, 1, 0, 0 from numbers`);
}

it("lists the others of a page with a task whose segments are damaged, and that one without them", async () => {
  const database = await openFilled();
  onTestFinished(() => database.close());
  database.exec(
    "update segments set head = x'00' where task = (select number from tasks where task_id = 't11')",
  );
  const tasks = listAll(database, undefined, {}).pages.flatMap((page) => page.tasks);
  expect(tasks.length).toBe(12);
  expect(tasks.filter(({ entries }) => entries.length === 0).map(({ taskId }) => taskId)).toEqual(["t11"]);
});
