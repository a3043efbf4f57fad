import { join } from "node:path";
import { StreamResponseSchema, TaskState } from "@a2a-connect/proto";
import type { TaskQuery, TaskStore } from "@a2a-connect/server/store";
import { createSqliteTaskStore } from "@a2a-connect/store-sqlite";
import { create, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { judgeLimit } from "../report/aim.ts";
import { median } from "../report/statistics.ts";
import { formatNumber, formatRatio } from "../report/table.ts";
import type { Scenario } from "../scenario.ts";
import { createServerDirectory, databaseFile } from "../servers/server-directory.ts";

const owner = { tenant: "", principal: "bench" };
const pageSize = 50;
/** Of each kind of task that is rare, so many: a page is always full. */
const rare = 60;
const text = "x".repeat(200);

/** What lists filter by, where the newest tasks are like all others and the rare ones lie among the oldest. */
const filters: readonly { readonly name: string; readonly filter: Partial<TaskQuery> }[] = [
  { name: "none", filter: {} },
  { name: "context of 60 tasks", filter: { contextId: "rare" } },
  { name: "context of most tasks", filter: { contextId: "common" } },
  { name: "state of most tasks", filter: { state: TaskState.COMPLETED } },
  { name: "state of 60 tasks", filter: { state: TaskState.FAILED } },
  { name: "since, most tasks", filter: { since: rare + 1 } },
  { name: "state of most tasks, since", filter: { state: TaskState.COMPLETED, since: rare + 1 } },
  {
    name: "context of most tasks, state of most",
    filter: { contextId: "common", state: TaskState.COMPLETED },
  },
];

/** What a page costs as the tasks beside it become many. */
export const growth: Scenario = {
  name: "growth",
  summary:
    "The first page of 50, asked for again, of stores with 1,000, 80,000 and 1,000,000 tasks (quick: 1,000 and 10,000): CPU of the store alone, by filter, the median of five rounds.",
  async run({ quick, progress }) {
    const sizes = quick ? [1_000, 10_000] : [1_000, 80_000, 1_000_000];
    const rounds = quick ? 3 : 5;
    const rows: number[][] = filters.map(() => []);
    for (const size of sizes) {
      using directory = createServerDirectory();
      const store = createSqliteTaskStore({ file: join(directory.path, databaseFile) });
      progress(`${size} tasks`);
      await fill(store, size);
      for (const [at, { name, filter }] of filters.entries()) {
        progress(`${name}, ${size} tasks`);
        rows[at]?.push(await measure(store, filter, quick ? 20 : 300, rounds));
      }
      await store.close();
    }
    const growthOf = (row: readonly number[]) => (row.at(-1) ?? 0) / (row[0] ?? 1);
    return {
      table: {
        columns: ["filter", ...sizes.map((size) => `CPU µs, ${size.toLocaleString("en")} tasks`), "growth"],
        rows: rows.map((row, at) => [
          filters[at]?.name ?? "",
          ...row.map((cpuUs) => formatNumber(cpuUs)),
          formatRatio(growthOf(row)),
        ]),
      },
      aims: rows.map((row, at) =>
        judgeLimit(`growth, filter: ${filters[at]?.name}`, 1.2, growthOf(row), "x"),
      ),
      measurements: rows.map((cpuUs, at) => ({ filter: filters[at]?.name, sizes, cpuUs })),
    };
  },
};

async function fill(store: TaskStore, tasks: number): Promise<void> {
  for (let begun = 0; begun < tasks; begun += 1_000) {
    const numbers = Array.from({ length: Math.min(1_000, tasks - begun) }, (_, index) => begun + index);
    await Promise.all(numbers.map((number) => putTask(store, number)));
  }
}

async function putTask(store: TaskStore, number: number): Promise<void> {
  const isRare = number < rare;
  const taskId = `task-${String(number).padStart(8, "0")}`;
  const contextId = isRare ? "rare" : "common";
  const state = isRare ? TaskState.FAILED : TaskState.COMPLETED;
  const status = { state, timestamp: timestampFromMs(number), message: { messageId: "m", parts: [] } };
  const event = create(StreamResponseSchema, {
    payload: {
      case: "task",
      value: {
        id: taskId,
        contextId,
        status,
        history: [{ messageId: "h", parts: [{ content: { case: "text", value: text } }] }],
      },
    },
  });
  await store.commit({
    owner,
    taskId,
    expectedSequence: 0,
    fence: 1,
    entries: [{ sequence: 1, generation: 1, kind: "task", payload: toBinary(StreamResponseSchema, event) }],
    index: { contextId, state, statusTimestamp: number, wakeAt: undefined },
    snapshot: undefined,
    pushConfigs: [],
    keys: [],
  });
}

/** @returns CPU of this process per page, microseconds */
async function measure(
  store: TaskStore,
  filter: Partial<TaskQuery>,
  pages: number,
  rounds: number,
): Promise<number> {
  const query: TaskQuery = {
    owner,
    contextId: undefined,
    state: undefined,
    since: undefined,
    after: undefined,
    limit: pageSize,
    maxBytes: 2 ** 20,
    view: "head",
    ...filter,
  };
  for (let warm = 0; warm < pages; warm++) await store.list(query);
  const costs: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const before = process.cpuUsage();
    for (let page = 0; page < pages; page++) await store.list(query);
    const { user, system } = process.cpuUsage(before);
    costs.push((user + system) / pages);
  }
  return median(costs);
}
