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
    "The first page of 50, asked for again, of stores with 1,000, 80,000 and 1,000,000 tasks (quick: 1,000 and 10,000): CPU of the store alone, by filter, the median of nine rounds, in which the stores take turns; growth is the median of each round's.",
  async run({ quick, progress }) {
    const sizes = quick ? [1_000, 10_000] : [1_000, 80_000, 1_000_000];
    const rounds = quick ? 3 : 9;
    await using stores = new AsyncDisposableStack();
    const filled: TaskStore[] = [];
    for (const size of sizes) {
      progress(`${size} tasks`);
      const directory = stores.use(createServerDirectory());
      const store = createSqliteTaskStore({ file: join(directory.path, databaseFile) });
      stores.defer(() => store.close());
      await fill(store, size);
      filled.push(store);
    }
    const rows: Row[] = [];
    for (const { name, filter } of filters) {
      progress(name);
      rows.push(await measure(filled, filter, quick ? 20 : 200, rounds));
    }
    return {
      table: {
        columns: ["filter", ...sizes.map((size) => `CPU µs, ${size.toLocaleString("en")} tasks`), "growth"],
        rows: rows.map(({ cpuUs, growth: grown }, at) => [
          filters[at]?.name ?? "",
          ...cpuUs.map((each) => formatNumber(each)),
          formatRatio(grown),
        ]),
      },
      aims: rows.map(({ growth: grown }, at) =>
        judgeLimit(`growth, filter: ${filters[at]?.name}`, 1.2, grown, "x"),
      ),
      measurements: rows.map((row, at) => ({ filter: filters[at]?.name, sizes, ...row })),
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

/** What pages cost in each store, in microseconds of CPU, and how much more in the last than in the first. */
interface Row {
  readonly cpuUs: readonly number[];
  readonly growth: number;
}

/** Asks the stores in turns, so that what else goes on at the machine meets all of them. */
async function measure(
  stores: readonly TaskStore[],
  filter: Partial<TaskQuery>,
  pages: number,
  rounds: number,
): Promise<Row> {
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
  const ask = async (store: TaskStore) => {
    const before = process.cpuUsage();
    for (let page = 0; page < pages; page++) await store.list(query);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / pages;
  };
  for (const store of stores) await ask(store); // code that has not run before is slower
  const costs: number[][] = [];
  for (let round = 0; round < rounds; round++) {
    const cost: number[] = [];
    for (const store of stores) cost.push(await ask(store));
    costs.push(cost);
  }
  return {
    cpuUs: stores.map((_, at) => median(costs.map((cost) => cost[at] ?? 0))),
    growth: median(costs.map((cost) => (cost.at(-1) ?? 0) / (cost[0] ?? 1))),
  };
}
