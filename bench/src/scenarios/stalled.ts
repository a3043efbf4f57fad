import { openClients } from "../load/load-client.ts";
import type { LoadWire } from "../load/load-wire.ts";
import { grpcWire, jsonRpcWire } from "../load/wires/index.ts";
import { within } from "../load/within.ts";
import { judgeLimit } from "../report/aim.ts";
import { median } from "../report/statistics.ts";
import { formatBytes, formatNumber } from "../report/table.ts";
import type { BenchContext, Scenario, ScenarioResult } from "../scenario.ts";
import type { BenchServer, Side } from "../servers/start-server.ts";

const stalledReaders = 10;
const updateBytes = 100;
const mebibyte = 2 ** 20;

/** One stream, read to its end by one reader. */
interface Round {
  /** The second half of the stream: whoever is going to stall has stalled by then. */
  readonly eventsPerSecond: number;
  readonly complete: boolean;
  readonly elapsedMs: number;
  /** Resident memory after a garbage collection, with everybody still connected. */
  readonly rssBytes: number;
}

interface StalledFigures {
  readonly wire: string;
  readonly side: Side;
  readonly events: number;
  readonly alone: Round;
  readonly beside: Round;
}

/** What readers that never read cost the server, and the others. */
export const stalled: Scenario = {
  name: "stalled",
  summary:
    "One reader of a stream of 60,000 events (100-byte updates that replace one another; quick: 20,000), alone and beside 10 that subscribed to the same task and never read. Speed is that of the second half, when those have stalled; memory is resident after a garbage collection, with everybody still connected.",
  async run(context) {
    const figures: StalledFigures[] = [];
    for (const wire of [jsonRpcWire, grpcWire]) {
      for (const side of ["ours", "peer"] as const) {
        figures.push(await measureSide(context, side, wire));
      }
    }
    return report(figures);
  },
};

async function measureSide(context: BenchContext, side: Side, wire: LoadWire): Promise<StalledFigures> {
  const events = context.quick ? 20_000 : 60_000;
  const limitMs = context.quick ? 10_000 : 25_000;
  const rounds = context.quick || side === "peer" ? 1 : 3;
  await using server = await context.start(side);
  context.progress(`${events} events over ${wire.name}, ${side}`);
  await read(server, wire, 5_000, 0, limitMs); // to warm up
  if (side === "ours") {
    await read(server, wire, events, 0, limitMs); // its caches are full then
  }
  const alone: Round[] = [];
  const beside: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    alone.push(await read(server, wire, events, 0, limitMs));
    context.progress(`the same beside ${stalledReaders} who do not read`);
    beside.push(await read(server, wire, events, stalledReaders, limitMs));
  }
  return { wire: wire.name, side, events, alone: summarize(alone), beside: summarize(beside) };
}

async function read(
  server: BenchServer,
  wire: LoadWire,
  events: number,
  stalledCount: number,
  limitMs: number,
): Promise<Round> {
  using callers = await openClients(wire, server.target);
  using control = await openClients(wire, server.target);
  const { id } = await control.first.sendForTask(`gated replace ${events} ${updateBytes}`, true);
  using stack = new DisposableStack();
  for (let count = 0; count < stalledCount; count++) {
    stack.use(await callers.first.stall(id));
  }
  const times: { readonly count: number; readonly at: number }[] = [];
  const following = callers.first.follow(id, {
    onCount: (count) => times.push({ count, at: performance.now() }),
  });
  await following.first;
  await control.first.send("go");
  const { complete, elapsedMs } = await within(following.ended, limitMs);
  const { rssBytes } = await server.collect();
  return { eventsPerSecond: rateOfSecondHalf(times), complete, elapsedMs, rssBytes };
}

function rateOfSecondHalf(times: readonly { readonly count: number; readonly at: number }[]): number {
  const last = times.at(-1);
  const middle = last && times.find(({ count }) => count >= last.count / 2);
  if (last === undefined || middle === undefined || middle === last) {
    throw new Error("hardly an event has arrived");
  }
  return ((last.count - middle.count) / (last.at - middle.at)) * 1_000;
}

function summarize(rounds: readonly Round[]): Round {
  return {
    eventsPerSecond: median(rounds.map(({ eventsPerSecond }) => eventsPerSecond)),
    complete: rounds.every(({ complete }) => complete),
    elapsedMs: median(rounds.map(({ elapsedMs }) => elapsedMs)),
    rssBytes: median(rounds.map(({ rssBytes }) => rssBytes)),
  };
}

function report(figures: readonly StalledFigures[]): ScenarioResult {
  return {
    table: {
      columns: ["wire", "side", "events/s alone", "events/s beside", "RSS alone", "RSS beside", "RSS added"],
      rows: figures.map(({ wire, side, alone, beside }) => [
        wire,
        side,
        formatRate(alone),
        formatRate(beside),
        formatBytes(alone.rssBytes),
        formatBytes(beside.rssBytes),
        `${beside.complete ? "" : ">= "}${formatBytes(beside.rssBytes - alone.rssBytes)}`,
      ]),
    },
    aims: figures
      .filter(({ side }) => side === "ours")
      .flatMap(({ wire, alone, beside }) => [
        judgeLimit(
          `RSS added by ${stalledReaders} stalled readers over ${wire}`,
          20,
          (beside.rssBytes - alone.rssBytes) / mebibyte,
          " MiB",
        ),
        judgeLimit(
          `another reader over ${wire}: time alone against beside`,
          1.2,
          alone.eventsPerSecond / beside.eventsPerSecond,
          "x",
        ),
      ]),
    measurements: figures,
  };
}

function formatRate({ eventsPerSecond, complete, elapsedMs }: Round): string {
  const rate = formatNumber(eventsPerSecond);
  return complete ? rate : `${rate} (stopped at ${formatNumber(elapsedMs / 1_000)} s)`;
}
