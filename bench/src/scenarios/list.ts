import { runClosedLoop } from "../load/closed-loop.ts";
import { openClients } from "../load/load-client.ts";
import type { LoadWire } from "../load/load-wire.ts";
import { jsonRpcWire, sharedWires } from "../load/wires/index.ts";
import { judgeRatio } from "../report/aim.ts";
import { sum } from "../report/statistics.ts";
import { formatNumber, formatRatio } from "../report/table.ts";
import type { Scenario, ScenarioResult } from "../scenario.ts";
import type { BenchServer, Side } from "../servers/start-server.ts";

const pageSize = 50;
const rounds = 3;

interface ListFigures {
  readonly wire: string;
  readonly side: Side;
  readonly tasks: number;
  readonly pagesPerSecond: number;
  /** CPU of the server's process per page, microseconds. */
  readonly cpuUs: number;
}

/** The first page of 50 among 10,000 tasks, one call at a time. */
export const list: Scenario = {
  name: "list",
  summary: "The first page of 50 among 10,000 finished tasks (quick: 2,000), one call at a time.",
  async run(context) {
    const tasks = context.quick ? 2_000 : 10_000;
    const durationMs = context.quick ? 300 : 1_500;
    await using ours = await context.start("ours");
    await using peer = await context.start("peer");
    for (const server of [ours, peer]) {
      context.progress(`${tasks} tasks for ${server.side}`);
      await fill(server, tasks);
    }
    const figures: { ours: ListFigures; peer: ListFigures }[] = [];
    for (const wire of sharedWires) {
      context.progress(`list over ${wire.name}`);
      for (const server of [ours, peer]) {
        await measure(server, wire, tasks, durationMs);
      }
      const of = { ours: [] as ListFigures[], peer: [] as ListFigures[] };
      for (let round = 0; round < (context.quick ? 1 : rounds); round++) {
        of.ours.push(await measure(ours, wire, tasks, durationMs));
        of.peer.push(await measure(peer, wire, tasks, durationMs));
      }
      figures.push({ ours: average(of.ours), peer: average(of.peer) });
    }
    return report(figures);
  },
};

async function fill(server: BenchServer, tasks: number): Promise<void> {
  using clients = await openClients(jsonRpcWire, server.target, 16);
  await runClosedLoop(server, clients.all, (client) => client.send("task something to list"), {
    operations: tasks,
  });
}

async function measure(
  server: BenchServer,
  wire: LoadWire,
  tasks: number,
  durationMs: number,
): Promise<ListFigures> {
  using clients = await openClients(wire, server.target);
  const result = await runClosedLoop(server, clients.all, (client) => client.listTasks(pageSize), {
    durationMs,
  });
  return {
    wire: wire.name,
    side: server.side,
    tasks,
    pagesPerSecond: (result.operations / result.elapsedMs) * 1_000,
    cpuUs: result.cpuUs / result.operations,
  };
}

function average(figures: readonly ListFigures[]): ListFigures {
  const [first] = figures;
  if (first === undefined) {
    throw new Error("nothing was measured");
  }
  const mean = (of: (figure: ListFigures) => number) => sum(figures.map(of)) / figures.length;
  return {
    ...first,
    pagesPerSecond: mean(({ pagesPerSecond }) => pagesPerSecond),
    cpuUs: mean(({ cpuUs }) => cpuUs),
  };
}

function report(
  figures: readonly { readonly ours: ListFigures; readonly peer: ListFigures }[],
): ScenarioResult {
  const ratioOf = (ours: ListFigures, peer: ListFigures) => ({
    time: ours.pagesPerSecond / peer.pagesPerSecond,
    cpu: peer.cpuUs / ours.cpuUs,
  });
  return {
    table: {
      columns: ["wire", "ours pages/s", "peer pages/s", "ratio", "ours CPU µs", "peer CPU µs", "ratio"],
      rows: figures.map(({ ours, peer }) => {
        const ratio = ratioOf(ours, peer);
        return [
          ours.wire,
          formatNumber(ours.pagesPerSecond),
          formatNumber(peer.pagesPerSecond),
          formatRatio(ratio.time),
          formatNumber(ours.cpuUs),
          formatNumber(peer.cpuUs),
          formatRatio(ratio.cpu),
        ];
      }),
    },
    aims: figures.map(({ ours, peer }) => judgeRatio(`list over ${ours.wire}`, 5, ratioOf(ours, peer))),
    measurements: figures.flatMap(({ ours, peer }) => [ours, peer]),
  };
}
