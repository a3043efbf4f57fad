import { createHttpJsonTransport, createJsonRpcTransport } from "@a2a-connect/bindings/client";
import {
  chunksOf,
  connectBinding,
  extensionsHeader,
  formatExtensions,
  grpcWebBinding,
  isObject,
  parseJsonText,
  protocolVersion,
  readAtMost,
  trimSlashes,
  versionHeader,
} from "@a2a-connect/core/internal";
import { A2AService } from "@a2a-connect/proto";
import { type Client, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import { type CardJson, listOf, requiredExtensions } from "./card-facts.ts";
import { createTrace, type Exchange, maxAnswerBytes, type Trace } from "./exchange.ts";
import { explainFailure } from "./explain.ts";
import type { Platform, RpcConnections, TlsSettings, Wire } from "./platform.ts";

/** A generated client of A2AService; the same over every wire. */
export type A2AClient = Client<typeof A2AService>;

/** The headers of a client's calls. */
export interface CallOptions {
  /** `A2A-Version` of its calls; `null` leaves it out. Default "1.0". The header of a single call takes precedence. */
  readonly version?: string | null;
  /** Extensions that its calls name. Default: those that the card requires. */
  readonly extensions?: readonly string[];
  /** Headers of every call. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Gets each response of the two JSON wires, whole, so that a scenario can read its bytes. */
  readonly onResponse?: (response: Response) => void;
}

/** A running server, as one scenario sees it. */
export interface Target {
  /** The origin that serves the card. */
  readonly url: string;
  /** The card as it is served. */
  readonly card: CardJson;
  /** The wires of version 1.0 that the card declares and that scenarios can speak. */
  readonly wires: readonly Wire[];
  /** A client with `A2A-Version: 1.0`, unless the options say otherwise. @throws Error when the card has no such wire */
  client(wire: Wire, options?: CallOptions): A2AClient;
  /** Where the wire's first interface of version 1.0 is, without a trailing slash. @throws Error when there is none */
  address(wire: Wire): string;
  /** The platform's `fetch` for a `path` below `url`. It adds nothing to the request. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** The same for a `path` below the address of a wire. It adds `headers`. */
  fetchOn(wire: Wire, path: string, init?: RequestInit): Promise<Response>;
  /** The same for a URL that the card names. */
  fetchFrom(url: string, init?: RequestInit): Promise<Response>;
  /** Keeps an exchange that goes past `client` and `fetch`, before it begins. */
  record(exchange: Exchange): void;
  /** The tenant of the wire's interface; empty when it has none. `client` and the address of HTTP+JSON have it already. */
  tenant(wire: Wire): string;
  /** For connections that go past `client` and `fetch`. */
  readonly tls: TlsSettings;
  readonly platform: Platform;
  /**
   * Go with every call, and not with requests for the card: credentials, and the names of the extensions that the card requires.
   * What a call says itself counts.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** Aborted when the scenario has had its time. */
  readonly signal: AbortSignal | undefined;
  /** The same server, called without credentials. */
  asStranger(): Target;
}

/** How a scenario is connected to its server. */
export interface TargetOptions {
  /** Called before a message is sent to the agent, which is then not sent when this throws. */
  readonly beforeMessage?: (() => void) | undefined;
  /** Gets what is said to the server. */
  readonly exchanges?: Exchange[] | undefined;
  /** Ends all that is said to it. */
  readonly signal?: AbortSignal | undefined;
}

/** How a server is reached. */
export interface FindOptions {
  /** Go with every call, such as credentials, and not with requests for the card, which may say what they are. Default none. */
  readonly headers?:
    | Readonly<Record<string, string>>
    | ((card: CardJson) => Readonly<Record<string, string>>);
  readonly signal?: AbortSignal | undefined;
  /** For callers who have read the card already, or have it from elsewhere. Default: it is fetched. */
  readonly card?: CardJson;
  /** For the card and the two JSON wires, in place of the platform's. */
  readonly fetch?: typeof globalThis.fetch;
  /** For the other wires. */
  readonly tls?: TlsSettings;
}

/** Why a server cannot be examined at all. */
export class CannotExamine extends Error {
  override readonly name = "CannotExamine";
  /** `unreachable`: no answer; `no-card`: another answer than a card; `invalid-card`: one that names no wire; `asked`: what was asked for is not there. */
  readonly why: "unreachable" | "no-card" | "invalid-card" | "asked";

  constructor(why: CannotExamine["why"], message: string, options?: ErrorOptions) {
    super(message, options);
    this.why = why;
  }
}

/** A server that was found by its card. Dispose of it to close its connections. */
export interface FoundServer extends Disposable {
  readonly url: string;
  /** The card as it is served. */
  readonly card: CardJson;
  /** The wires of version 1.0 that it declares and that scenarios can speak, and their addresses. */
  readonly addresses: ReadonlyMap<Wire, string>;
  /** Go with every call. */
  readonly headers: Readonly<Record<string, string>>;
  /** The server as one scenario sees it. */
  target(options?: TargetOptions): Target;
}

/** The names of the bindings in cards. */
export const wiresByBinding: ReadonlyMap<unknown, Wire> = new Map([
  ["GRPC", "grpc"],
  [grpcWebBinding, "grpc-web"],
  [connectBinding, "connect"],
  ["JSONRPC", "jsonrpc"],
  ["HTTP+JSON", "http-json"],
] as const);

/** In the letters of HTTP/2, so that what a call says itself replaces it. */
const extensionsName = extensionsHeader.toLowerCase();

/** Where the card of an agent is, below its URL (spec §8.2). */
const cardPath = "/.well-known/agent-card.json";

/** How long the card may take. */
const cardTimeoutMs = 10_000;

/** Bytes that a card may have. */
const maxCardBytes = 1024 * 1024;

/**
 * Reads the card of a server.
 *
 * @param platform what scenarios of it will run on
 * @param url the agent's, such as `http://localhost:4000`, or its card's
 * @throws CannotExamine when there is no card, or when it declares no wire of version 1.0 that scenarios can speak
 */
export async function findServer(
  platform: Platform,
  url: string,
  { headers: given = {}, signal, card: known, fetch = globalThis.fetch, tls = {} }: FindOptions = {},
): Promise<FoundServer> {
  const { origin, pathname } = new URL(url);
  const base = origin + trimSlashes(pathname.replace(cardPath, ""));
  const card = known ?? (await fetchCardJson(base + cardPath, fetch, signal));
  const { addresses, tenants } = findInterfaces(card, origin, platform.wires);
  if (addresses.size === 0) {
    throw new CannotExamine(
      "invalid-card",
      `${base}${cardPath} declares no interface of version ${protocolVersion} that can be examined`,
    );
  }
  const headers = typeof given === "function" ? given(card) : given;
  const connections = platform.connect({ tls, fetch });
  const reached: Reached = {
    platform,
    url: base,
    card,
    addresses,
    headers,
    tenants,
    fetch,
    tls,
    connections,
  };
  return {
    url: base,
    card,
    addresses,
    headers,
    target: (options = {}) => createTarget(reached, options),
    [Symbol.dispose]: () => connections[Symbol.dispose](),
  };
}

function ignore(): void {}

async function fetchCardJson(
  url: string,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal | undefined,
): Promise<CardJson> {
  const limit = AbortSignal.timeout(cardTimeoutMs);
  let bytes: Uint8Array | undefined;
  try {
    const response = await fetch(url, {
      signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
    });
    if (!response.ok) throw new CannotExamine("no-card", `${url} answers with HTTP ${response.status}`);
    bytes = await readAtMost(chunksOf(response.body), maxCardBytes);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof CannotExamine) throw error;
    const problem = limit.aborted
      ? `has not answered within ${cardTimeoutMs / 1000} s`
      : `cannot be reached: ${explainFailure(error)}`;
    throw new CannotExamine("unreachable", `${url} ${problem}`, { cause: error });
  }
  if (bytes === undefined) {
    throw new CannotExamine("no-card", `${url} is no card: it has more than ${maxCardBytes / 1024} KiB`);
  }
  const card = parseJsonText(bytes);
  if (!card.ok || !isObject(card.value)) {
    throw new CannotExamine("no-card", `${url} is no card: it is not a JSON object`);
  }
  return card.value;
}

/** The first interface of each wire: its address and its tenant. */
function findInterfaces(
  { supportedInterfaces }: CardJson,
  origin: string,
  spoken: readonly Wire[],
): { readonly addresses: Map<Wire, string>; readonly tenants: Map<Wire, string> } {
  const addresses = new Map<Wire, string>();
  const tenants = new Map<Wire, string>();
  for (const { url, protocolBinding, protocolVersion: version, tenant } of listOf(supportedInterfaces)) {
    const wire = wiresByBinding.get(protocolBinding);
    if (
      wire === undefined ||
      !spoken.includes(wire) ||
      version !== protocolVersion ||
      typeof url !== "string"
    )
      continue;
    if (addresses.has(wire)) continue;
    // The address of a gRPC interface is a bare host and port (J-2): it is reached as its card is.
    const address = url.includes("://")
      ? url.replace(/^grpc(s?):/, "http$1:")
      : `${new URL(origin).protocol}//${url}`;
    const named = typeof tenant === "string" ? tenant : "";
    // Over HTTP+JSON the tenant is the first segment of the path (P-3).
    const below = wire === "http-json" && named !== "" ? `/${encodeURIComponent(named)}` : "";
    addresses.set(wire, address.replace(/\/$/, "") + below);
    if (below === "") tenants.set(wire, named);
  }
  return { addresses, tenants };
}

/** What all scenarios of a server have in common. */
interface Reached extends Pick<FoundServer, "url" | "card" | "addresses" | "headers"> {
  /** Of the wires whose address does not name it. */
  readonly tenants: ReadonlyMap<Wire, string>;
  readonly fetch: typeof globalThis.fetch;
  readonly tls: TlsSettings;
  readonly platform: Platform;
  readonly connections: RpcConnections;
}

function createTarget(reached: Reached, { exchanges = [], signal, beforeMessage }: TargetOptions): Target {
  const { platform, url, card, addresses, tenants, fetch, tls, connections } = reached;
  const required = formatExtensions(requiredExtensions(card));
  const headers = { ...(required === undefined ? {} : { [extensionsName]: required }), ...reached.headers };
  const trace = createTrace(exchanges, { fetch, signal, beforeMessage });
  const tenant = (wire: Wire): string => tenants.get(wire) ?? "";
  const address = (wire: Wire): string => {
    const found = addresses.get(wire);
    if (found === undefined) throw new Error(`the card declares no interface for ${wire}`);
    return found;
  };
  return {
    url,
    card,
    wires: [...addresses.keys()],
    headers,
    signal,
    tls,
    platform,
    address,
    tenant,
    client: (wire, options = {}) => {
      const opened = { trace, connections, headers, tenant: tenant(wire) };
      const transport = openTransport(wire, address(wire), opened, options);
      return createClient(A2AService, {
        ...transport,
        // A stream that a scenario opens and never reads may fail, too.
        stream: (...call) => meanwhile(transport.stream(...call)),
      });
    },
    fetch: (path, init) => trace.fetch(url + path, init),
    fetchFrom: (named, init) => trace.fetch(named, init),
    fetchOn(wire, path, init) {
      const all = new Headers(headers);
      for (const [name, value] of new Headers(init?.headers)) all.set(name, value);
      return trace.fetch(address(wire) + path, { ...init, headers: all });
    },
    record: trace.record,
    asStranger: () => createTarget({ ...reached, headers: {} }, { exchanges, signal, beforeMessage }),
  };
}

/** Lets a call go on while others are made. Its failure then counts only when the scenario waits for it. */
export function meanwhile<Value>(call: Promise<Value>): Promise<Value> {
  call.catch(ignore);
  return call;
}

/** What a client is made of, beside the options of its caller. */
interface Opened extends Pick<Reached, "connections" | "headers"> {
  readonly trace: Trace;
  readonly tenant: string;
}

function openTransport(
  wire: Wire,
  baseUrl: string,
  { trace, connections, headers, tenant }: Opened,
  options: CallOptions,
): Transport {
  const presented = [presentAs(options, headers), ...(tenant === "" ? [] : [nameTenant(tenant)])];
  switch (wire) {
    case "grpc":
    case "grpc-web":
    case "connect":
      return connections.open(wire, {
        baseUrl,
        interceptors: [...presented, trace.interceptor(wire, baseUrl)],
        maxBytes: maxAnswerBytes,
      });
    case "jsonrpc":
    case "http-json": {
      const fetch: typeof globalThis.fetch = async (input, init) => {
        const response = await trace.fetch(input, init);
        if (options.onResponse === undefined) return response;
        // Read whole: a client that leaves early would take the bytes with it.
        const body = await response.arrayBuffer();
        const make = () => new Response(body.byteLength === 0 ? null : body, response);
        options.onResponse(make());
        return make();
      };
      const common = { interceptors: presented, fetch };
      return wire === "jsonrpc"
        ? createJsonRpcTransport({ ...common, url: baseUrl })
        : createHttpJsonTransport({ ...common, baseUrl });
    }
  }
}

/** Names the tenant in requests that name none (P-1). */
function nameTenant(tenant: string): Interceptor {
  const add = <Message extends object>(message: Message): Message =>
    "tenant" in message && message.tenant === "" ? { ...message, tenant } : message;
  return (next) => (request) =>
    next(
      request.stream
        ? { ...request, message: mapEach(request.message, add) }
        : { ...request, message: add(request.message) },
    );
}

async function* mapEach<Item>(items: AsyncIterable<Item>, map: (item: Item) => Item): AsyncGenerator<Item> {
  for await (const item of items) yield map(item);
}

function presentAs(
  { version = protocolVersion, extensions, headers = {} }: CallOptions,
  always: Readonly<Record<string, string>>,
): Interceptor {
  return (next) => (request) => {
    const { header } = request;
    const chosen = header.get(versionHeader);
    if (version === null) {
      header.delete(versionHeader);
    } else if (chosen === null || chosen === protocolVersion) {
      // The JSON transports have set "1.0" already, so this value is not the caller's choice.
      header.set(versionHeader, version);
    }
    for (const [name, value] of Object.entries(headers)) header.set(name, value);
    const own = extensions === undefined ? {} : { [extensionsName]: formatExtensions(extensions) ?? "" };
    for (const [name, value] of Object.entries({ ...always, ...own })) {
      if (!header.has(name) && value !== "") header.set(name, value);
    }
    return next(request);
  };
}
