import { type ClientKind, type ClientWire, clientKinds, clientWires } from "../clients/bench-client.ts";
import type { Spent, Work } from "../clients/client-control.ts";
import { type ClientProcess, startClient } from "../clients/start-client.ts";
import { median } from "../report/statistics.ts";
import { formatNumber, formatRatio } from "../report/table.ts";
import type { BenchContext, Scenario, ScenarioResult } from "../scenario.ts";

const wireNames: Readonly<Record<ClientWire, string>> = {
  JSONRPC: "JSON-RPC",
  "HTTP+JSON": "HTTP+JSON",
  GRPC: "gRPC",
};

const workNames: Readonly<Record<Work["kind"], string>> = {
  tasks: "`run`, a task",
  stream: "`stream`, an event",
};

/** A stretch of work, and how many of them the just-in-time compilers need until figures stand still. */
interface Stretch extends Work {
  readonly warmUps: number;
}

const stretches: readonly Stretch[] = [
  { kind: "tasks", count: 120, warmUps: 5 },
  { kind: "stream", count: 20_000, warmUps: 1 },
];
const quickStretches: readonly Stretch[] = [
  { kind: "tasks", count: 20, warmUps: 1 },
  { kind: "stream", count: 500, warmUps: 1 },
];
const rounds = 5;

interface ClientFigures {
  readonly work: Work["kind"];
  readonly wire: ClientWire;
  readonly client: ClientKind;
  /** CPU of the client's process per task or event, microseconds: the median of the stretches. */
  readonly cpuUs: number;
  readonly spent: readonly Spent[];
}

/** What clients cost: ours beside that of the peer and a bare one of Connect. */
export const client: Scenario = {
  name: "client",
  summary:
    "CPU of the client's process, one call at a time, against our server with its store in memory: `run` of tasks with WORKING, one artifact and COMPLETED, and `stream` of 20,000 chunks of 100 bytes (quick: 500). Beside ours `sendMessageStream` of @a2a-js/sdk and `sendStreamingMessage` of a bare Connect client on our transports, both read to the end; ratios are theirs / ours.",
  async run(context) {
    const figures: ClientFigures[] = [];
    for (const wire of clientWires) {
      figures.push(...(await compareWire(context, wire)));
    }
    return report(figures);
  },
};

/** All clients call one fresh server, stretch by stretch in turns. */
async function compareWire(context: BenchContext, wire: ClientWire): Promise<ClientFigures[]> {
  await using server = await context.start("ours", { settings: { store: "memory" } });
  await using open = new AsyncDisposableStack();
  const clients: ClientProcess[] = [];
  for (const kind of clientKinds) {
    clients.push(open.use(await startClient(kind, wire, `http://127.0.0.1:${server.target.httpPort}`)));
  }
  const figures: ClientFigures[] = [];
  for (const stretch of context.quick ? quickStretches : stretches) {
    context.progress(`${stretch.kind} of clients over ${wireNames[wire]}`);
    figures.push(...(await compareClients(clients, wire, stretch, context.quick ? 1 : rounds)));
  }
  return figures;
}

async function compareClients(
  clients: readonly ClientProcess[],
  wire: ClientWire,
  { kind: work, count, warmUps }: Stretch,
  times: number,
): Promise<ClientFigures[]> {
  const spent = new Map<ClientProcess, Spent[]>(clients.map((each) => [each, []]));
  for (let round = -warmUps; round < times; round++) {
    for (const each of clients) {
      const taken = await each.perform({ kind: work, count });
      if (round >= 0) {
        spent.get(each)?.push(taken);
      }
    }
  }
  return [...spent].map(([{ kind: client }, taken]) => ({
    work,
    wire,
    client,
    cpuUs: median(taken.map(({ cpuUs, units }) => cpuUs / units)),
    spent: taken,
  }));
}

function report(figures: readonly ClientFigures[]): ScenarioResult {
  const rows = stretches.flatMap(({ kind }) =>
    clientWires.map((wire) => {
      const cpuUs = (client: ClientKind) => find(figures, kind, wire, client).cpuUs;
      const ours = cpuUs("agent");
      return [
        workNames[kind],
        wireNames[wire],
        formatNumber(ours),
        formatNumber(cpuUs("sdk")),
        formatRatio(cpuUs("sdk") / ours),
        formatNumber(cpuUs("connect")),
        formatRatio(cpuUs("connect") / ours),
      ];
    }),
  );
  return {
    table: {
      columns: ["what", "wire", "ours CPU µs", "peer CPU µs", "ratio", "bare Connect CPU µs", "ratio"],
      rows,
    },
    aims: [],
    measurements: figures,
  };
}

/** @throws Error when it was not measured */
function find(
  figures: readonly ClientFigures[],
  work: Work["kind"],
  wire: ClientWire,
  client: ClientKind,
): ClientFigures {
  const found = figures.find(
    (figure) => figure.work === work && figure.wire === wire && figure.client === client,
  );
  if (found === undefined) {
    throw new Error(`${client} over ${wire} was not measured`);
  }
  return found;
}
