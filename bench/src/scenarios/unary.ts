import { type LoadResult, runClosedLoop } from "../load/closed-loop.ts";
import { openClients } from "../load/load-client.ts";
import type { LoadWire } from "../load/load-wire.ts";
import { loadWires } from "../load/wires/index.ts";
import { type AimVerdict, judgeLimit, judgeRatio } from "../report/aim.ts";
import { median, quantile, sum } from "../report/statistics.ts";
import { formatNumber, formatRatio, type Table } from "../report/table.ts";
import type { BenchContext, Scenario, ScenarioResult } from "../scenario.ts";
import type { BenchServer, Side } from "../servers/start-server.ts";

const text = "The quick brown fox jumps over";
const commands = { echo: `echo ${text}`, task: `task ${text}` } as const;
const concurrencies = [1, 16, 64] as const;
const rounds = 3;

/** What the just-in-time compilers need until figures stand still. */
const warmUpMs = 2_500;

interface UnaryFigures {
  readonly command: keyof typeof commands;
  readonly wire: string;
  readonly concurrency: (typeof concurrencies)[number];
  readonly side: Side;
  readonly operationsPerSecond: number;
  /** CPU of the server's process per operation, microseconds. */
  readonly cpuUs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

interface Pair {
  readonly ours: UnaryFigures;
  readonly peer: UnaryFigures | undefined;
  /** What the call costs at least; only for echoes over JSON-RPC. */
  readonly bare: UnaryFigures | undefined;
}

/** Echo (a direct Message) and task (WORKING, artifact, COMPLETED), as blocking sends over every wire. */
export const unary: Scenario = {
  name: "unary",
  summary:
    "Blocking sends: `echo` is a direct Message, `task` a task with WORKING, one artifact and COMPLETED.",
  async run(context) {
    const pairs: Pair[] = [];
    for (const command of ["echo", "task"] as const) {
      for (const wire of loadWires) {
        for (const concurrency of concurrencies) {
          context.progress(`${command} over ${wire.name}, ${concurrency} at a time`);
          pairs.push(await comparePair(context, command, wire, concurrency));
        }
      }
    }
    return report(pairs);
  },
};

/** Fresh servers for each pair, so that none carries the tasks of another; then turn by turn. */
async function comparePair(
  context: BenchContext,
  command: keyof typeof commands,
  wire: LoadWire,
  concurrency: (typeof concurrencies)[number],
): Promise<Pair> {
  await using ours = await context.start("ours");
  await using peer = wire.shared ? await context.start("peer") : undefined;
  await using bare = command === "echo" && wire.name === "JSON-RPC" ? await context.start("bare") : undefined;
  const servers = [ours, peer, bare].filter((server) => server !== undefined);
  const results = new Map<BenchServer, LoadResult[]>(servers.map((server) => [server, []]));
  const durationMs = context.quick ? 300 : 1_500;
  for (const server of servers) {
    await load(server, command, wire, 16, context.quick ? 300 : warmUpMs);
  }
  for (let round = 0; round < (context.quick ? 1 : rounds); round++) {
    for (const server of servers) {
      results.get(server)?.push(await load(server, command, wire, concurrency, durationMs));
    }
  }
  const figures = (server: BenchServer): UnaryFigures => ({
    command,
    wire: wire.name,
    concurrency,
    side: server.side,
    ...summarize(results.get(server) ?? []),
  });
  return { ours: figures(ours), peer: peer && figures(peer), bare: bare && figures(bare) };
}

async function load(
  server: BenchServer,
  command: keyof typeof commands,
  wire: LoadWire,
  concurrency: number,
  durationMs: number,
): Promise<LoadResult> {
  using clients = await openClients(wire, server.target, concurrency);
  return await runClosedLoop(server, clients.all, (client) => client.send(commands[command]), { durationMs });
}

function summarize(
  results: readonly LoadResult[],
): Omit<UnaryFigures, "command" | "wire" | "concurrency" | "side"> {
  const operations = sum(results.map((result) => result.operations));
  const elapsedMs = sum(results.map((result) => result.elapsedMs));
  return {
    operationsPerSecond: (operations / elapsedMs) * 1_000,
    cpuUs: sum(results.map((result) => result.cpuUs)) / operations,
    p50Ms: median(results.map(({ latenciesMs }) => quantile(latenciesMs, 0.5))),
    p99Ms: median(results.map(({ latenciesMs }) => quantile(latenciesMs, 0.99))),
  };
}

function report(pairs: readonly Pair[]): ScenarioResult {
  const table: Table = {
    columns: [
      "call",
      "wire",
      "at a time",
      "ours op/s",
      "peer op/s",
      "ratio",
      "ours CPU µs",
      "peer CPU µs",
      "ratio",
      "ours p50 / p99 ms",
      "peer p50 / p99 ms",
    ],
    rows: pairs.map(({ ours, peer }) => {
      const ratio = peer && ratioOf(ours, peer);
      return [
        ours.command,
        ours.wire,
        String(ours.concurrency),
        formatNumber(ours.operationsPerSecond),
        peer ? formatNumber(peer.operationsPerSecond) : "–",
        ratio ? formatRatio(ratio.time) : "–",
        formatNumber(ours.cpuUs),
        peer ? formatNumber(peer.cpuUs) : "–",
        ratio ? formatRatio(ratio.cpu) : "–",
        formatLatencies(ours),
        peer ? formatLatencies(peer) : "–",
      ];
    }),
  };
  return {
    table,
    aims: [
      ...pairs.flatMap(({ ours, peer }) => (peer === undefined ? [] : [judge(ours, peer)])),
      ...pairs.flatMap(({ ours, bare }) => (bare === undefined ? [] : [judgeFloor(ours, bare)])),
    ],
    measurements: pairs.flatMap(({ ours, peer, bare }) =>
      [ours, peer, bare].filter((each) => each !== undefined),
    ),
  };
}

/** The least ratio of each call, at 1, 16 and 64 at a time. */
const aims = {
  "echo JSON-RPC": [1.4, 2, 2],
  "echo HTTP+JSON": [1.4, 2, 2],
  "echo gRPC": [1.8, 1.8, 1.8],
  "task JSON-RPC": [1.3, 2, 2],
  "task HTTP+JSON": [1.3, 2, 2],
  "task gRPC": [1.6, 1.6, 1.6],
} as const;

function judge(ours: UnaryFigures, peer: UnaryFigures): AimVerdict {
  const { command, wire, concurrency } = ours;
  const least = aims[`${command} ${wire}` as keyof typeof aims][concurrencies.indexOf(concurrency)] ?? 2;
  return judgeRatio(`${command}, ${wire}, ${concurrency} at a time`, least, ratioOf(ours, peer));
}

function judgeFloor({ concurrency, cpuUs }: UnaryFigures, bare: UnaryFigures): AimVerdict {
  const what = `echo, JSON-RPC, ${concurrency} at a time: CPU against bare node:http`;
  return judgeLimit(what, 1.8, cpuUs / bare.cpuUs, "x");
}

function ratioOf(ours: UnaryFigures, peer: UnaryFigures): { readonly time: number; readonly cpu: number } {
  return { time: ours.operationsPerSecond / peer.operationsPerSecond, cpu: peer.cpuUs / ours.cpuUs };
}

function formatLatencies({ p50Ms, p99Ms }: UnaryFigures): string {
  return `${formatNumber(p50Ms)} / ${formatNumber(p99Ms)}`;
}
