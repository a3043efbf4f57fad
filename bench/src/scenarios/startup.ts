import { openClients } from "../load/load-client.ts";
import { jsonRpcWire } from "../load/wires/index.ts";
import { median } from "../report/statistics.ts";
import { formatNumber } from "../report/table.ts";
import type { BenchContext, Scenario } from "../scenario.ts";
import type { Side } from "../servers/start-server.ts";

const sides = ["ours", "peer"] as const;

/** From the start of the process to the first answer. */
export const startup: Scenario = {
  name: "startup",
  summary:
    "From the start of the process to the first answer (an echo over JSON-RPC). Ours runs from TypeScript sources, whose types are stripped as they are loaded, and makes a new database; the peer runs from its published JavaScript.",
  async run(context) {
    const elapsedMs = { ours: [] as number[], peer: [] as number[] };
    for (let round = 0; round < (context.quick ? 2 : 7); round++) {
      for (const side of sides) {
        context.progress(`start of ${side}`);
        elapsedMs[side].push(await measure(context, side));
      }
    }
    return {
      table: {
        columns: ["side", "starts", "median ms", "fastest ms", "slowest ms"],
        rows: sides.map((side) => [
          side,
          String(elapsedMs[side].length),
          formatNumber(median(elapsedMs[side])),
          formatNumber(Math.min(...elapsedMs[side])),
          formatNumber(Math.max(...elapsedMs[side])),
        ]),
      },
      aims: [],
      measurements: sides.map((side) => ({ side, elapsedMs: elapsedMs[side] })),
    };
  },
};

async function measure(context: BenchContext, side: Side): Promise<number> {
  const started = performance.now();
  await using server = await context.start(side);
  using clients = await openClients(jsonRpcWire, server.target);
  await clients.first.send("echo hello");
  return performance.now() - started;
}
