import type { AuthOptions } from "@a2a-connect/auth";
import type { BindingOptions, CorsOptions } from "@a2a-connect/bindings/server";
import type { AgentDefinition } from "./agent/agent-definition.ts";
import type { CatalogHost } from "./card/ai-catalog.ts";
import type { ExtendedCardOptions } from "./card/cards.ts";
import type { AgentPlace, Mounts } from "./card/interfaces.ts";
import type { CardSigning } from "./card/signing-keys.ts";
import type { LogLevel } from "./console-log.ts";
import type { CallerBudgets } from "./engine/capacity/caller-budgets.ts";
import type { Clock } from "./engine/clock.ts";
import type { EngineLimits, LogRecord } from "./engine/engine-context.ts";
import type { TenantPredicate } from "./gates/protocol-gates.ts";
import type { RateLimits } from "./gates/rate-limits.ts";
import type { InspectorOptions } from "./inspector-routes.ts";
import type { AuditRecord } from "./operations/audit.ts";
import type { PushOptions } from "./push/push-options.ts";
import type { PushLimits, PushPlaces } from "./push/push-places.ts";
import type { TaskStore } from "./store/task-store.ts";

/** Where an agent is among others, and what it shares with them. */
export interface HostedPlace extends AgentPlace {
  /** What the agent's callers have together: agents with the same limits share it. Default: it has its own. */
  readonly budgetsFor?: (limits: EngineLimits) => CallerBudgets;
  /** The places of its requests to webhooks: agents with the same limits share them. Default: it has its own. */
  readonly pushPlacesFor?: (limits: PushLimits) => PushPlaces;
}

/** All options of a server. Only the agent is required. */
export interface AgentServerOptions {
  readonly agent: AgentDefinition;
  /** The store of its tasks. Default: memory, for tests; the tasks are lost with the process. */
  readonly store?: TaskStore;
  /** Public URL in the card, such as `https://agents.example.org`. Default: the URL that `serve` passes to `moveTo`. */
  readonly publicUrl?: string;
  /**
   * The path of each wire; `rpc: false`, or undefined for the others, leaves it out. Default: all, at `/`, `/rpc` and
   * `/rest`.
   */
  readonly mounts?: Partial<Mounts>;
  /**
   * The agent's path and tenant when it is one of several agents. Its card then has them, and `handle` answers below
   * the path only. The code that tells the agents apart serves gRPC, gRPC-Web and Connect, and refuses hosts and pages.
   * `createAgentHost` sets it. Default: the agent is alone.
   */
  readonly place?: HostedPlace;
  /**
   * The protocol versions that the server offers, best first: `1.0`, `1.1` and `0.3`. The fields of 1.1 are a draft and
   * shown only to callers that ask for it. `0.3` answers older callers on the same port, in their own form
   * (docs/versions.md). Default `["1.0", "0.3"]`.
   */
  readonly protocolVersions?: readonly string[];
  /** How long GetTask of A2A 1.1 waits for a newer generation, in milliseconds. Default 30,000. */
  readonly longPollMs?: number;
  /**
   * Stored bytes of a page of ListTasks: the page ends with the task that exceeds this, and has a token for the rest of
   * the list. Default 4 MiB.
   */
  readonly maxPageBytes?: number;
  /** The version of a request that names none, for operations of 1.0. Default: 0.3, which is refused (requirement F-4). */
  readonly assumeVersion?: string;
  /** Whether the server offers the streaming operations. Default true. */
  readonly streaming?: boolean;
  /** How to send push notifications; without it the capability is off. */
  readonly push?: PushOptions;
  /** The inspector, a page for browsers at `/`; without it they get a plain one. `serve` sets it. */
  readonly inspectorPage?: InspectorOptions;
  /** The card for callers with credentials; without it the capability is off. */
  readonly extendedCard?: ExtendedCardOptions;
  /**
   * Which credentials callers need, and what they may do with them (docs/authentication.md). The card says so, and calls without
   * them are refused. Default: the server asks for nothing, and all callers without an interceptor's word are one.
   */
  readonly auth?: AuthOptions;
  /**
   * How often callers may call; `{}` takes the defaults. Beyond it RATE_LIMITED, HTTP 429 with `Retry-After`. Default: as often as
   * they like, within the limits of what calls may take.
   */
  readonly rateLimits?: RateLimits;
  /** Which tenants exist. Default: every name that is not reserved. */
  readonly isTenant?: TenantPredicate;
  /** Parts in one message. Default 1,000. */
  readonly maxParts?: number;
  /**
   * How long the server keeps a task after its end, in milliseconds. It removes the task at most a minute later.
   * `false` keeps all tasks for ever. Default 604,800,000: 7 days.
   */
  readonly retentionMs?: number | false;
  /** Limits of the engine. */
  readonly limits?: Partial<EngineLimits>;
  /** Limits and options of the wires: body size, JSON depth, keep-alive, compression, interceptors. */
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
   * How to sign the cards, the extended ones included. The server never serves a card without signatures when it must
   * be signed. Default: cards are not signed.
   */
  readonly signing?: CardSigning;
  /**
   * Where callers may reach the server when a trusted proxy says so; cards name nothing else. A URL, such as
   * `https://agents.example.org:8443`, means exactly that. A host, such as `agents.example.org`, means https (on loopback
   * http, too), and the standard port unless it has one. `*.example.org` means every name below that domain, in
   * both. Default: anything, and nothing when cards are signed, because a caller that can choose what a proxy says would get a
   * signed card for it. Counts for nothing when there is a `publicUrl`.
   */
  readonly forwardedHosts?: readonly string[];
  /**
   * Whether the card is also served at `/.well-known/agent.json`, where callers of A2A before 0.3 look. It always is when
   * `protocolVersions` contains `0.3`. Default false.
   */
  readonly olderCardPath?: boolean;
  /**
   * The form of a signed card that a request gets which names no version: `1.0`, or `0.3` while most of your callers are
   * older. The other one is for requests that name it (docs/trust.md). Default `1.0`. An unsigned card has both forms at once.
   */
  readonly signedCardVersion?: "1.0" | "0.3";
  /** How long clients may cache the card and the keys, in seconds. Default 300. */
  readonly cardMaxAgeSeconds?: number;
  /** The operator's name in `/.well-known/ai-catalog.json`. Default: the agent's provider, else the host's name. */
  readonly catalogHost?: CatalogHost;
  /**
   * Takes records for the operator's log. Default: the console's, which is stderr in Node; a record of an executor's error
   * has its stack.
   */
  readonly log?: (record: LogRecord) => void;
  /**
   * Gets a record for each call and each change of a task's state, to be written as one line of JSON. It has no content and no
   * credentials. Default: there is no audit.
   */
  readonly audit?: (record: AuditRecord) => void;
  /** The least important records of the default log: `info` (default), `warn`, `error`, or `off` for none. */
  readonly logLevel?: LogLevel;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Makes ids that cannot be guessed. Default: UUIDs of version 7, which begin with the time. */
  readonly randomId?: () => string;
}
