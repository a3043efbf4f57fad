import type { HttpHandler } from "@a2a-connect/bindings";
import { refuseUnknownRpc } from "@a2a-connect/bindings/server";
import { dropUndefined, isReservedTenant, settleAll } from "@a2a-connect/core/internal";
import { ConnectError, type ServiceImplSpec } from "@connectrpc/connect";
import {
  type AgentServer,
  answersOlder,
  createAgentServer,
  guardLog,
  internalError,
} from "../agent-server.ts";
import { guardCallers } from "../caller-guard.ts";
import { catalogPath, createCatalogHandler } from "../card/ai-catalog.ts";
import type { Mounts } from "../card/interfaces.ts";
import { createKeySetHandler } from "../card/key-set.ts";
import type { OperatorLog } from "../console-log.ts";
import { createBudgetsFor } from "../engine/capacity/caller-budgets.ts";
import { systemClock } from "../engine/clock.ts";
import { plainError } from "../plain-routes.ts";
import { createPushPlacesFor } from "../push/push-places.ts";
import { createBaseUrls } from "../reach/base-urls.ts";
import { createRouter, pathOf } from "../router.ts";
import type { AgentHostOptions, HostedAgentOptions } from "./agent-host-options.ts";
import { type DispatchTarget, dispatchService } from "./dispatch-service.ts";
import { hostPages } from "./host-pages.ts";

export type { CatalogHost } from "../card/ai-catalog.ts";
export type { AgentHostOptions, HostedAgentOptions } from "./agent-host-options.ts";

/** Several agents behind all wires, without sockets of their own: a listener calls `handle`. */
export interface AgentHost<Name extends string = string>
  extends Pick<
    AgentServer,
    "handle" | "isGated" | "log" | "stopped" | "start" | "moveTo" | "drain" | "stop" | "close"
  > {
  /** Each agent by its name. Start and stop them together, here. */
  readonly agents: Readonly<Record<Name, AgentServer>>;
  /** All of them as one service: the request's `tenant` names the agent. */
  readonly service: ServiceImplSpec;
}

/** The folder that the agents are in. */
const folder = "/agents/";

const signpost = `the agents are listed at ${catalogPath}`;

/**
 * Puts several agents behind the same wires. Each is a server of its own, with its own card, engine, store and gates,
 * below `/agents/NAME`. A caller cannot reach the tasks of one agent through another (requirements P-4, P-5).
 *
 * gRPC, gRPC-Web and Connect have no path prefix: there, and at the root's `/rpc` and `/rest`, the request's `tenant`
 * is the name.
 *
 * @throws Error when a name is invalid, two agents have the same store, or an agent's options are invalid
 */
export function createAgentHost<const Name extends string>(options: AgentHostOptions<Name>): AgentHost<Name> {
  const { default: defaultName, clock = systemClock, cardMaxAgeSeconds = 300 } = options;
  const mounts: Mounts = { rpc: true, jsonRpc: "/rpc", httpJson: "/rest", ...options.mounts };
  const log = guardLog(options);
  const { servers, targets } = createServers(options, mounts, log);
  const all = [...servers.values()];
  if (all.length === 0) {
    throw new Error("there is no agent to serve");
  }
  if (defaultName !== undefined && !servers.has(defaultName)) {
    throw new Error(`the default agent ${JSON.stringify(defaultName)} is none of the agents`);
  }

  const baseUrls = createBaseUrls({ ...options, log });
  const ready = () => all.every((server) => server.ready);
  const service = dispatchService(targets, defaultName);
  const root = createRouter({
    service,
    mounts,
    wires: {
      ...options.wires,
      // Callers of A2A 0.3 cannot name an agent.
      olderVersions: defaultName !== undefined && answersOlder(options.agents[defaultName]),
      onError: (error, context) => log(internalError(error, context)),
    },
    plain: hostPages({
      folder,
      servers,
      defaultServer: defaultName === undefined ? undefined : servers.get(defaultName),
      catalogHandler: createCatalogHandler({
        agents: Array.from(servers, ([name, { cards }]) => ({ path: folder + name, cards })),
        baseUrls,
        host: options.catalogHost,
        maxAgeSeconds: cardMaxAgeSeconds,
        clock,
      }),
      keySetHandler: createKeySetHandler({
        agents: all.map(({ cards }) => cards),
        clock,
        maxAgeSeconds: cardMaxAgeSeconds,
      }),
      ready,
    }),
    interceptsItself: true, // each agent's are around its own
    serving: ready,
    signpost,
  });
  const route = routeByPath(servers, root);

  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closed ??= settleAll(all.map((server) => server.close()));
    return closed;
  };
  return {
    handle: guardCallers(route, {
      ...options,
      baseUrl: () => baseUrls.own,
      agents: Object.values<HostedAgentOptions>(options.agents),
    }),
    // The names are exactly the keys of the options.
    agents: Object.fromEntries(servers) as Record<Name, AgentServer>,
    service,
    isGated: all.every(({ isGated }) => isGated),
    log,
    stopped: AbortSignal.any(all.map((server) => server.stopped)),
    async start() {
      await forAll(servers, (server) => server.prepare());
      await forAll(servers, (server) => server.start());
    },
    moveTo(url) {
      baseUrls.moveTo(url);
      for (const server of all) {
        server.moveTo(url);
      }
    },
    drain() {
      for (const server of all) {
        server.drain();
      }
    },
    stop: (graceMs) => settleAll(all.map((server) => server.stop(graceMs))),
    close,
  };
}

/**
 * A part of the start of each agent.
 *
 * @throws Error (as a rejection) when all have done it or failed, naming an agent that has failed
 */
function forAll(
  servers: ReadonlyMap<string, AgentServer>,
  begin: (server: AgentServer) => Promise<void>,
): Promise<void> {
  const named = async ([name, server]: [string, AgentServer]): Promise<void> => {
    try {
      await begin(server);
    } catch (error) {
      throw new Error(`the agent ${JSON.stringify(name)} cannot start: ${reasonOf(error)}`, { cause: error });
    }
  };
  return settleAll(Array.from(servers, named));
}

function reasonOf(error: unknown): string {
  if (error instanceof ConnectError) return error.rawMessage;
  return error instanceof Error ? error.message : String(error);
}

interface Servers {
  readonly servers: ReadonlyMap<string, AgentServer>;
  readonly targets: ReadonlyMap<string, DispatchTarget>;
}

function createServers(options: AgentHostOptions, mounts: Mounts, log: OperatorLog): Servers {
  const { agents, default: defaultName, publicUrl, forwardedHosts, clock, cardMaxAgeSeconds } = options;
  const servers = new Map<string, AgentServer>();
  const targets = new Map<string, DispatchTarget>();
  const stores = new Set<unknown>();
  const budgetsFor = createBudgetsFor({ clock: clock ?? systemClock, log });
  const pushPlacesFor = createPushPlacesFor(clock ?? systemClock);
  for (const [name, given] of Object.entries(agents)) {
    const own = dropUndefined(given);
    assertAgentName(name);
    if (own.store !== undefined && stores.has(own.store)) {
      throw new Error(`the agent ${JSON.stringify(name)} has the store of another: each needs its own`);
    }
    stores.add(own.store);
    // The gates for all agents are outside an agent's own options, which would otherwise replace them.
    const interceptors = [...(options.wires?.interceptors ?? []), ...(own.wires?.interceptors ?? [])];
    const wires = { ...options.wires, ...dropUndefined(own.wires ?? {}), interceptors };
    const server = createAgentServer({
      ...(clock === undefined ? {} : { clock }),
      ...(cardMaxAgeSeconds === undefined ? {} : { cardMaxAgeSeconds }),
      log: (record) => log({ ...record, message: `${name}: ${record.message}` }),
      ...own,
      ...(publicUrl === undefined ? {} : { publicUrl }),
      ...(forwardedHosts === undefined ? {} : { forwardedHosts }),
      wires,
      mounts,
      place: {
        budgetsFor,
        pushPlacesFor,
        path: `${folder}${name}`,
        tenant: name,
        isDefault: name === defaultName,
      },
    });
    servers.set(name, server);
    targets.set(name, { service: server.service, interceptors });
  }
  return { servers, targets };
}

/** Sends requests below an agent's path to that agent, and all others to the root. */
function routeByPath(servers: ReadonlyMap<string, AgentServer>, root: HttpHandler): HttpHandler {
  return async (request) => {
    const path = pathOf(request);
    if (!path.startsWith(folder)) {
      return root(request);
    }
    const end = path.indexOf("/", folder.length);
    const name = path.slice(folder.length, end === -1 ? undefined : end);
    const server = servers.get(name);
    if (server === undefined) {
      return refuseUnknownRpc(request) ?? plainError(404, "NOT_FOUND", `there is no such agent; ${signpost}`);
    }
    if (end !== -1) {
      return server.handle(request);
    }
    // The links of an agent's page are relative to its folder; so is this one.
    const [, ...query] = request.url.split("?");
    return { status: 308, header: new Headers({ location: [`${name}/`, ...query].join("?") }) };
  };
}

/** Lower-case words: the same in a URL, as a tenant, and as a file's name on systems that ignore case. */
const form = /^[a-z0-9]+(?:[-_][a-z0-9]+)*$/;

/**
 * Tests the name of one of several agents: lower-case letters and digits, with single hyphens or underscores between
 * them, at most 64 characters, and no name with which a path without a tenant begins (requirement K-11).
 *
 * @throws Error that says what is wrong with the name
 */
export function assertAgentName(name: string): void {
  if (name.length > 64 || !form.test(name)) {
    throw new Error(
      `an agent's name has up to 64 lower-case letters, digits, and single "-" or "_" between them; ${JSON.stringify(name)} does not fit`,
    );
  }
  if (isReservedTenant(name)) {
    throw new Error(
      `an agent cannot be called ${JSON.stringify(name)}: paths without a tenant begin like that`,
    );
  }
}
