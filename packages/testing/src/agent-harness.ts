import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createHttpJsonTransport, createJsonRpcTransport } from "@a2a-connect/bindings/client";
import {
  extensionsHeader,
  formatExtensions,
  protocolVersion,
  versionHeader,
} from "@a2a-connect/core/internal";
import { type ServeOptions, serve } from "@a2a-connect/node";
import { A2AService } from "@a2a-connect/proto";
import {
  type AgentDefinition,
  createMemoryTaskStore,
  type SkillSwitches,
  type TaskStore,
} from "@a2a-connect/server";
import { type Client, createClient, type Interceptor, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";

/** The wires over which every agent is served. */
export const wires = ["grpc", "grpc-web", "connect", "jsonrpc", "http-json"] as const;

/** The name of a wire. */
export type Wire = (typeof wires)[number];

/** A generated client of A2AService; the same over every wire. */
export type A2AClient = Client<typeof A2AService>;

/** The task stores with which an agent is tested. */
export type StoreKind = "memory" | "sqlite";

/** What to serve. The harness also takes every other option of `serve`. */
export interface HarnessOptions extends Omit<ServeOptions, "file" | "store"> {
  readonly agent: AgentDefinition;
  /**
   * `sqlite` is a file in a directory of its own, removed at the end. A store that you give is closed at the end.
   * Default `memory`.
   */
  readonly store?: StoreKind | TaskStore;
}

/** The headers of a client's calls. */
export interface HarnessClientOptions {
  /** `A2A-Version` of its calls; `null` leaves it out. Default "1.0". The header of a single call takes precedence. */
  readonly version?: string | null;
  /** Extensions that its calls ask for. Default none. */
  readonly extensions?: readonly string[];
  /** Headers of every call. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Sends the requests of the two JSON wires, so that a test can read their bytes. */
  readonly fetch?: typeof globalThis.fetch;
}

/** An agent on a port of its own, with a client for every wire. */
export interface AgentHarness extends AsyncDisposable {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  /** Switches the agent's skills off and on. */
  readonly skills: SkillSwitches;
  /** A client for each wire, with `A2A-Version: 1.0`. */
  readonly clients: Readonly<Record<Wire, A2AClient>>;
  /** A client with other headers. */
  client(wire: Wire, options?: HarnessClientOptions): A2AClient;
  /** The platform's `fetch` for a `path` below the base URL. It adds nothing to the request. */
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

/**
 * Serves an agent on a free port of this machine and connects to it over every wire. Dispose of it to stop the server;
 * that cuts open streams.
 */
export async function startAgentHarness(options: HarnessOptions): Promise<AgentHarness> {
  const { agent, store = "memory", ...serveOptions } = options;
  const directory = store === "sqlite" ? await mkdtemp(join(tmpdir(), "a2a-harness-")) : undefined;
  const served = await serve(agent, {
    ...serveOptions,
    ...(directory === undefined
      ? { store: typeof store === "object" ? store : createMemoryTaskStore() }
      : { file: join(directory, "tasks.sqlite") }),
  });
  const { url } = served;
  const session = new Http2SessionManager(url);
  const client = (wire: Wire, clientOptions: HarnessClientOptions = {}): A2AClient =>
    createClient(A2AService, openTransport(wire, url, session, clientOptions));
  return {
    url,
    skills: served.skills,
    clients: {
      grpc: client("grpc"),
      "grpc-web": client("grpc-web"),
      connect: client("connect"),
      jsonrpc: client("jsonrpc"),
      "http-json": client("http-json"),
    },
    client,
    fetch: (path, init) => fetch(url + path, init),
    async [Symbol.asyncDispose]() {
      session.abort();
      await served.close({ graceMs: 0, timeoutMs: 1_000 });
      if (directory !== undefined) {
        await rm(directory, { recursive: true });
      }
    },
  };
}

function openTransport(
  wire: Wire,
  url: string,
  sessionManager: Http2SessionManager,
  options: HarnessClientOptions,
): Transport {
  const interceptors = [presentAs(options)];
  const json = { interceptors, ...(options.fetch === undefined ? {} : { fetch: options.fetch }) };
  switch (wire) {
    case "grpc":
      return createGrpcTransport({ baseUrl: url, interceptors, sessionManager });
    case "grpc-web":
      return createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1", interceptors });
    case "connect":
      return createConnectTransport({ baseUrl: url, httpVersion: "1.1", interceptors });
    case "jsonrpc":
      return createJsonRpcTransport({ url: `${url}/rpc`, ...json });
    case "http-json":
      return createHttpJsonTransport({ baseUrl: `${url}/rest`, ...json });
  }
}

function presentAs({
  version = protocolVersion,
  extensions = [],
  headers = {},
}: HarnessClientOptions): Interceptor {
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
