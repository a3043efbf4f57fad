import { type LoadClients, openClients } from "../load/load-client.ts";
import type { LoadWire } from "../load/load-wire.ts";
import { grpcWire, jsonRpcWire } from "../load/wires/index.ts";
import { within } from "../load/within.ts";
import { sum } from "../report/statistics.ts";
import { formatBytes, formatNumber } from "../report/table.ts";
import type { BenchContext, Scenario } from "../scenario.ts";
import type { BenchServer, Side } from "../servers/start-server.ts";

const events = 1_000;

interface FanoutFigures {
  readonly wire: string;
  readonly side: Side;
  readonly subscribers: number;
  /** Events that arrived at all subscribers together. */
  readonly delivered: number;
  /** False: stopped at the time limit. */
  readonly complete: boolean;
  readonly elapsedMs: number;
  /** CPU of the server's process, microseconds. */
  readonly cpuUs: number;
  /** By how much resident memory grew meanwhile, at most. */
  readonly grownBytes: number;
}

/** One task whose events go to a thousand subscribers. */
export const fanout: Scenario = {
  name: "fanout",
  summary:
    "One task of 1,000 events (chunks of 100 bytes) read by 1,000 subscribers at a time (quick: 100): a million events to deliver. Over JSON-RPC each subscriber has a connection of its own, over gRPC a hundred share one. Memory is the most that was resident meanwhile, beyond what was when all had subscribed.",
  async run(context) {
    const figures: FanoutFigures[] = [];
    for (const wire of [jsonRpcWire, grpcWire]) {
      for (const side of ["ours", "peer"] as const) {
        figures.push(await measureSide(context, side, wire));
      }
    }
    return {
      table: {
        columns: ["wire", "side", "subscribers", "events/s delivered", "CPU µs per event", "RSS grown by"],
        rows: figures.map((figure) => [
          figure.wire,
          figure.side,
          figure.subscribers.toLocaleString("en"),
          formatRate(figure),
          formatNumber(figure.cpuUs / figure.delivered),
          `${figure.complete ? "" : ">= "}${formatBytes(figure.grownBytes)}`,
        ]),
      },
      aims: [],
      measurements: figures,
    };
  },
};

async function measureSide(context: BenchContext, side: Side, wire: LoadWire): Promise<FanoutFigures> {
  await using server = await context.start(side);
  const subscribers = context.quick ? 100 : 1_000;
  context.progress(`a task for ${subscribers} subscribers over ${wire.name}, ${side}`);
  await measure(server, wire, subscribers / 10, 10_000); // to warm up
  const limitMs = side === "ours" ? 60_000 : 20_000;
  return await measure(server, wire, subscribers, context.quick ? 10_000 : limitMs);
}

async function measure(
  server: BenchServer,
  wire: LoadWire,
  subscribers: number,
  limitMs: number,
): Promise<FanoutFigures> {
  using control = await openClients(wire, server.target);
  const { id } = await control.first.sendForTask(`gated stream ${events}`, true);
  using groups = await openGroups(server, wire, subscribers);
  const followings = groups.all.flatMap(({ all }) => all.map((client) => client.follow(id)));
  await Promise.all(followings.map(({ first }) => first));
  const delivered = () => sum(followings.map(({ count }) => count));
  const earlier = delivered();
  const before = await server.collect();
  await control.first.send("go");
  const { complete, elapsedMs } = await within(Promise.all(followings.map(({ ended }) => ended)), limitMs);
  const arrived = delivered() - earlier;
  const after = await server.usage();
  if (complete && arrived < subscribers * events) {
    throw new Error(`${server.side} delivered ${arrived} events instead of ${subscribers * events}`);
  }
  return {
    wire: wire.name,
    side: server.side,
    subscribers,
    delivered: arrived,
    complete,
    elapsedMs,
    cpuUs: after.cpuUs - before.cpuUs,
    grownBytes: after.peakRssBytes - before.rssBytes,
  };
}

/** A hundred callers share a connection where the wire lets them. */
async function openGroups(
  server: BenchServer,
  wire: LoadWire,
  count: number,
): Promise<Disposable & { readonly all: readonly LoadClients[] }> {
  const size = Math.min(100, count);
  const all: LoadClients[] = [];
  for (let opened = 0; opened < count; opened += size) {
    all.push(await openClients(wire, server.target, size));
  }
  const close = () => {
    for (const group of all) {
      group[Symbol.dispose]();
    }
  };
  return { all, [Symbol.dispose]: close };
}

function formatRate({ delivered, elapsedMs, complete }: FanoutFigures): string {
  const rate = formatNumber((delivered / elapsedMs) * 1_000);
  return complete ? rate : `${rate} (stopped at ${formatNumber(elapsedMs / 1_000)} s)`;
}
