import type { BindingOptions, CorsOptions } from "@a2a-connect/bindings/server";
import type { AgentServerOptions } from "../agent-server-options.ts";
import type { CatalogHost } from "../card/ai-catalog.ts";
import type { Mounts } from "../card/interfaces.ts";
import type { LogLevel } from "../console-log.ts";
import type { Clock } from "../engine/clock.ts";
import type { LogRecord } from "../engine/engine-context.ts";

/** Options of one of several agents: all options of a single server, except those for the whole port. */
export type HostedAgentOptions = Omit<
  AgentServerOptions,
  "allowedHosts" | "catalogHost" | "cors" | "forwardedHosts" | "mounts" | "place" | "publicUrl"
>;

/** Several agents behind the same wires. */
export interface AgentHostOptions<Name extends string = string> {
  /**
   * The agents by name, which is part of their URLs and their tenant. Lower-case letters and digits with single hyphens
   * or underscores between them, at most 64 characters; not `tasks`, with which paths without a tenant begin
   * (requirement K-11).
   */
  readonly agents: Readonly<Record<Name, HostedAgentOptions>>;
  /** The agent that also answers at the root and to calls without a tenant. Default: none. */
  readonly default?: NoInfer<Name>;
  /** Public URL of the root, such as `https://agents.example.org`. Default: the URL passed to `moveTo`. */
  readonly publicUrl?: string;
  /** Hosts and their URLs that cards and the catalog may name when a trusted proxy says so, as `AgentServerOptions` has it. */
  readonly forwardedHosts?: readonly string[];
  /**
   * Which wires exist, and their paths below the root and below each agent's path. Default: all, `/rpc` and `/rest`.
   */
  readonly mounts?: Partial<Mounts>;
  /**
   * Limits and options of the wires. Their interceptors run around every call of every agent, outside the agent's own.
   * For all other options the agent's own value takes precedence below its path. At the root, where only the request
   * says which agent it is for, these apply.
   */
  readonly wires?: Omit<BindingOptions, "onError" | "olderVersions">;
  /**
   * Hosts by which callers may reach the server, without a port: `agents.example.org`, `*.example.org` for every name
   * below, `*` for all. A request for another host is refused with 421. You need not list names of this machine
   * (`localhost`, `*.localhost`, `127.0.0.0/8`, `[::1]`), the host of `publicUrl`, or hosts that a trusted proxy
   * forwards, within `forwardedHosts`. Default: no further hosts when the server listens on loopback; otherwise the
   * host is not tested.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Which browser pages may call; `false`: only those of this server. Default: all, without credentials. When the
   * server listens on loopback, the default is the pages of this machine, of the public URL and of `allowedHosts`; a
   * page of another origin is refused with 403, unless `{ origins: ["*"] }` is set.
   */
  readonly cors?: false | CorsOptions;
  /**
   * How long clients may cache the catalog, and the cards of agents without a value of their own, in seconds. Default
   * 300.
   */
  readonly cardMaxAgeSeconds?: number;
  /** The operator's name in `/.well-known/ai-catalog.json`. Default: the agents' provider, else the host's name. */
  readonly catalogHost?: CatalogHost;
  /**
   * Takes records for the operator's log; those of agents without a log of their own begin with the agent's name.
   * Default: the console's, as for a single server.
   */
  readonly log?: (record: LogRecord) => void;
  /** The least important records of the default log: `info` (default), `warn`, `error`, or `off` for none. */
  readonly logLevel?: LogLevel;
  /** Default: the machine's. */
  readonly clock?: Clock;
}
