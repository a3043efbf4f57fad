import type { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { callUnawaited, dropUndefined } from "@a2a-connect/core/internal";
import { comesFromThisMachine, createMount, type Mount, targetBelow } from "@a2a-connect/server/internal";
import type { Mountable, MountOptions } from "@a2a-connect/server/mount";
import { loopTurns } from "./port/callers/loop-turns.ts";
import { findMountedPlaces } from "./port/callers/places.ts";
import { createExchangeContext } from "./port/exchange.ts";
import { formatRequestUrl, hasItsHost, packFields } from "./port/http-head.ts";
import { type MountedRequest, serveHttp1, takePlaces } from "./port/http1-server.ts";
import { defaultLimits, type ListenLimits, type ListenOptions } from "./port/listen-options.ts";
import { mountedPipeline } from "./port/mounted-pipeline.ts";

/** Options of an agent in another server of Node. Limits that belong to a port are those of that server. */
export interface NodeHandlerOptions
  extends MountOptions,
    Pick<
      ListenOptions,
      | "trustedProxies"
      | "maxStreams"
      | "requestTimeoutMs"
      | "stalledReaderTimeoutMs"
      | "maxUnreadBytes"
      | "maxBodyBytesPerConnection"
      | "maxTotalBodyBytes"
    > {}

/** Answers a request of `node:http`, for servers, Express, Fastify and others. It never throws, and calls no `next`. */
export type NodeHandler = (message: IncomingMessage, response: ServerResponse) => void;

/** What frameworks add to a request. */
interface FrameworkMessage extends IncomingMessage {
  /** The target with the path that the framework has removed from `url`. */
  readonly originalUrl?: unknown;
  /** What a middleware has read of the body. */
  readonly body?: unknown;
  readonly rawBody?: unknown;
}

/**
 * Makes a server one of `node:http`: JSON-RPC, HTTP+JSON, Connect and gRPC-Web, with the streams, limits and refusals of `serve`
 * (docs/mount.md). The card names the URL of the mount, and no gRPC, which needs HTTP/2 and trailers.
 *
 * The first request starts the server, if `start` was not called before.
 *
 * @throws Error when the path is none, or a trusted proxy is no address
 */
export function toNodeHandler(server: Mountable, options: NodeHandlerOptions = {}): NodeHandler {
  const { path: _, open: __, trustedProxies, ...given } = options;
  const limits: ListenLimits = { ...defaultLimits, ...dropUndefined(given) };
  const { requestTimeoutMs: bodyTimeoutMs, maxConnections, maxStreams } = limits;
  const mount = createMount(server, options);
  const { log } = server;
  const port = {
    limits,
    trustedProxies,
    onError: (error: unknown) => log({ level: "error", message: "a response broke off", error }),
    onWarning: (message: string) => log({ level: "warn", message }),
  };
  const secure = {
    ...createExchangeContext(mount.handle, { ...port, scheme: "https" }),
    inFlight: mount.calls,
    places: findMountedPlaces({ maxConnections, maxStreams }),
  };
  const cleartext = { ...secure, scheme: "http" as const };
  const refuse = (response: ServerResponse, error: unknown): void => {
    log({ level: "error", message: "a mounted agent could not answer", error });
    if (response.headersSent) response.destroy();
    else response.writeHead(500).end();
  };
  const answer: NodeHandler = (message, response) => {
    const context = "encrypted" in message.socket ? secure : cleartext;
    const mounted = readMounted(message, mount, context.scheme);
    if (mounted instanceof Error) return refuse(response, mounted);
    const { socket } = message;
    leaveTurnsToConnections(socket);
    let { url } = mounted;
    mountedPipeline(socket, context.callers.ofSocket(socket)).add(message, response, {
      target: wholeTarget(message),
      serve: (_, __, turn) =>
        serveHttp1(context, message, response, { ...mounted, url, turn, bodyTimeoutMs }),
      takePlaces: (_, places, isFirst) => {
        const place = takePlaces(context, message, places);
        if (place !== null || !isFirst) return place;
        url = 429; // its connection is the other server's, and stays open
        return undefined;
      },
      onFault: context.onFault,
    });
  };
  return (message, response) =>
    callUnawaited(
      () => answer(message, response),
      (error) => refuse(response, error),
    );
}

/** The servers around mounts whose connections are counted. */
const counted = new WeakSet<EventEmitter>();

/** A server accepts one connection in a turn of the event loop: from the first request on, the mount leaves some turns to that. */
function leaveTurnsToConnections({ server }: Socket & { readonly server?: EventEmitter }): void {
  if (server === undefined || counted.has(server)) return;
  counted.add(server);
  server.on("connection", () => loopTurns.countConnection());
}

/** The request as it is below the mount; an Error when the other server has left nothing to answer. */
function readMounted(
  message: FrameworkMessage,
  mount: Mount,
  scheme: "http" | "https",
): MountedRequest | Error {
  const { headers, socket, url = "/" } = message;
  if (message.httpVersionMajor >= 2) return new Error("a mounted agent answers HTTP/1.1 only");
  const read = readBefore(message);
  if (read instanceof Error) return read;
  const whole = wholeTarget(message);
  const path = mount.path ?? removedPath(whole, url);
  const below = whole.startsWith(path) ? targetBelow(path, whole) : url;
  const formatted = hasItsHost(message) ? formatRequestUrl(scheme, headers.host, below) : undefined;
  const parsed = formatted === undefined ? null : URL.parse(formatted);
  if (formatted === undefined || parsed === null) return { url: 400, ...read };
  return {
    url: formatted,
    mount: { origin: parsed.origin, path },
    boundToLoopback:
      mount.isPrivate &&
      comesFromThisMachine({
        remoteAddress: socket.remoteAddress,
        hosts: [parsed.hostname],
        fields: Object.keys(headers),
      }),
    ...read,
  };
}

function wholeTarget({ originalUrl, url = "/" }: FrameworkMessage): string {
  return typeof originalUrl === "string" ? originalUrl : url;
}

/** The path that a framework has removed from the beginning of a target; empty when it has removed none. */
function removedPath(whole: string, rest: string): string {
  const [before, after] = [whole, rest].map((target) => target.split("?", 1)[0] ?? "");
  if (before === undefined || after === undefined || before === after) return "";
  if (after === "/" && !before.endsWith("/")) return before;
  return before.endsWith(after) ? before.slice(0, -after.length) : "";
}

/**
 * The body of a request that a middleware has read before it came here, as it would have come; nothing when it can still be read.
 *
 * @returns Error when it cannot be had
 */
function readBefore(message: FrameworkMessage): Partial<MountedRequest> | Error {
  const { headers } = message;
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  if (!hasBody || !message.readableDidRead) return {};
  const bytes = toBytes(message.rawBody) ?? toBytes(message.body) ?? jsonOf(message.body, headers);
  if (bytes === undefined) {
    return new Error(
      "the request's body was read before it came to the agent: mount the agent before what parses bodies",
    );
  }
  const { "content-encoding": _, ...fields } = headers; // what has read it has decompressed it
  packFields(fields, message.rawHeaders);
  return { fields, source: Readable.from([bytes]), declaredLength: bytes.length };
}

function toBytes(body: unknown): Buffer | undefined {
  if (typeof body === "string") return Buffer.from(body);
  return body instanceof Uint8Array ? Buffer.from(body.buffer, body.byteOffset, body.byteLength) : undefined;
}

function jsonOf(body: unknown, headers: IncomingMessage["headers"]): Buffer | undefined {
  const isJson = /^application\/(?:[\w.-]+\+)?json\b/i.test(headers["content-type"] ?? "");
  return isJson && typeof body === "object" && body !== null ? Buffer.from(JSON.stringify(body)) : undefined;
}
