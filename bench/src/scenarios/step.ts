import { type LoadResult, runClosedLoop } from "../load/closed-loop.ts";
import { openClients } from "../load/load-client.ts";
import { jsonRpcWire } from "../load/wires/index.ts";
import { sum } from "../report/statistics.ts";
import { formatNumber } from "../report/table.ts";
import type { BenchContext, Scenario } from "../scenario.ts";

const steps = 2_000;
const rounds = 3;

interface StepFigures {
  readonly tasksAtATime: number;
  readonly steps: number;
  readonly stepsPerSecond: number;
  /** CPU of the server's process per step, microseconds. */
  readonly cpuUs: number;
}

/** What it costs that a step's result is stored before it is returned. */
export const step: Scenario = {
  name: "step",
  summary:
    "Tasks of 2,000 steps that do nothing, one after the other: each result is stored before it is returned (SQLite, default durability). The peer has nothing of the kind.",
  async run(context) {
    const figures: StepFigures[] = [];
    for (const tasksAtATime of [1, 16]) {
      figures.push(await measure(context, tasksAtATime));
    }
    return {
      table: {
        columns: ["tasks at a time", "steps", "steps/s", "CPU µs per step"],
        rows: figures.map(({ tasksAtATime, steps: taken, stepsPerSecond, cpuUs }) => [
          String(tasksAtATime),
          taken.toLocaleString("en"),
          formatNumber(stepsPerSecond),
          formatNumber(cpuUs),
        ]),
      },
      aims: [],
      measurements: figures,
    };
  },
};

async function measure(context: BenchContext, tasksAtATime: number): Promise<StepFigures> {
  context.progress(`steps of ${tasksAtATime} tasks at a time`);
  await using server = await context.start("ours");
  using clients = await openClients(jsonRpcWire, server.target, tasksAtATime);
  const run = (operations: number) =>
    runClosedLoop(server, clients.all, (client) => client.send(`steps ${steps}`), { operations });
  const tasks = context.quick ? tasksAtATime : Math.max(8, 2 * tasksAtATime);
  await run(tasks); // to warm up
  const results: LoadResult[] = [];
  for (let round = 0; round < (context.quick ? 1 : rounds); round++) {
    results.push(await run(tasks));
  }
  const taken = results.length * tasks * steps;
  return {
    tasksAtATime,
    steps: taken,
    stepsPerSecond: (taken / sum(results.map(({ elapsedMs }) => elapsedMs))) * 1_000,
    cpuUs: sum(results.map(({ cpuUs }) => cpuUs)) / taken,
  };
}
