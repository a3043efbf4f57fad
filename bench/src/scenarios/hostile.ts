import type { Attack, AttackGroup } from "../hostile/attack.ts";
import { largeAnswers, unfinishedBodies } from "../hostile/connections.ts";
import { largeRequests } from "../hostile/requests.ts";
import { probeDuring } from "../load/echo-probe.ts";
import { openClients } from "../load/load-client.ts";
import { jsonRpcWire } from "../load/wires/index.ts";
import { judgeLimit } from "../report/aim.ts";
import { formatBytes, formatNumber } from "../report/table.ts";
import type { BenchContext, Scenario, ScenarioResult } from "../scenario.ts";
import type { BenchServer, Side } from "../servers/start-server.ts";

const rounds = 3;
const limitMs = 15_000;
const groups: readonly AttackGroup[] = [...largeRequests, largeAnswers, unfinishedBodies];

interface HostileFigures {
  readonly attack: string;
  readonly wire: string;
  readonly side: Side;
  /** `gone`: the server ended, or did not answer in time. */
  readonly outcome: Attack["expected"] | "gone";
  readonly cpuMs: number;
  readonly peakBytes: number;
  readonly worstMs: number;
}

/** What the largest requests that the limits allow, and some beyond them, cost the server and its other callers. */
export const hostile: Scenario = {
  name: "hostile",
  summary:
    "Requests as large as the limits allow, larger ones, large answers, and bodies that do not end: CPU of the server, its resident memory at the peak above what it was before, and the slowest of unrelated echoes meanwhile (JSON-RPC, one after the other). The worst of three (quick, and of the peer: of one), after two that do not count, because code that has not run before is several times slower. Unlike in the other tables, the server may use the load's core, too: V8 collects garbage in threads of its own, which would take the server's only core from its callers.",
  async run(context) {
    const figures: HostileFigures[] = [];
    for (const group of groups) {
      figures.push(...(await measureGroup(context, "ours", group)));
      if (group.shared) {
        figures.push(...(await measureGroup(context, "peer", group)));
      }
    }
    return report(figures);
  },
};

async function measureGroup(
  context: BenchContext,
  side: Side,
  group: AttackGroup,
): Promise<readonly HostileFigures[]> {
  const figures: HostileFigures[] = [];
  let server = await start(context, side, group);
  try {
    for (const attack of group.attacks) {
      context.progress(`${attack.name} over ${group.wire}, ${side}`);
      const figure = await measure(context, server, group.wire, attack);
      figures.push(figure);
      if (figure.outcome === "gone") {
        await server.kill().catch(() => {}); // it may have ended already
        await server[Symbol.asyncDispose]();
        server = await start(context, side, group);
      }
    }
  } finally {
    await server[Symbol.asyncDispose]();
  }
  return figures;
}

async function start(context: BenchContext, side: Side, group: AttackGroup): Promise<BenchServer> {
  const server = await context.start(side, { onAllCores: true });
  using clients = await openClients(jsonRpcWire, server.target);
  for (let warm = 0; warm < 500; warm++) {
    await clients.first.send("echo warm");
  }
  await group.fill?.(server.target);
  return server;
}

async function measure(
  context: BenchContext,
  server: BenchServer,
  wire: string,
  attack: Attack,
): Promise<HostileFigures> {
  const send = attack.prepare();
  for (let warm = 0; warm < 2; warm++) {
    await inTime(send(server.target)).catch(() => {});
  }
  const worst = { cpuMs: 0, peakBytes: 0, worstMs: 0 };
  let outcome: HostileFigures["outcome"];
  for (
    let round = 0;
    round < (context.quick || server.side === "peer" ? 1 : rounds) && outcome !== "gone";
    round++
  ) {
    try {
      const before = await server.collect();
      const { result, echoes } = await probeDuring(server.target, () => inTime(send(server.target)), 1);
      outcome = result;
      const { cpuUs, peakRssBytes } = await server.usage();
      worst.cpuMs = Math.max(worst.cpuMs, (cpuUs - before.cpuUs) / 1_000);
      worst.peakBytes = Math.max(worst.peakBytes, peakRssBytes - before.rssBytes);
      worst.worstMs = Math.max(worst.worstMs, echoes.worstMs);
    } catch {
      outcome = "gone";
    }
  }
  if (server.side === "ours" && outcome !== attack.expected) {
    context.progress(`${attack.name} over ${wire} was ${outcome}, not ${attack.expected}`);
    process.exitCode = 1;
  }
  return { attack: attack.name, wire, side: server.side, outcome, ...worst };
}

function inTime<Result>(work: Promise<Result>): Promise<Result> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("not answered in time")), limitMs);
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer));
}

function report(figures: readonly HostileFigures[]): ScenarioResult {
  const ours = figures.filter(({ side }) => side === "ours");
  const worst = (of: (figure: HostileFigures) => number) => Math.max(...ours.map(of));
  const requests = ours.filter(
    ({ attack }) =>
      ![...largeAnswers.attacks, ...unfinishedBodies.attacks].some(({ name }) => name === attack),
  );
  return {
    table: {
      columns: ["attack", "wire", "side", "outcome", "CPU ms", "RSS added", "slowest echo ms"],
      rows: figures.map(({ attack, wire, side, outcome, cpuMs, peakBytes, worstMs }) => [
        attack,
        wire,
        side,
        outcome ?? "–",
        formatNumber(cpuMs),
        formatBytes(peakBytes),
        formatNumber(worstMs),
      ]),
    },
    aims: [
      judgeLimit(
        "slowest echo of all",
        50,
        worst(({ worstMs }) => worstMs),
        " ms",
      ),
      judgeLimit("CPU of one request", 250, Math.max(...requests.map(({ cpuMs }) => cpuMs)), " ms"),
    ],
    measurements: figures,
  };
}
