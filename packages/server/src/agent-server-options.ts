import type { BindingOptions, CorsOptions } from "@a2a-connect/bindings/server";
import type { AgentDefinition } from "./agent/agent-definition.ts";
import type { CatalogHost } from "./card/ai-catalog.ts";
import type { ExtendedCardOptions } from "./card/cards.ts";
import type { AgentPlace, Mounts } from "./card/interfaces.ts";
import type { CardSigning } from "./card/signing-keys.ts";
import type { Clock } from "./engine/clock.ts";
import type { EngineLimits, LogRecord } from "./engine/engine-context.ts";
import type { TenantPredicate } from "./gates/tenant-gate.ts";
import type { PushOptions } from "./push/push-options.ts";
import type { TaskStore } from "./store/task-store.ts";

/** Everything a server may be told. Only the agent is required. */
export interface AgentServerOptions {
  readonly agent: AgentDefinition;
  /** Where tasks live. Default: memory, for tests; they are gone with the process. */
  readonly store?: TaskStore;
  /** Public URL in the card, such as `https://agents.example.org`. Default: what `moveTo` says, which `serve` calls. */
  readonly publicUrl?: string;
  /** Where each wire is mounted; `rpc: false`, or undefined for the others, leaves it out. Default: all, at `/`, `/rpc` and `/rest`. */
  readonly mounts?: Partial<Mounts>;
  /**
   * Where the agent is beside others: its card says so, `handle` answers below its path only, and leaves gRPC, gRPC-Web
   * and Connect, and which hosts and pages are refused, to what tells the agents apart. `createAgentHost` sets it. Default: the agent is alone.
   */
  readonly place?: AgentPlace;
  /**
   * Protocol versions offered, best first: `1.0` and `1.1`, whose fields are a draft and shown only to callers that ask
   * for it. Default `["1.0"]`.
   */
  readonly protocolVersions?: readonly string[];
  /** How long GetTask of A2A 1.1 waits for a newer generation, in milliseconds. Default 30,000. */
  readonly longPollMs?: number;
  /**
   * Bytes of a page of ListTasks, as they are stored: the page ends with the task that brings it over this, and says where the
   * list goes on. Default 4 MiB.
   */
  readonly maxPageBytes?: number;
  /** What a request without a version is taken for. Default: 0.3, which is refused (requirement F-4). */
  readonly assumeVersion?: string;
  /** Whether the streaming operations are offered. Default true. */
  readonly streaming?: boolean;
  /** How push notifications are sent; without it the capability is off. */
  readonly push?: PushOptions;
  /** The card for callers that said who they are; without it the capability is off. */
  readonly extendedCard?: ExtendedCardOptions;
  /** Which tenants there are. Default: every name that is not reserved. */
  readonly isTenant?: TenantPredicate;
  /** Parts that one message may have. Default 1,000. */
  readonly maxParts?: number;
  /**
   * How long a task is kept after it has ended, in milliseconds; it goes at the next look, a minute later at most. `false`
   * keeps all for ever. Default 604,800,000: 7 days.
   */
  readonly retentionMs?: number | false;
  /** Limits of the engine. */
  readonly limits?: Partial<EngineLimits>;
  /** Limits and options of the wires: body size, JSON depth, keep-alive, compression, interceptors. */
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
  /**
   * How the cards are signed, the extended ones included. A card that has to be signed and cannot be is not served. Default: they
   * are not.
   */
  readonly signing?: CardSigning;
  /**
   * Where callers may reach the server when a trusted proxy says so; cards name nothing else. A URL, such as
   * `https://agents.example.org:8443`, means exactly that. A host, such as `agents.example.org`, means https (on loopback
   * http, too), and the standard port unless it has one. `*.example.org` means every name below that domain, in
   * both. Default: anything, and nothing when cards are signed, because whoever can make a proxy say something would get a
   * signed card for it. Counts for nothing when there is a `publicUrl`.
   */
  readonly forwardedHosts?: readonly string[];
  /** Whether the card is also served at `/.well-known/agent.json`, where callers of A2A before 0.3 look. Default false. */
  readonly olderCardPath?: boolean;
  /** How long clients may keep the card and the keys, in seconds. Default 300. */
  readonly cardMaxAgeSeconds?: number;
  /** Who operates the server, in `/.well-known/ai-catalog.json`. Default: the agent's provider, else the host's name. */
  readonly catalogHost?: CatalogHost;
  /** Takes lines for the operator's log. Default: nobody. */
  readonly log?: (record: LogRecord) => void;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Default: `crypto.randomUUID`. */
  readonly randomId?: () => string;
}
