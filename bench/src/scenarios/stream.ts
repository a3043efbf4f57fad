import { openClients } from "../load/load-client.ts";
import type { LoadWire } from "../load/load-wire.ts";
import { loadWires } from "../load/wires/index.ts";
import { type AimVerdict, judgeLimit, judgeRatio } from "../report/aim.ts";
import { formatNumber, formatRatio } from "../report/table.ts";
import type { BenchContext, Scenario, ScenarioResult } from "../scenario.ts";
import type { BenchServer, Side } from "../servers/start-server.ts";

/** How many streams of each length; the peer's time grows with the square of the length. */
const lengths = [
  { chunks: 100, repeat: 50 },
  { chunks: 1_000, repeat: 5 },
  { chunks: 10_000, repeat: 1 },
  { chunks: 100_000, repeat: 1 },
] as const;

/** What the just-in-time compilers need until figures stand still. */
const warmUpMs = 3_000;

/** Creation, WORKING and COMPLETED come with every stream. */
const otherEvents = 3;

interface StreamFigures {
  readonly wire: string;
  readonly chunks: number;
  readonly side: Side;
  /** Events that arrived. */
  readonly events: number;
  /** False: stopped at the time limit. */
  readonly complete: boolean;
  readonly elapsedMs: number;
  /** CPU of the server's process, microseconds. */
  readonly cpuUs: number;
}

interface Pair {
  readonly ours: StreamFigures;
  readonly peer: StreamFigures | undefined;
}

/** One stream at a time of 100 to 100,000 chunks of 100 bytes, each made on a turn of the event loop of its own. */
export const stream: Scenario = {
  name: "stream",
  summary:
    "One stream at a time: WORKING, chunks of 100 bytes appended to one artifact (each made on a turn of the event loop of its own), COMPLETED.",
  async run(context) {
    const pairs: Pair[] = [];
    for (const wire of loadWires) {
      pairs.push(...(await compareWire(context, wire)));
    }
    return report(pairs);
  },
};

async function compareWire(context: BenchContext, wire: LoadWire): Promise<Pair[]> {
  const limitMs = context.quick ? 10_000 : 30_000;
  await using ours = await context.start("ours");
  await using peer = wire.shared ? await context.start("peer") : undefined;
  let peerKeepsUp = peer !== undefined;
  for (const server of peer === undefined ? [ours] : [ours, peer]) {
    await warmUp(server, wire, context.quick ? 300 : warmUpMs);
  }
  const pairs: Pair[] = [];
  for (const length of context.quick ? lengths.slice(0, 3) : lengths) {
    context.progress(`stream of ${length.chunks} over ${wire.name}`);
    const theirs = peer !== undefined && peerKeepsUp ? await measure(peer, wire, length, limitMs) : undefined;
    peerKeepsUp = theirs?.complete ?? false;
    if (theirs?.complete === false) {
      await peer?.[Symbol.asyncDispose](); // it would go on working at that stream
    }
    pairs.push({ ours: await measure(ours, wire, length, limitMs), peer: theirs });
  }
  return pairs;
}

async function warmUp(server: BenchServer, wire: LoadWire, durationMs: number): Promise<void> {
  const until = performance.now() + durationMs;
  while (performance.now() < until) {
    await measure(server, wire, { chunks: 500, repeat: 1 }, durationMs + 10_000);
  }
}

async function measure(
  server: BenchServer,
  wire: LoadWire,
  { chunks, repeat }: { readonly chunks: number; readonly repeat: number },
  limitMs: number,
): Promise<StreamFigures> {
  using clients = await openClients(wire, server.target);
  const before = await server.usage();
  const started = performance.now();
  let events = 0;
  let complete = true;
  for (let run = 0; run < repeat && complete; run++) {
    const outcome = await clients.first.stream(`stream ${chunks}`, limitMs);
    events += outcome.events;
    complete = outcome.complete;
    if (complete && outcome.events !== chunks + otherEvents) {
      throw new Error(
        `${server.side} gave ${outcome.events} events over ${wire.name} instead of ${chunks + otherEvents}`,
      );
    }
  }
  const elapsedMs = performance.now() - started;
  const after = await server.usage();
  return {
    wire: wire.name,
    chunks,
    side: server.side,
    events,
    complete,
    elapsedMs,
    cpuUs: after.cpuUs - before.cpuUs,
  };
}

function report(pairs: readonly Pair[]): ScenarioResult {
  return {
    table: {
      columns: [
        "wire",
        "chunks",
        "ours events/s",
        "peer events/s",
        "ratio",
        "ours CPU µs/event",
        "peer CPU µs/event",
        "ratio",
      ],
      rows: pairs.map(({ ours, peer }) => {
        const ratio = peer && ratioOf(ours, peer);
        const bound = peer?.complete === false ? ">= " : "";
        return [
          ours.wire,
          ours.chunks.toLocaleString("en"),
          formatNumber(eventsPerSecond(ours)),
          peer ? formatPeerRate(peer) : "–",
          ratio ? bound + formatRatio(ratio.time) : "–",
          formatNumber(ours.cpuUs / ours.events),
          peer ? bound + formatNumber(peer.cpuUs / peer.events) : "–",
          ratio ? bound + formatRatio(ratio.cpu) : "–",
        ];
      }),
    },
    aims: [...pairs.flatMap(judge), ...judgeFlatness(pairs)],
    measurements: pairs.flatMap(({ ours, peer }) => (peer === undefined ? [ours] : [ours, peer])),
  };
}

function judge({ ours, peer }: Pair): AimVerdict[] {
  if (ours.chunks !== 1_000 || peer === undefined) {
    return [];
  }
  return [judgeRatio(`1,000 chunks over ${ours.wire}`, ours.wire === "gRPC" ? 20 : 40, ratioOf(ours, peer))];
}

/** An event of the longest stream may cost half as much again as one of 1,000. */
function judgeFlatness(pairs: readonly Pair[]): AimVerdict[] {
  return loadWires.flatMap(({ name }) => {
    const ours = pairs.map((pair) => pair.ours).filter(({ wire }) => wire === name);
    const short = ours.find(({ chunks }) => chunks === 1_000);
    const long = ours.at(-1);
    if (short === undefined || long === undefined) {
      return [];
    }
    const growth = long.cpuUs / long.events / (short.cpuUs / short.events);
    return [
      judgeLimit(
        `CPU per event of ${long.chunks.toLocaleString("en")} chunks against 1,000 over ${name}`,
        1.5,
        growth,
        "x",
      ),
    ];
  });
}

function ratioOf(ours: StreamFigures, peer: StreamFigures): { readonly time: number; readonly cpu: number } {
  return {
    time: eventsPerSecond(ours) / eventsPerSecond(peer),
    cpu: peer.cpuUs / peer.events / (ours.cpuUs / ours.events),
  };
}

function eventsPerSecond({ events, elapsedMs }: StreamFigures): number {
  return (events / elapsedMs) * 1_000;
}

function formatPeerRate(peer: StreamFigures): string {
  const rate = formatNumber(eventsPerSecond(peer));
  return peer.complete ? rate : `${rate} (stopped at ${formatNumber(peer.elapsedMs / 1_000)} s)`;
}
