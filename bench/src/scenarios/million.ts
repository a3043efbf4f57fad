import { setTimeout as pause } from "node:timers/promises";
import type { Task } from "@a2a-connect/proto";
import { updateOrdinal } from "../agents/command.ts";
import { type EchoFigures, probeDuring } from "../load/echo-probe.ts";
import { type LoadClient, openClients } from "../load/load-client.ts";
import { jsonRpcWire } from "../load/wires/index.ts";
import { judgeLimit } from "../report/aim.ts";
import { median } from "../report/statistics.ts";
import { formatBytes, formatNumber } from "../report/table.ts";
import type { BenchContext, Scenario, ScenarioResult } from "../scenario.ts";
import { createServerDirectory } from "../servers/server-directory.ts";
import type { BenchServer } from "../servers/start-server.ts";

const updateBytes = 16;
const pageEvents = 10_000;
const mebibyte = 2 ** 20;

/** A task that grows. */
interface Growth {
  readonly events: number;
  readonly complete: boolean;
  readonly elapsedMs: number;
  readonly cpuUs: number;
  /** Resident memory when a tenth of the events is there, at the end after a garbage collection, and the most meanwhile. */
  readonly earlyRssBytes: number;
  readonly rssBytes: number;
  readonly peakRssBytes: number;
  readonly echoes: EchoFigures;
}

/** What can be asked about it, in milliseconds. */
interface Reads {
  readonly subscribeMs: number;
  readonly listMs: number;
  readonly getMs: number;
  readonly resumeMs: number;
  readonly pageMs: number;
  readonly restartMs: number;
  readonly getAfterRestartMs: number;
  readonly databaseBytes: number;
}

/** A task of a million events. */
export const million: Scenario = {
  name: "million",
  summary:
    "One task of 1,000,000 events (quick: 100,000), each a 16-byte artifact that replaces the one before, made on a turn of the event loop of its own; unrelated echoes meanwhile. Then what can be asked about it (JSON-RPC, the median of five).",
  async run(context) {
    const events = context.quick ? 100_000 : 1_000_000;
    const { growth, reads } = await measureOurs(context, events);
    const peer = await measurePeer(context, events);
    return report(growth, reads, peer);
  },
};

async function measureOurs(
  context: BenchContext,
  events: number,
): Promise<{ readonly growth: Growth; readonly reads: Reads }> {
  using directory = createServerDirectory();
  let id: string;
  let growth: Growth;
  let reads: Omit<Reads, "restartMs" | "getAfterRestartMs" | "databaseBytes">;
  {
    await using server = await context.start("ours", { directory });
    using clients = await openClients(jsonRpcWire, server.target, 2);
    await warmUp(clients.first);
    const subscribed = Promise.withResolvers<number>();
    ({ id, growth } = await grow(context, server, events, 300_000, async (task) => {
      subscribed.resolve(await timeFirstEvent(server, task));
    }));
    context.progress("what can be asked about it");
    reads = {
      subscribeMs: await subscribed.promise,
      ...(await measureReads(server, clients.first, id, events)),
    };
  }
  const databaseBytes = directory.databaseBytes();
  const started = performance.now();
  await using server = await context.start("ours", { directory });
  const restartMs = performance.now() - started;
  using clients = await openClients(jsonRpcWire, server.target);
  await clients.first.send("echo warm");
  const getAfterRestartMs = await time(() => clients.first.getTask(id));
  return { growth, reads: { ...reads, restartMs, getAfterRestartMs, databaseBytes } };
}

async function measurePeer(context: BenchContext, events: number): Promise<Growth> {
  await using server = await context.start("peer");
  using clients = await openClients(jsonRpcWire, server.target);
  await warmUp(clients.first);
  return (await grow(context, server, events, context.quick ? 5_000 : 20_000, async () => {})).growth;
}

async function warmUp(client: LoadClient): Promise<void> {
  for (let count = 0; count < 300; count++) {
    await client.send("echo warm");
  }
  await client.send(`replace 20000 ${updateBytes}`);
}

/** Has a task made and looks at it twice a second; `midway` is called when half of it is there. */
async function grow(
  context: BenchContext,
  server: BenchServer,
  events: number,
  limitMs: number,
  midway: (id: string) => Promise<void>,
): Promise<{ readonly id: string; readonly growth: Growth }> {
  context.progress(`${events} events, ${server.side}`);
  using clients = await openClients(jsonRpcWire, server.target);
  const before = await server.collect();
  const started = performance.now();
  const { id } = await clients.first.sendForTask(`replace ${events} ${updateBytes}`, true);
  let early: number | undefined;
  let middle: Promise<void> | undefined;
  const growing = async () => {
    for (;;) {
      const reached = ordinalOf(await clients.first.getTask(id));
      const elapsedMs = performance.now() - started;
      if (reached >= events || elapsedMs > limitMs) {
        return { reached, elapsedMs };
      }
      if (early === undefined && reached > events / 10) {
        early = (await server.usage()).rssBytes;
      }
      if (reached > events / 2) {
        middle ??= midway(id);
      }
      await pause(events - reached < events / 50 ? 20 : 500);
    }
  };
  const { result, echoes } = await probeDuring(server.target, growing, 20);
  const { reached, elapsedMs } = result;
  await middle;
  const { cpuUs, peakRssBytes } = await server.usage();
  const { rssBytes } = await server.collect();
  const growth = {
    events: reached,
    complete: reached >= events,
    elapsedMs,
    cpuUs: cpuUs - before.cpuUs,
    earlyRssBytes: early ?? before.rssBytes,
    rssBytes,
    peakRssBytes,
    echoes,
  };
  return { id, growth };
}

/** How far a task has come: the text of its artifact says it. */
function ordinalOf({ artifacts }: Task): number {
  const content = artifacts[0]?.parts[0]?.content;
  return content?.case === "text" ? updateOrdinal(content.value) : 0;
}

async function measureReads(
  server: BenchServer,
  client: LoadClient,
  id: string,
  events: number,
): Promise<Pick<Reads, "listMs" | "getMs" | "resumeMs" | "pageMs">> {
  const pages: { readonly firstMs: number; readonly allMs: number }[] = [];
  for (let round = 0; round < 5; round++) {
    pages.push(await timePage(server, id, events / 2));
  }
  return {
    listMs: await medianTime(() => client.listTasks(50)),
    getMs: await medianTime(() => client.getTask(id)),
    resumeMs: median(pages.map(({ firstMs }) => firstMs)),
    pageMs: median(pages.map(({ allMs }) => allMs)),
  };
}

/** A subscription to the task as it is now. */
async function timeFirstEvent(server: BenchServer, id: string): Promise<number> {
  using clients = await openClients(jsonRpcWire, server.target);
  return await time(() => clients.first.follow(id).first);
}

/** A subscription that goes on after an event, until it has read `pageEvents`. */
async function timePage(
  server: BenchServer,
  id: string,
  lastEventId: number,
): Promise<{ readonly firstMs: number; readonly allMs: number }> {
  using clients = await openClients(jsonRpcWire, server.target);
  const all = Promise.withResolvers<void>();
  const started = performance.now();
  const { first, ended } = clients.first.follow(id, {
    lastEventId,
    onCount: (count) => count >= pageEvents && all.resolve(),
  });
  ended.catch(all.reject);
  await first;
  const firstMs = performance.now() - started;
  await all.promise;
  return { firstMs, allMs: performance.now() - started };
}

async function medianTime(call: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    times.push(await time(call));
  }
  return median(times);
}

async function time(call: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await call();
  return performance.now() - started;
}

function report(growth: Growth, reads: Reads, peer: Growth): ScenarioResult {
  const rate = ({ events, elapsedMs }: Growth) => formatNumber((events / elapsedMs) * 1_000);
  const row = (what: string, ours: string, theirs = "–") => [what, ours, theirs];
  const both = (what: string, of: (side: Growth) => string) => row(what, of(growth), of(peer));
  const ms = (value: number) => `${formatNumber(value)} ms`;
  return {
    table: {
      columns: ["", "ours", "peer"],
      rows: [
        row("events", growth.events.toLocaleString("en"), formatEvents(peer)),
        both("events/s", rate),
        both("CPU per event", ({ cpuUs, events }) => `${formatNumber(cpuUs / events)} µs`),
        both("RSS at a tenth", ({ earlyRssBytes }) => formatBytes(earlyRssBytes)),
        both("RSS at the end", ({ rssBytes }) => formatBytes(rssBytes)),
        both("RSS at most", ({ peakRssBytes }) => formatBytes(peakRssBytes)),
        both("slowest echo meanwhile", ({ echoes }) => ms(echoes.worstMs)),
        row("SubscribeToTask midway, to the first event", ms(reads.subscribeMs)),
        row("ListTasks (page of 50)", ms(reads.listMs)),
        row("GetTask, historyLength 0", ms(reads.getMs)),
        row("Last-Event-ID in the middle, to the first event", ms(reads.resumeMs)),
        row(`the same, to ${pageEvents.toLocaleString("en")} events`, ms(reads.pageMs)),
        row("restart, until ready", ms(reads.restartMs)),
        row("GetTask after the restart", ms(reads.getAfterRestartMs)),
        row("database", formatBytes(reads.databaseBytes)),
      ],
    },
    aims: [
      judgeLimit("slowest echo while the task grows", 50, growth.echoes.worstMs, " ms"),
      judgeLimit(
        "RSS at the end beyond that at a tenth",
        32,
        (growth.rssBytes - growth.earlyRssBytes) / mebibyte,
        " MiB",
      ),
      judgeLimit("GetTask", 50, reads.getMs, " ms"),
      judgeLimit("SubscribeToTask midway, to the first event", 50, reads.subscribeMs, " ms"),
      judgeLimit("Last-Event-ID in the middle, to the first event", 50, reads.resumeMs, " ms"),
    ],
    measurements: [{ growth, reads, peer }],
  };
}

function formatEvents({ events, complete, elapsedMs }: Growth): string {
  const count = events.toLocaleString("en");
  return complete ? count : `${count} (stopped at ${formatNumber(elapsedMs / 1_000)} s)`;
}
