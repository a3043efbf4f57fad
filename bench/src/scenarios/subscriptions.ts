import { openClients } from "../load/load-client.ts";
import type { LoadWire } from "../load/load-wire.ts";
import { loadWires } from "../load/wires/index.ts";
import { formatBytes } from "../report/table.ts";
import type { BenchContext, Scenario } from "../scenario.ts";
import type { Usage } from "../servers/control.ts";
import type { Side } from "../servers/start-server.ts";

interface SubscriptionFigures {
  readonly wire: string;
  readonly side: Side;
  readonly subscriptions: number;
  readonly before: Usage;
  readonly after: Usage;
}

/** What 1,000 subscriptions to a task at rest cost in memory, the sockets included. */
export const subscriptions: Scenario = {
  name: "subscriptions",
  summary:
    "1,000 subscriptions to one task at rest (quick: 200), after a garbage collection. Over HTTP/1.1 each has a connection of its own, over gRPC all share one.",
  async run(context) {
    const figures: SubscriptionFigures[] = [];
    for (const wire of loadWires) {
      for (const side of wire.shared ? (["ours", "peer"] as const) : (["ours"] as const)) {
        figures.push(await measure(context, side, wire));
      }
    }
    return {
      table: {
        columns: ["wire", "side", "subscriptions", "RSS before", "RSS after", "RSS each", "heap each"],
        rows: figures.map(({ wire, side, subscriptions: count, before, after }) => [
          wire,
          side,
          count.toLocaleString("en"),
          formatBytes(before.rssBytes),
          formatBytes(after.rssBytes),
          formatBytes((after.rssBytes - before.rssBytes) / count),
          formatBytes((after.heapBytes - before.heapBytes) / count),
        ]),
      },
      aims: [],
      measurements: figures,
    };
  },
};

async function measure(context: BenchContext, side: Side, wire: LoadWire): Promise<SubscriptionFigures> {
  const count = context.quick ? 200 : 1_000;
  context.progress(`${count} subscriptions over ${wire.name}, ${side}`);
  await using server = await context.start(side);
  using control = await openClients(wire, server.target);
  const { id } = await control.first.sendForTask("hold", true);
  using first = await openClients(wire, server.target);
  await first.first.subscribe(id);
  const before = await server.collect();
  using clients = await openClients(wire, server.target, count);
  await Promise.all(clients.all.map((client) => client.subscribe(id)));
  return { wire: wire.name, side, subscriptions: count, before, after: await server.collect() };
}
