import { type EchoFigures, probeDuring } from "../load/echo-probe.ts";
import { openClients } from "../load/load-client.ts";
import { jsonRpcWire } from "../load/wires/index.ts";
import { judgeLimit } from "../report/aim.ts";
import { formatNumber } from "../report/table.ts";
import type { BenchContext, Scenario } from "../scenario.ts";
import type { BenchServer, Side } from "../servers/start-server.ts";

/** Events of a burst, and how often ours is asked for it. */
const bursts = [
  { chunks: 4_000, rounds: 5 },
  { chunks: 100_000, rounds: 3 },
] as const;

interface BurstFigures extends EchoFigures {
  readonly side: Side;
  readonly chunks: number;
  /** How long the burst took, and whether it came to its end. */
  readonly burstMs: number;
  readonly complete: boolean;
}

/** How long an unrelated echo takes while an executor yields events without awaiting anything. */
export const burst: Scenario = {
  name: "burst",
  summary:
    "Unrelated echoes, one after the other, while an executor yields 4,000 or 100,000 events without awaiting anything (JSON-RPC; the worst of several bursts).",
  async run(context) {
    const figures: BurstFigures[] = [];
    for (const { chunks, rounds } of bursts) {
      await using ours = await start(context, "ours");
      for (let round = 0; round < (context.quick ? 1 : rounds); round++) {
        figures.push(await measure(context, ours, chunks));
      }
      await using peer = await start(context, "peer");
      figures.push(await measure(context, peer, chunks));
    }
    const worst = (side: Side, chunks: number) =>
      figures
        .filter((figure) => figure.side === side && figure.chunks === chunks)
        .reduce((one, other) => (one.worstMs > other.worstMs ? one : other));
    const shown = bursts.flatMap(({ chunks }) => [worst("ours", chunks), worst("peer", chunks)]);
    return {
      table: {
        columns: ["side", "events", "burst took ms", "echoes meanwhile", "echo p50 ms", "slowest echo ms"],
        rows: shown.map(({ side, chunks, burstMs, complete, echoes, p50Ms, worstMs }) => [
          side,
          chunks.toLocaleString("en"),
          `${complete ? "" : "stopped at "}${formatNumber(burstMs)}`,
          String(echoes),
          formatNumber(p50Ms),
          `${complete ? "" : ">= "}${formatNumber(worstMs)}`,
        ]),
      },
      aims: bursts.map(({ chunks }) =>
        judgeLimit(`slowest echo during burst ${chunks}`, 50, worst("ours", chunks).worstMs, " ms"),
      ),
      measurements: figures,
    };
  },
};

async function start(context: BenchContext, side: Side): Promise<BenchServer> {
  const server = await context.start(side);
  using clients = await openClients(jsonRpcWire, server.target);
  for (let warm = 0; warm < 500; warm++) {
    await clients.first.send("echo warm");
  }
  await clients.first.stream("burst 100", 10_000);
  return server;
}

async function measure(context: BenchContext, server: BenchServer, chunks: number): Promise<BurstFigures> {
  context.progress(`burst of ${chunks}, ${server.side}`);
  const limitMs = context.quick ? 10_000 : 30_000;
  using caller = await openClients(jsonRpcWire, server.target);
  const burst = async () => {
    const started = performance.now();
    const { complete } = await caller.first.stream(`burst ${chunks}`, limitMs);
    return { complete, burstMs: performance.now() - started };
  };
  const { result, echoes } = await probeDuring(server.target, burst, 0);
  return { side: server.side, chunks, ...result, ...echoes };
}
