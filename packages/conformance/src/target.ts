import { createHttpJsonTransport, createJsonRpcTransport } from "@a2a-connect/bindings/client";
import {
  connectBinding,
  extensionsHeader,
  formatExtensions,
  grpcWebBinding,
  isObject,
  protocolVersion,
  versionHeader,
} from "@a2a-connect/core/internal";
import { A2AService } from "@a2a-connect/proto";
import { type Client, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import { createTrace, type Exchange } from "./exchange.ts";

/** The wires that scenarios can speak. */
export const wires = ["grpc", "grpc-web", "connect", "jsonrpc", "http-json"] as const;

/** The name of a wire. */
export type Wire = (typeof wires)[number];

/** A generated client of A2AService; the same over every wire. */
export type A2AClient = Client<typeof A2AService>;

/** The headers of a client's calls. */
export interface CallOptions {
  /** `A2A-Version` of its calls; `null` leaves it out. Default "1.0". The header of a single call takes precedence. */
  readonly version?: string | null;
  /** Extensions that its calls ask for. Default none. */
  readonly extensions?: readonly string[];
  /** Headers of every call. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sends the requests of the two JSON wires, so that a scenario can read their bytes. */
  readonly fetch?: typeof globalThis.fetch;
}

/** A running server, as one scenario sees it. */
export interface Target {
  /** The origin that serves the card. */
  readonly url: string;
  /** The card as it is served. */
  readonly card: Readonly<Record<string, unknown>>;
  /** The wires of version 1.0 that the card declares and that scenarios can speak. */
  readonly wires: readonly Wire[];
  /** A client with `A2A-Version: 1.0`, unless the options say otherwise. @throws Error when the card has no such wire */
  client(wire: Wire, options?: CallOptions): A2AClient;
  /** Where the wire's first interface of version 1.0 is, without a trailing slash. @throws Error when there is none */
  address(wire: Wire): string;
  /** The platform's `fetch` for a `path` below the origin. It adds nothing to the request. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
  /** The same for a `path` below the address of a wire. */
  fetchOn(wire: Wire, path: string, init?: RequestInit): Promise<Response>;
  /** Keeps an exchange that went past `client` and `fetch`. */
  record(exchange: Exchange): void;
}

/** A server that was found by its card. Dispose of it to close its connections. */
export interface FoundServer extends Disposable {
  readonly url: string;
  /** The card as it is served. */
  readonly card: Readonly<Record<string, unknown>>;
  /** The wires of version 1.0 that it declares and that scenarios can speak, and their addresses. */
  readonly addresses: ReadonlyMap<Wire, string>;
  /** The server as one scenario sees it; what is said to it is added to `exchanges`. */
  target(exchanges?: Exchange[]): Target;
}

const wiresByBinding: ReadonlyMap<unknown, Wire> = new Map([
  ["GRPC", "grpc"],
  [grpcWebBinding, "grpc-web"],
  [connectBinding, "connect"],
  ["JSONRPC", "jsonrpc"],
  ["HTTP+JSON", "http-json"],
] as const);

/** How long the card may take. */
const cardTimeoutMs = 10_000;

/**
 * Reads the card of a server, below the origin of `url`.
 *
 * @throws Error when there is no card, or when it declares no wire of version 1.0 that scenarios can speak
 */
export async function findServer(url: string, signal?: AbortSignal): Promise<FoundServer> {
  const { origin } = new URL(url);
  const cardUrl = `${origin}/.well-known/agent-card.json`;
  const limit = AbortSignal.timeout(cardTimeoutMs);
  const response = await fetch(cardUrl, {
    signal: signal === undefined ? limit : AbortSignal.any([limit, signal]),
  });
  if (!response.ok) {
    throw new Error(`${cardUrl} answers with HTTP ${response.status}`);
  }
  const card: unknown = await response.json();
  if (!isObject(card)) {
    throw new Error(`${cardUrl} is no card: it is not a JSON object`);
  }
  const addresses = findAddresses(card, origin);
  if (addresses.size === 0) {
    throw new Error(`${cardUrl} declares no interface of version ${protocolVersion} that can be examined`);
  }
  const grpc = addresses.get("grpc");
  const session = grpc === undefined ? undefined : new Http2SessionManager(grpc);
  return {
    url: origin,
    card,
    addresses,
    target: (exchanges = []) => createTarget(card, origin, addresses, session, exchanges),
    [Symbol.dispose]: () => session?.abort(),
  };
}

function findAddresses(card: Readonly<Record<string, unknown>>, origin: string): Map<Wire, string> {
  const { supportedInterfaces } = card;
  const addresses = new Map<Wire, string>();
  for (const declared of Array.isArray(supportedInterfaces) ? supportedInterfaces : []) {
    if (!isObject(declared)) continue;
    const { url, protocolBinding, protocolVersion: version } = declared;
    const wire = wiresByBinding.get(protocolBinding);
    if (wire === undefined || version !== protocolVersion || typeof url !== "string") continue;
    // The address of a gRPC interface is a bare host and port (J-2): it is reached as its card is.
    const address = url.includes("://") ? url : `${new URL(origin).protocol}//${url}`;
    if (!addresses.has(wire)) addresses.set(wire, address.replace(/\/$/, ""));
  }
  return addresses;
}

function createTarget(
  card: Readonly<Record<string, unknown>>,
  origin: string,
  addresses: ReadonlyMap<Wire, string>,
  session: Http2SessionManager | undefined,
  exchanges: Exchange[],
): Target {
  const trace = createTrace(exchanges);
  const address = (wire: Wire): string => {
    const found = addresses.get(wire);
    if (found === undefined) throw new Error(`the card declares no interface for ${wire}`);
    return found;
  };
  return {
    url: origin,
    card,
    wires: [...addresses.keys()],
    address,
    client(wire, options = {}) {
      const interceptors = [presentAs(options), trace.interceptor(wire)];
      return createClient(
        A2AService,
        openTransport(wire, address(wire), session, interceptors, options.fetch),
      );
    },
    fetch: (path, init) => trace.fetch(origin + path, init),
    fetchOn: (wire, path, init) => trace.fetch(address(wire) + path, init),
    record: (exchange) => void exchanges.push(exchange),
  };
}

function openTransport(
  wire: Wire,
  baseUrl: string,
  sessionManager: Http2SessionManager | undefined,
  interceptors: Interceptor[],
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Transport {
  switch (wire) {
    case "grpc":
      return createGrpcTransport({
        baseUrl,
        interceptors,
        ...(sessionManager === undefined ? {} : { sessionManager }),
      });
    case "grpc-web":
      return createGrpcWebTransport({ baseUrl, httpVersion: "1.1", interceptors });
    case "connect":
      return createConnectTransport({ baseUrl, httpVersion: "1.1", interceptors });
    case "jsonrpc":
      return createJsonRpcTransport({ url: baseUrl, interceptors, fetch });
    case "http-json":
      return createHttpJsonTransport({ baseUrl, interceptors, fetch });
  }
}

function presentAs({ version = protocolVersion, extensions = [], headers = {} }: CallOptions): Interceptor {
  return (next) => (request) => {
    const { header } = request;
    const chosen = header.get(versionHeader);
    if (version === null) {
      header.delete(versionHeader);
    } else if (chosen === null || chosen === protocolVersion) {
      // The JSON transports have set "1.0" already, so this value is not the caller's choice.
      header.set(versionHeader, version);
    }
    const asked = formatExtensions(extensions);
    if (asked !== undefined && !header.has(extensionsHeader)) {
      header.set(extensionsHeader, asked);
    }
    for (const [name, value] of Object.entries(headers)) {
      header.set(name, value);
    }
    return next(request);
  };
}
