import { setTimeout as pause } from "node:timers/promises";
import { type Task, TaskState } from "@a2a-connect/proto";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { runClosedLoop } from "../load/closed-loop.ts";
import { type LoadClient, openClients } from "../load/load-client.ts";
import { jsonRpcWire } from "../load/wires/index.ts";
import { judgeLimit } from "../report/aim.ts";
import { formatBytes, formatNumber } from "../report/table.ts";
import type { BenchContext, Scenario, ScenarioResult } from "../scenario.ts";
import type { Usage } from "../servers/control.ts";
import { createServerDirectory, type ServerDirectory } from "../servers/server-directory.ts";
import type { BenchServer, Side } from "../servers/start-server.ts";

/** Shorter than the default of 30 s, so that the bench need not wait for it. */
const settings = { unloadAfterMs: 1_000 } as const;
const hourMs = 3_600_000;

/**
 * So many times as many tasks are asked first: whatever passes through makes V8 take pages, which it keeps for a while,
 * and fills the page cache of SQLite; what a waiting task costs shows when that has come to rest.
 */
const earlierWaves = 3;

const variants = [
  { name: "durable executors", side: "ours", word: "ask" },
  { name: "turn executors", side: "ours", word: "question" },
  { name: "peer", side: "peer", word: "question" },
] as const satisfies readonly { readonly name: string; readonly side: Side; readonly word: string }[];

type Variant = (typeof variants)[number];

interface WaitingFigures {
  readonly name: string;
  readonly side: Side;
  readonly tasks: number;
  /** Before anything is asked. */
  readonly empty: Usage;
  /** When three times as many tasks wait already. */
  readonly before: Usage;
  readonly after: Usage;
  /** From the start of the next process to its being ready; undefined where nothing is left after a restart. */
  readonly readyMs: number | undefined;
  /** How long after its time the last of the tasks was CANCELED. */
  readonly latestMs: number | undefined;
}

/** What tasks cost that wait for an answer, and whether their questions time out after a restart. */
export const waiting: Scenario = {
  name: "waiting",
  summary:
    "10,000 tasks in INPUT_REQUIRED (quick: 1,000): what each adds to the server's memory, after a garbage collection, where three times as many wait already (durable executors are dropped after 1 s instead of 30). Then the server is killed and started again, and every question is to time out a fixed time after it was asked.",
  async run(context) {
    const figures: WaitingFigures[] = [];
    for (const variant of variants) {
      figures.push(await measure(context, variant));
    }
    return report(figures);
  },
};

async function measure(context: BenchContext, variant: Variant): Promise<WaitingFigures> {
  const { name, side, word } = variant;
  const tasks = context.quick ? 1_000 : 10_000;
  const timeoutMs = context.quick ? 8_000 : 15_000;
  context.progress(`${tasks} questions, ${name}`);
  using directory = createServerDirectory();
  const asked = new Map<string, number>();
  const server = await context.start(side, { directory, settings });
  try {
    const memory = await fill(server, word, timeoutMs, tasks, ({ id, status }) => {
      asked.set(id, status?.timestamp === undefined ? 0 : timestampMs(status.timestamp));
    });
    await server.kill();
    const later =
      side === "peer"
        ? { readyMs: undefined, latestMs: undefined }
        : await awaitTimeouts(context, directory, asked, timeoutMs);
    return { name, side, tasks, ...memory, ...later };
  } finally {
    await server[Symbol.asyncDispose]();
  }
}

async function fill(
  server: BenchServer,
  word: string,
  timeoutMs: number,
  tasks: number,
  onTask: (task: Task) => void,
): Promise<{ readonly empty: Usage; readonly before: Usage; readonly after: Usage }> {
  using clients = await openClients(jsonRpcWire, server.target, 16);
  const run = (operations: number, call: (client: LoadClient) => Promise<void>) =>
    runClosedLoop(server, clients.all, call, { operations });
  await run(tasks / 10, (client) => client.send("echo warm"));
  const empty = await server.collect();
  for (let wave = 0; wave < earlierWaves; wave++) {
    await run(tasks, (client) => client.send(`${word} ${hourMs}`));
    await pause(settings.unloadAfterMs + 500);
  }
  const before = await server.collect();
  await run(tasks, async (client) => onTask(await client.sendForTask(`${word} ${timeoutMs}`)));
  await pause(settings.unloadAfterMs + 500);
  return { empty, before, after: await server.collect() };
}

/** Starts the server again and waits until all questions have timed out. */
async function awaitTimeouts(
  context: BenchContext,
  directory: ServerDirectory,
  asked: ReadonlyMap<string, number>,
  timeoutMs: number,
): Promise<{ readonly readyMs: number; readonly latestMs: number }> {
  const started = performance.now();
  await using server = await context.start("ours", { directory, settings });
  const readyMs = performance.now() - started;
  context.progress("started again; now they time out");
  const due = Math.max(...asked.values()) + timeoutMs;
  await pause(Math.max(0, due - Date.now()));
  using clients = await openClients(jsonRpcWire, server.target);
  const impatience = Date.now() + 60_000;
  while ((await clients.first.listState(TaskState.CANCELED, 1)).totalSize < asked.size) {
    if (Date.now() > impatience) {
      throw new Error("some questions do not time out");
    }
    await pause(100);
  }
  let latestMs = Number.NEGATIVE_INFINITY;
  let pageToken = "";
  do {
    const page = await clients.first.listState(TaskState.CANCELED, 100, pageToken);
    for (const { id, status } of page.tasks) {
      const at = asked.get(id);
      if (at === undefined || status?.timestamp === undefined) {
        throw new Error(`task ${id} was not asked anything`);
      }
      latestMs = Math.max(latestMs, timestampMs(status.timestamp) - at - timeoutMs);
    }
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  return { readyMs, latestMs };
}

function report(figures: readonly WaitingFigures[]): ScenarioResult {
  const ours = figures.filter(({ side }) => side === "ours");
  return {
    table: {
      columns: [
        "executor",
        "tasks",
        "RSS of none",
        "of 3 times as many",
        "of 4 times as many",
        "RSS each",
        "heap each",
        "restart ms",
        "latest timeout",
      ],
      rows: figures.map(({ name, tasks, empty, before, after, readyMs, latestMs }) => [
        name,
        tasks.toLocaleString("en"),
        formatBytes(empty.rssBytes),
        formatBytes(before.rssBytes),
        formatBytes(after.rssBytes),
        formatBytes((after.rssBytes - before.rssBytes) / tasks),
        formatBytes((after.heapBytes - before.heapBytes) / tasks),
        readyMs === undefined ? "nothing is left" : formatNumber(readyMs),
        latestMs === undefined ? "–" : `${formatNumber(latestMs)} ms late`,
      ]),
    },
    aims: ours.flatMap(({ name, tasks, before, after, latestMs = Number.POSITIVE_INFINITY }) => [
      judgeLimit(
        `RSS of a waiting task, ${name}`,
        1,
        (after.rssBytes - before.rssBytes) / tasks / 1_024,
        " KiB",
      ),
      judgeLimit(`latest timeout after its time, ${name}`, 1_000, latestMs, " ms"),
    ]),
    measurements: figures,
  };
}
