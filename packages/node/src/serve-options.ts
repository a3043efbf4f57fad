import type { AgentDefinition, AgentServerOptions, PushOptions } from "@a2a-connect/server";
import type { AgentHostOptions, HostedAgentOptions } from "@a2a-connect/server/host";
import type { ExposureOptions } from "./exposure.ts";
import type { ListenOptions } from "./port/listen-options.ts";
import type { GuardedPushOptions } from "./serving.ts";
import type { ShutdownOptions } from "./shutdown.ts";

/** All options of the server and the listener. */
export interface ServeOptions
  extends Omit<AgentServerOptions, "agent" | "inspectorPage" | "place" | "push">,
    Omit<ListenOptions, "onError" | "onWarning">,
    ExposureOptions {
  /** File of the embedded SQLite store, when no `store` is given. Default `.a2a/<name of the agent>.sqlite`. */
  readonly file?: string;
  /**
   * Whether browsers get the inspector at `/`, a page that shows what the agent does (docs/inspector.md). `true`: also on
   * other machines and through proxies. Default: only callers on this machine, of a server that listens on loopback.
   */
  readonly inspector?: boolean;
  /**
   * Push notifications. `true` sends them to public https addresses only. Options permit further addresses (`{ allow:
   * ["localhost"] }`), or bring a `fetch` of their own. Default false: the capability is off.
   */
  readonly push?: boolean | GuardedPushOptions | PushOptions;
  /**
   * How the server closes when the process gets SIGTERM or SIGINT: running work may go on for `graceMs` (default
   * 30,000), streams end so that a client can resume them, and the process ends when nothing else keeps it alive. `false`: the
   * program calls `close` itself.
   */
  readonly shutdown?: false | ShutdownOptions;
}

/** One of several agents with options of its own, which take precedence over those for all. */
export interface AgentToServe
  extends Omit<HostedAgentOptions, "inspectorPage" | "push">,
    Pick<ServeOptions, "file" | "push"> {}

/** Options for several agents that share a port. Options of a single server apply to each of them. */
export interface ServeAgentsOptions<Name extends string = string>
  extends Omit<ServeOptions, "file" | "store">,
    Pick<AgentHostOptions<Name>, "default"> {
  /** Where the SQLite files are, each by the name of its agent: `translator.sqlite`. Default `.a2a`. */
  readonly directory?: string;
}

/** What an option may be, in the words of an error, and the test for it. */
interface Shape {
  readonly words: string;
  readonly holds: (value: unknown) => boolean;
}

const text: Shape = { words: "a string", holds: (value) => typeof value === "string" };
const number: Shape = { words: "a number", holds: (value) => typeof value === "number" };
const flag: Shape = { words: "true or false", holds: (value) => typeof value === "boolean" };
const call: Shape = { words: "a function", holds: (value) => typeof value === "function" };
const object: Shape = { words: "an object", holds: isObject };
const texts: Shape = {
  words: "an array of strings",
  holds: (value) => Array.isArray(value) && value.every((each) => typeof each === "string"),
};
const store: Shape = {
  words: 'a TaskStore, such as createMemoryTaskStore(); the path of a database is the option "file"',
  holds: (value) => isObject(value) && "commit" in value,
};

const shapes: Record<keyof (ServeOptions & ServeAgentsOptions & AgentToServe), Shape> = {
  agent: { words: "what defineAgent returned", holds: isDefinition },
  allowedHosts: texts,
  assumeVersion: text,
  audit: call,
  auth: object,
  cardMaxAgeSeconds: number,
  catalogHost: object,
  cleartext: flag,
  clock: object,
  cors: either(object, false),
  default: text,
  directory: text,
  extendedCard: object,
  file: text,
  firstByteTimeoutMs: number,
  forwardedHosts: texts,
  halfCloseTimeoutMs: number,
  headersTimeoutMs: number,
  host: text,
  idleSessionTimeoutMs: number,
  inspector: flag,
  isTenant: call,
  keepAliveTimeoutMs: number,
  limits: object,
  log: call,
  logLevel: oneOf("info", "warn", "error", "off"),
  longPollMs: number,
  maxBodyBytesPerConnection: number,
  maxConnections: number,
  maxHeaderBytes: number,
  maxPageBytes: number,
  maxParts: number,
  maxPendingConnections: number,
  maxStreams: number,
  maxStreamsPerConnection: number,
  maxTotalBodyBytes: number,
  maxUnreadBytes: number,
  mounts: object,
  olderCardPath: flag,
  open: flag,
  pingIntervalMs: number,
  pingTimeoutMs: number,
  port: number,
  protocolVersions: texts,
  publicUrl: text,
  push: either(object, true, false),
  randomId: call,
  rateLimits: object,
  requestTimeoutMs: number,
  retentionMs: either(number, false),
  shutdown: either(object, false),
  signedCardVersion: oneOf("1.0", "0.3"),
  signing: object,
  stalledReaderTimeoutMs: number,
  store,
  streaming: flag,
  tls: object,
  trustedProxies: texts,
  wires: object,
};

/**
 * Tests what plain JavaScript may have got wrong: else it would fail deep inside, or be ignored.
 *
 * @param whose the options of what, for the error
 * @throws Error that names the option and says what it is
 */
export function assertServeOptions(whose: string, options: unknown): void {
  if (!isObject(options)) throw new Error(`${whose} are an object, not ${nameOf(options)}`);
  for (const [name, value] of Object.entries(options)) {
    const shape = Object.hasOwn(shapes, name) ? shapes[name as keyof typeof shapes] : undefined;
    if (value !== undefined && shape?.holds(value) === false) {
      throw new Error(`"${name}" of ${whose} is ${shape.words}; it is ${nameOf(value)}`);
    }
  }
}

/** @throws Error when what `serve` is to serve is neither an agent nor agents by their names */
export function assertAgents(agents: unknown): void {
  if (isDefinition(agents)) return;
  const wanted = "serve(…) takes an agent, or an object of agents by their names";
  if (!isObject(agents)) throw new Error(`${wanted}; it got ${nameOf(agents)}`);
  for (const [name, agent] of Object.entries(agents)) {
    if (isDefinition(agent)) continue;
    if (!isObject(agent) || !("agent" in agent)) {
      throw new Error(
        `${wanted}; ${JSON.stringify(name)} is ${nameOf(agent)}, and neither what defineAgent returned nor { agent: … } with options`,
      );
    }
    assertServeOptions(`the options of the agent ${JSON.stringify(name)}`, agent);
  }
}

/** Several agents may include one whose name is "card". It has no `name` itself. */
export function isDefinition(value: unknown): value is AgentDefinition {
  return isObject(value) && "card" in value && isObject(value.card) && "name" in value.card;
}

function oneOf(...values: readonly string[]): Shape {
  return {
    words: values.map((value) => JSON.stringify(value)).join(" or "),
    holds: (value) => values.some((each) => each === value),
  };
}

function either(shape: Shape, ...values: readonly boolean[]): Shape {
  return {
    words: [...values.map(String), shape.words].join(", or "),
    holds: (value) => values.some((each) => each === value) || shape.holds(value),
  };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function nameOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return "an array";
  switch (typeof value) {
    case "string":
      return "a string";
    case "object":
      return "an object without what that needs";
    case "number":
    case "boolean":
    case "bigint":
      return String(value);
    default:
      return `a ${typeof value}`;
  }
}
