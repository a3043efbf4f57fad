import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import { callUnawaited, dropUndefined } from "@a2a-connect/core/internal";
import type { AgentCard } from "@a2a-connect/proto";
import {
  type AgentCards,
  type AgentDefinition,
  type AgentServer,
  type AgentServerOptions,
  createAgentServer,
  type SkillSwitches,
} from "@a2a-connect/server";
import { assertAgentName, createAgentHost, type HostedAgentOptions } from "@a2a-connect/server/host";
import { createConsoleLog, type OperatorLog } from "@a2a-connect/server/internal";
import type { Compression } from "@connectrpc/connect/protocol";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { assertExposure } from "./exposure.ts";
import type { CloseOptions } from "./port/listen-options.ts";
import {
  type AgentToServe,
  assertAgents,
  assertServeOptions,
  isDefinition,
  type ServeAgentsOptions,
  type ServeOptions,
} from "./serve-options.ts";
import { startServing } from "./serving.ts";
import { type ShutdownOptions, shutdownOnSignal } from "./shutdown.ts";

/** An agent that is being served. */
export interface ServedAgent extends AsyncDisposable {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** The public card as it is served, without its signatures. */
  readonly card: AgentCard;
  /** Changes the agent's definition, and how its cards are signed, while it is served. */
  readonly cards: AgentCards;
  /** Switches skills off and on while the agent is served: changes the card, its version and its ETag. */
  readonly skills: SkillSwitches;
  /** Continues a task that waits for credentials with what it was granted (`AgentServer.grant`). */
  readonly grant: AgentServer["grant"];
  /** Stops accepting calls, lets running work finish within `graceMs`, makes it durable, and closes everything. */
  close(options?: CloseOptions): Promise<void>;
}

/** Several agents that are being served on one port. */
export interface ServedAgents<Name extends string = string>
  extends Pick<ServedAgent, "url" | "port" | "close">,
    AsyncDisposable {
  /** Each agent by its name, with its own base URL: `<url>/agents/<name>`. */
  readonly agents: Readonly<Record<Name, AgentBesideOthers>>;
}

/** One of several agents that are being served. */
export type AgentBesideOthers = Omit<ServedAgent, "port" | "close" | typeof Symbol.asyncDispose>;

/**
 * Serves several agents on one port: each by its name below `/agents/<name>`, and by its name as `tenant` over gRPC,
 * gRPC-Web and Connect. Each has a card, tasks and a SQLite file of its own (docs/several-agents.md).
 *
 * @throws Error when the port cannot be bound, a store's file cannot be opened, or a name or an option is invalid
 */
export function serve<const Name extends string>(
  agents: Readonly<Record<Name, AgentDefinition | AgentToServe>>,
  options?: ServeAgentsOptions<Name>,
): Promise<ServedAgents<Name>>;
/**
 * Serves an agent on one port over gRPC, gRPC-Web, Connect, HTTP+JSON and JSON-RPC, with durable tasks.
 *
 * All options have defaults: any free port, and a SQLite file below the working directory. The server takes up the
 * unfinished tasks of an earlier process before it answers the first request.
 *
 * @throws Error when the port cannot be bound, the store's file cannot be opened, a key cannot sign the card, or an
 *   option is invalid
 */
export function serve(agent: AgentDefinition, options?: ServeOptions): Promise<ServedAgent>;
export async function serve(
  agents: AgentDefinition | Readonly<Record<string, AgentDefinition | AgentToServe>>,
  options: ServeOptions & ServeAgentsOptions = {},
): Promise<ServedAgent | ServedAgents> {
  assertAgents(agents);
  assertServeOptions("the options of serve(…)", options);
  return isDefinition(agents) ? serveOne(agents, options) : serveSeveral(agents, options);
}

async function serveOne(agent: AgentDefinition, options: ServeOptions): Promise<ServedAgent> {
  const {
    file = `.a2a/${fileName(agent.card.name)}.sqlite`,
    inspector,
    logLevel,
    log = operatorLog(logLevel),
    push = false,
    shutdown,
    store,
    ...others
  } = options;
  assertExposure({ ...options, auths: [options.auth] });
  const wires = withCompressions(options.wires);
  const { server, listener, close } = await startServing(
    [{ store, file, push }],
    ([opened]) => createAgentServer({ ...others, ...opened, ...inspectorOf(inspector), agent, wires, log }),
    { ...others, log },
  );
  return closeAtSignal(
    Object.assign(present(server, listener.url), { port: listener.port, close }),
    log,
    shutdown,
  );
}

async function serveSeveral(
  agents: Readonly<Record<string, AgentDefinition | AgentToServe>>,
  options: ServeAgentsOptions,
): Promise<ServedAgents> {
  const {
    directory = ".a2a",
    inspector,
    logLevel,
    log = operatorLog(logLevel),
    push: pushForAll = false,
    shutdown,
    ...others
  } = options;
  // The options for the whole port. All other options are defaults for each agent.
  const {
    publicUrl,
    mounts,
    cors,
    allowedHosts,
    catalogHost,
    forwardedHosts,
    wires,
    default: defaultName,
    ...forEach
  } = others;
  const wanted = Object.entries(agents).map(([name, agent]): [string, AgentToServe] => {
    assertAgentName(name); // before it becomes the name of a file
    return [name, isDefinition(agent) ? { agent } : agent];
  });
  assertExposure({ ...options, auths: wanted.map(([, { auth = options.auth }]) => auth) });
  const { server, listener, close } = await startServing(
    wanted.map(([name, { store, file = join(directory, `${name}.sqlite`), push = pushForAll }]) => ({
      store,
      file,
      push,
    })),
    (opened) => {
      const hosted = wanted.map(([name, { push: _, ...own }], index): [string, HostedAgentOptions] => [
        name,
        { ...forEach, ...inspectorOf(inspector), ...dropUndefined(own), ...opened[index] },
      ]);
      const host = { ...others, agents: Object.fromEntries(hosted), wires: withCompressions(wires), log };
      return createAgentHost<string>(host);
    },
    { ...others, log },
  );
  const served = {
    url: listener.url,
    port: listener.port,
    agents: Object.fromEntries(
      Object.entries(server.agents).map(([name, agent]) => [
        name,
        present(agent, `${listener.url}/agents/${name}`),
      ]),
    ),
    close,
  };
  return closeAtSignal(served, log, shutdown);
}

/** The same, which a signal to the process closes, unless that is not wanted or it was closed before. */
function closeAtSignal<Served extends Pick<ServedAgent, "close">>(
  served: Served,
  log: OperatorLog,
  shutdown: ServeOptions["shutdown"] = {},
): Served & AsyncDisposable {
  const { close } = served;
  const hook = shutdown === false ? undefined : shutdownOnSignal(served, withTimes(shutdown));
  hook?.finished.catch((error: unknown) => {
    process.exitCode = 1; // when the rest of the program has ended, too
    callUnawaited(() => log({ level: "error", message: "a server could not be closed in order", error }));
  });
  const closeForGood = (options?: CloseOptions): Promise<void> =>
    close(options).finally(() => hook?.[Symbol.dispose]());
  return Object.assign(served, { close: closeForGood, [Symbol.asyncDispose]: () => closeForGood() });
}

function withTimes({
  graceMs = 30_000,
  timeoutMs = graceMs + 5_000,
  ...others
}: ShutdownOptions): ShutdownOptions {
  return { graceMs, timeoutMs, ...others };
}

/** Loads the inspector when a browser first asks for it: an agent without visitors never does. */
function inspectorOf(wish: boolean | undefined): Pick<AgentServerOptions, "inspectorPage"> {
  if (wish === false) return {};
  const load = async () => (await import("@a2a-connect/inspector")).loadInspector();
  return { inspectorPage: { load, beyondLoopback: wish === true } };
}

function present(server: AgentServer, url: string): AgentBesideOthers {
  return {
    url,
    get card() {
      return server.card;
    },
    cards: server.cards,
    skills: server.skills,
    grant: server.grant,
  };
}

/** A line of text for a person at a terminal, and a line of JSON for a program. */
function operatorLog(level: ServeOptions["logLevel"]): OperatorLog {
  return createConsoleLog({ level, json: !process.stderr.isTTY });
}

function withCompressions(wires: ServeOptions["wires"]): ServeOptions["wires"] & object {
  return { ...wires, compressions: wires?.compressions ?? [compressionGzip, fastBrotli] };
}

const brotli = promisify(brotliCompress);

/** Connect's takes the highest quality: fifty times as long, for a text that is 6 % shorter. */
const fastBrotli: Compression = {
  ...compressionBrotli,
  compress: (bytes) => brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } }),
};

function fileName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-") || "agent";
}
