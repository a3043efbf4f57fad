import { setTimeout as pause } from "node:timers/promises";
import { TaskState } from "@a2a-connect/proto";
import { runClosedLoop } from "../load/closed-loop.ts";
import { openClients } from "../load/load-client.ts";
import { jsonRpcWire } from "../load/wires/index.ts";
import { formatBytes, formatNumber } from "../report/table.ts";
import type { BenchContext, Scenario } from "../scenario.ts";
import { createServerDirectory } from "../servers/server-directory.ts";
import type { BenchServer } from "../servers/start-server.ts";

/** All of them are to be at work at once. */
const settings = { maxRunning: 20_000 } as const;
const hourMs = 3_600_000;

const variants = [
  { name: "durable, asleep", command: `nap ${hourMs}`, becomes: "running again" },
  { name: "durable, in a step", command: "labour", becomes: "running again" },
  { name: "turn", command: "hold", becomes: "FAILED (interrupted)" },
] as const;

type Variant = (typeof variants)[number];

interface RecoveryFigures {
  readonly name: string;
  readonly tasks: number;
  readonly becomes: string;
  /** From the start of the process until it says that it is ready to be called. */
  readonly readyMs: number;
  /** From there until all tasks are taken up. */
  readonly takenUpMs: number;
  readonly cpuUsEach: number;
  readonly rssBytes: number;
}

/** How long a server takes to take up what the one before was working on. */
export const recovery: Scenario = {
  name: "recovery",
  summary:
    "10,000 tasks at work (quick: 1,000) when the server is ended with `kill -9`: how long the next one takes from the start of its process until it can be called, and until all tasks are taken up. CPU is that of the whole process until then; its start alone takes half a second. The peer has no tasks left to take up.",
  async run(context) {
    const figures: RecoveryFigures[] = [];
    for (const variant of variants) {
      figures.push(await measure(context, variant));
    }
    return {
      table: {
        columns: ["executor", "tasks", "become", "ready after ms", "then all after ms", "CPU µs each", "RSS"],
        rows: figures.map(({ name, tasks, becomes, readyMs, takenUpMs, cpuUsEach, rssBytes }) => [
          name,
          tasks.toLocaleString("en"),
          becomes,
          formatNumber(readyMs),
          formatNumber(takenUpMs),
          formatNumber(cpuUsEach),
          formatBytes(rssBytes),
        ]),
      },
      aims: [],
      measurements: figures,
    };
  },
};

async function measure(context: BenchContext, variant: Variant): Promise<RecoveryFigures> {
  const { name, command, becomes } = variant;
  const tasks = context.quick ? 1_000 : 10_000;
  context.progress(`${tasks} tasks at work, ${name}`);
  using directory = createServerDirectory();
  await crashAtWork();
  const started = performance.now();
  await using server = await context.start("ours", { directory, settings });
  const ready = performance.now();
  await (command === "hold" ? failed(server, tasks) : arrived(server, tasks));
  const takenUp = performance.now();
  const { cpuUs, rssBytes } = await server.collect();
  return {
    name,
    tasks,
    becomes,
    readyMs: ready - started,
    takenUpMs: takenUp - ready,
    cpuUsEach: cpuUs / tasks,
    rssBytes,
  };

  async function crashAtWork(): Promise<void> {
    await using server = await context.start("ours", { directory, settings });
    using clients = await openClients(jsonRpcWire, server.target, 16);
    await runClosedLoop(server, clients.all, (client) => client.sendForTask(command, true), {
      operations: tasks,
    });
    await arrived(server, tasks);
    await server.kill();
  }
}

async function arrived(server: BenchServer, tasks: number): Promise<void> {
  while ((await server.usage()).arrived < tasks) {
    await pause(20);
  }
}

async function failed(server: BenchServer, tasks: number): Promise<void> {
  using clients = await openClients(jsonRpcWire, server.target);
  while ((await clients.first.listState(TaskState.FAILED, 1)).totalSize < tasks) {
    await pause(20);
  }
}
