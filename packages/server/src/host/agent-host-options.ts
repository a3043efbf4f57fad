import type { BindingOptions, CorsOptions } from "@a2a-connect/bindings/server";
import type { AgentServerOptions } from "../agent-server-options.ts";
import type { CatalogHost } from "../card/ai-catalog.ts";
import type { Mounts } from "../card/interfaces.ts";
import type { Clock } from "../engine/clock.ts";
import type { LogRecord } from "../engine/engine-context.ts";

/** What one of several agents may be told: everything that a server alone may be, but what is one for all. */
export type HostedAgentOptions = Omit<
  AgentServerOptions,
  "allowedHosts" | "catalogHost" | "cors" | "forwardedHosts" | "mounts" | "place" | "publicUrl"
>;

/** Several agents behind the same wires. */
export interface AgentHostOptions<Name extends string = string> {
  /**
   * The agents by name: what a URL and a tenant call them. Lower-case letters and digits with single hyphens or underscores
   * between them, at most 64 characters; not `tasks`, which paths without a tenant begin with (requirement K-11).
   */
  readonly agents: Readonly<Record<Name, HostedAgentOptions>>;
  /** The one that also answers at the root and to calls without a tenant. Default: none does. */
  readonly default?: NoInfer<Name>;
  /** Public URL of the root, such as `https://agents.example.org`. Default: what `moveTo` says. */
  readonly publicUrl?: string;
  /** Hosts and their URLs that cards and the catalog may name when a trusted proxy says so, as `AgentServerOptions` has it. */
  readonly forwardedHosts?: readonly string[];
  /** Which wires there are, and where below the root and below each agent's path. Default: all, `/rpc` and `/rest`. */
  readonly mounts?: Partial<Mounts>;
  /**
   * Limits and options of the wires. The interceptors are around every call of every agent, outermost; those that an agent has
   * of its own are within them. Of all else an agent's own comes before this, below its path; at the root, where only the
   * request says whom it is for, this holds.
   */
  readonly wires?: Omit<BindingOptions, "onError">;
  /**
   * Hosts that callers reach the server by, without a port: `agents.example.org`, `*.example.org` for every name below, `*` for
   * all. A request for any other is refused with 421. Names of this machine (`localhost`, `*.localhost`, `127.0.0.0/8`, `[::1]`),
   * the host of `publicUrl`, and what a trusted proxy forwards, within `forwardedHosts`, need not be listed. Default: none more
   * where the server is bound to loopback; everywhere else the host is not looked at.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Which browser pages may call; `false`: only those of this server. Default: all, without credentials; where the server is
   * bound to loopback, those of this machine, of the public URL and of `allowedHosts`, and a page of another origin is refused
   * with 403, `{ origins: ["*"] }` excepted.
   */
  readonly cors?: false | CorsOptions;
  /** How long clients may keep the catalog, and the cards of agents that do not say it themselves, in seconds. Default 300. */
  readonly cardMaxAgeSeconds?: number;
  /** Who operates the server, in `/.well-known/ai-catalog.json`. Default: the agents' provider, else the host's name. */
  readonly catalogHost?: CatalogHost;
  /** Takes lines for the operator's log, of agents without a log of their own with their name before it. Default: nobody. */
  readonly log?: (record: LogRecord) => void;
  /** Default: the machine's. */
  readonly clock?: Clock;
}
