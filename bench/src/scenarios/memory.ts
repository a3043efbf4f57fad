import { runClosedLoop } from "../load/closed-loop.ts";
import { openClients } from "../load/load-client.ts";
import { jsonRpcWire } from "../load/wires/index.ts";
import { formatBytes } from "../report/table.ts";
import type { BenchContext, Scenario } from "../scenario.ts";
import type { Usage } from "../servers/control.ts";
import type { Side } from "../servers/start-server.ts";

interface MemoryFigures {
  readonly side: Side;
  readonly tasks: number;
  readonly before: Usage;
  readonly after: Usage;
}

/** Resident memory before and after 50,000 finished tasks. */
export const memory: Scenario = {
  name: "memory",
  summary:
    "Memory of the server's process after 50,000 finished tasks (quick: 5,000), after a garbage collection.",
  async run(context) {
    const figures = [await measure(context, "ours"), await measure(context, "peer")];
    return {
      table: {
        columns: ["side", "tasks", "RSS before", "RSS after", "heap before", "heap after", "heap per task"],
        rows: figures.map(({ side, tasks, before, after }) => [
          side,
          tasks.toLocaleString("en"),
          formatBytes(before.rssBytes),
          formatBytes(after.rssBytes),
          formatBytes(before.heapBytes),
          formatBytes(after.heapBytes),
          formatBytes((after.heapBytes - before.heapBytes) / tasks),
        ]),
      },
      aims: [],
      measurements: figures,
    };
  },
};

async function measure(context: BenchContext, side: Side): Promise<MemoryFigures> {
  const tasks = context.quick ? 5_000 : 50_000;
  context.progress(`${tasks} tasks for ${side}`);
  await using server = await context.start(side);
  using clients = await openClients(jsonRpcWire, server.target, 16);
  await clients.first.send("task first");
  const before = await server.collect();
  await runClosedLoop(server, clients.all, (client) => client.send("task something to keep"), {
    operations: tasks,
  });
  return { side, tasks, before, after: await server.collect() };
}
