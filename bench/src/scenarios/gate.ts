import { type LoadResult, runClosedLoop } from "../load/closed-loop.ts";
import { openClients } from "../load/load-client.ts";
import type { LoadWire } from "../load/load-wire.ts";
import { grpcWire, httpJsonWire, jsonRpcWire } from "../load/wires/index.ts";
import { judgeLimit } from "../report/aim.ts";
import { median } from "../report/statistics.ts";
import { formatNumber, formatRatio } from "../report/table.ts";
import type { BenchContext, Scenario } from "../scenario.ts";
import type { BenchServer } from "../servers/start-server.ts";

const atATime = 16;
const rounds = 7;
/** How much more an echo may cost with a gate than without. */
const mostRatio = 1.15;

interface GateFigures {
  readonly wire: string;
  /** CPU of the server's process per echo, microseconds: the median of the rounds. */
  readonly openCpuUs: number;
  readonly gatedCpuUs: number;
  /** The same as times per second. */
  readonly openPerSecond: number;
  readonly gatedPerSecond: number;
}

/** What a gate for access tokens costs, when the token has been verified before. */
export const gate: Scenario = {
  name: "gate",
  summary:
    "Echoes, 16 at a time, without a gate and with one for access tokens (JWT, ES256), turn by turn. All calls have the same token, which is verified once. The peer has no gate.",
  async run(context) {
    const figures: GateFigures[] = [];
    for (const wire of [jsonRpcWire, httpJsonWire, grpcWire]) figures.push(await measure(context, wire));
    return {
      table: {
        columns: [
          "wire",
          "open op/s",
          "with a token op/s",
          "ratio",
          "open CPU µs",
          "with a token CPU µs",
          "ratio",
        ],
        rows: figures.map((each) => [
          each.wire,
          formatNumber(each.openPerSecond),
          formatNumber(each.gatedPerSecond),
          formatRatio(each.openPerSecond / each.gatedPerSecond),
          formatNumber(each.openCpuUs),
          formatNumber(each.gatedCpuUs),
          formatRatio(each.gatedCpuUs / each.openCpuUs),
        ]),
      },
      aims: figures.map((each) =>
        judgeLimit(`echo with a token, ${each.wire}, CPU`, mostRatio, each.gatedCpuUs / each.openCpuUs, "x"),
      ),
      measurements: figures,
    };
  },
};

async function measure(context: BenchContext, wire: LoadWire): Promise<GateFigures> {
  context.progress(`echo over ${wire.name}, without and with a token`);
  await using open = await context.start("ours", { settings: { store: "memory" } });
  await using gated = await context.start("ours", { settings: { store: "memory", gate: "jwt" } });
  const results = new Map<BenchServer, LoadResult[]>([open, gated].map((server) => [server, []]));
  const run = async (server: BenchServer, durationMs: number) => {
    using clients = await openClients(wire, server.target, atATime);
    return await runClosedLoop(server, clients.all, (client) => client.send("echo hello"), { durationMs });
  };
  for (const server of [open, gated]) await run(server, context.quick ? 300 : 2_500);
  for (let round = 0; round < (context.quick ? 1 : rounds); round++) {
    // Each of them goes first in half of the rounds.
    for (const server of round % 2 === 0 ? [open, gated] : [gated, open]) {
      results.get(server)?.push(await run(server, context.quick ? 300 : 1_000));
    }
  }
  const cpuOf = (server: BenchServer) =>
    median((results.get(server) ?? []).map(({ cpuUs, operations }) => cpuUs / operations));
  const speedOf = (server: BenchServer) =>
    median((results.get(server) ?? []).map(({ operations, elapsedMs }) => (operations / elapsedMs) * 1_000));
  return {
    wire: wire.name,
    openCpuUs: cpuOf(open),
    gatedCpuUs: cpuOf(gated),
    openPerSecond: speedOf(open),
    gatedPerSecond: speedOf(gated),
  };
}
