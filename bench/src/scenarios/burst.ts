import { openClients } from "../load/load-client.ts";
import { jsonRpcWire } from "../load/wires/index.ts";
import { judgeLimit } from "../report/aim.ts";
import { quantile } from "../report/statistics.ts";
import { formatNumber } from "../report/table.ts";
import type { BenchContext, Scenario } from "../scenario.ts";
import type { BenchServer, Side } from "../servers/start-server.ts";

const chunks = 4_000;

interface BurstFigures {
  readonly side: Side;
  /** How long the burst took, and whether it came to its end. */
  readonly burstMs: number;
  readonly complete: boolean;
  /** Echoes that were answered while it lasted. */
  readonly echoes: number;
  readonly p50Ms: number;
  readonly worstMs: number;
}

/** How long an unrelated echo takes while an executor yields 4,000 events without awaiting anything. */
export const burst: Scenario = {
  name: "burst",
  summary: `Unrelated echoes, one after the other, while an executor yields ${chunks.toLocaleString("en")} events without awaiting anything (JSON-RPC; the worst of several bursts).`,
  async run(context) {
    const figures: BurstFigures[] = [];
    await using ours = await context.start("ours");
    await using peer = await context.start("peer");
    for (const server of [ours, peer]) {
      using clients = await openClients(jsonRpcWire, server.target);
      for (let warm = 0; warm < 500; warm++) {
        await clients.first.send("echo warm");
      }
      await clients.first.stream("burst 100", 10_000);
    }
    for (let round = 0; round < (context.quick ? 1 : 5); round++) {
      figures.push(await measure(context, ours));
    }
    figures.push(await measure(context, peer));
    const worst = figures
      .filter(({ side }) => side === "ours")
      .reduce((one, other) => (one.worstMs > other.worstMs ? one : other));
    const shown = [worst, ...figures.filter(({ side }) => side === "peer")];
    return {
      table: {
        columns: ["side", "burst took ms", "echoes meanwhile", "echo p50 ms", "slowest echo ms"],
        rows: shown.map(({ side, burstMs, complete, echoes, p50Ms, worstMs }) => [
          side,
          `${complete ? "" : "stopped at "}${formatNumber(burstMs)}`,
          String(echoes),
          formatNumber(p50Ms),
          `${complete ? "" : ">= "}${formatNumber(worstMs)}`,
        ]),
      },
      aims: [judgeLimit("slowest echo during burst 4000", 50, worst.worstMs, " ms")],
      measurements: figures,
    };
  },
};

async function measure(context: BenchContext, server: BenchServer): Promise<BurstFigures> {
  context.progress(`burst of ${server.side}`);
  const limitMs = context.quick ? 15_000 : 120_000;
  using callers = await openClients(jsonRpcWire, server.target, 2);
  const [streaming, echoing] = callers.all;
  if (streaming === undefined || echoing === undefined) {
    throw new Error("two clients are needed");
  }
  const started = performance.now();
  let over = false;
  const outcome = streaming.stream(`burst ${chunks}`, limitMs).finally(() => {
    over = true;
  });
  const latencies: number[] = [];
  while (!over) {
    const begun = performance.now();
    // When the burst is stopped at its limit, an echo that still waits has waited that long.
    await Promise.race([echoing.send("echo hello"), outcome]);
    latencies.push(performance.now() - begun);
  }
  const { complete } = await outcome;
  const ascending = Float64Array.from(latencies).sort();
  return {
    side: server.side,
    burstMs: performance.now() - started,
    complete,
    echoes: latencies.length,
    p50Ms: quantile(ascending, 0.5),
    worstMs: quantile(ascending, 1),
  };
}
