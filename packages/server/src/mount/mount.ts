import type { HttpHandler, HttpRequest } from "@a2a-connect/bindings";
import { refuseRpc } from "@a2a-connect/bindings/server";
import { isLoopbackHost, startTimer, trimSlashes, untilAborted } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import type { AgentServer } from "../agent-server.ts";
import { plainError } from "../plain-routes.ts";

/** A server of one or several agents that another server gives its requests to. */
export type Mountable = Pick<AgentServer, "handle" | "isGated" | "log" | "start" | "stopped">;

/** Where an agent is in another server, and who may call it there. */
export interface MountOptions {
  /**
   * The path below which the other server gives its requests to the agent, such as `/a2a`. A request without it comes from a
   * framework that has removed it. Default: none; `toNodeHandler` then takes what the framework says it has removed.
   */
  readonly path?: string;
  /**
   * Whether everyone who reaches the other server may call the agent, when it has no gate (`auth`). Without both, it answers only
   * requests that certainly come from this machine: over loopback, for a loopback host, without a field that a proxy adds. An
   * interceptor of your own that checks credentials, or the other server's own check of them, needs it, too. Default false.
   */
  readonly open?: boolean;
}

/** A call that has no whole answer yet. */
export interface MountedCall {
  abort(reason: Error): void;
}

/** A server as it is mounted. */
export interface Mount {
  /** Undefined: the options do not say. */
  readonly path: string | undefined;
  /** Whether only requests that have `boundToLoopback` are answered. */
  readonly isPrivate: boolean;
  /** The calls that are told when the server has stopped. */
  readonly calls: Set<MountedCall>;
  readonly handle: HttpHandler;
}

/** How much later streams are cut than executors have ended, so that the executors' last events are still delivered. */
const lastWordsMs = 250;

/**
 * Starts the server with the first request.
 *
 * @throws Error when the path is none
 */
export function createMount(server: Mountable, { path, open = false }: MountOptions): Mount {
  const isPrivate = !open && !server.isGated;
  const calls = new Set<MountedCall>();
  let told = false;
  server.stopped.addEventListener("abort", () => {
    startTimer(lastWordsMs, () => {
      for (const call of calls) call.abort(new ConnectError("the server is shutting down", Code.Unavailable));
    });
  });
  const handle = handleOnceStarted(() => server.start(), server.handle);
  function refusePublic(request: HttpRequest): ReturnType<typeof plainError> {
    if (!told) {
      told = true;
      server.log({ level: "warn", message: `a caller was refused: ${publicCall}` });
    }
    return refuse(request, new ConnectError(publicCall, Code.PermissionDenied), 403, "PERMISSION_DENIED");
  }
  return {
    path: path === undefined ? undefined : parsePath(path),
    isPrivate,
    calls,
    async handle(request) {
      if (isPrivate && request.boundToLoopback !== true) return refusePublic(request);
      if (isGrpc(request)) return refuse(request, noGrpc, 505, "UNIMPLEMENTED");
      return handle(request);
    },
  };
}

/**
 * Lets requests wait until their server has started.
 *
 * @param start called for each request until it has resolved once
 */
export function handleOnceStarted(start: () => Promise<void>, handle: HttpHandler): HttpHandler {
  let isStarted = false;
  return async (request) => {
    if (!isStarted) {
      await untilAborted(start(), request.signal);
      isStarted = true;
      await request.turnToGoOn?.(); // thousands of others have waited, perhaps
    }
    return handle(request);
  };
}

const publicCall =
  "the agent asks no caller who it is, so where it is mounted it answers this machine alone: give it a gate (auth), or say that everyone may call it: open: true (docs/mount.md)";

const noGrpc = new ConnectError(
  "an agent inside another server has no gRPC, which needs HTTP/2 and trailers: its card lists what it has",
  Code.Unimplemented,
);

function refuse(
  request: HttpRequest,
  error: ConnectError,
  status: number,
  name: string,
): ReturnType<typeof plainError> {
  return refuseRpc(request, error, status) ?? plainError(status, name, error.rawMessage);
}

/** Whether it is gRPC itself, not gRPC-Web. */
function isGrpc({ header }: HttpRequest): boolean {
  return /^application\/grpc(?!-web)/i.test(header.get("content-type") ?? "");
}

function parsePath(path: string): string {
  const trimmed = trimSlashes(path);
  if (!/^(?:\/[^/?#\s]+)*$/.test(trimmed)) {
    throw new Error(`the path of a mount begins with "/", such as /a2a; ${JSON.stringify(path)} does not`);
  }
  return trimmed;
}

/** What follows the mount's path in a target; the whole target where it does not begin with the path. */
export function targetBelow(path: string, target: string): string {
  const rest = target.slice(path.length);
  if (!target.startsWith(path)) return target;
  if (rest.startsWith("/")) return rest;
  return rest === "" || rest.startsWith("?") ? `/${rest}` : target;
}

/** What says where a request comes from. */
export interface CallOrigin {
  /** The other end of the connection. */
  readonly remoteAddress: string | undefined;
  /** The hosts that the request names, without a port. */
  readonly hosts: readonly string[];
  /** The names of its header fields, in lower case. */
  readonly fields: Iterable<string>;
}

/** Fields by which proxies, load balancers and tunnels say that they pass on what others have sent. */
const forwardingField =
  /^(?:forwarded$|via$|x-forwarded|x-real-ip$|x-client-ip$|true-client-ip$|cf-|fly-|x-envoy-)/;

/** Whether a request certainly comes from this machine. A proxy on this machine that says nothing of itself cannot be told apart. */
export function comesFromThisMachine({ remoteAddress, hosts, fields }: CallOrigin): boolean {
  const address = remoteAddress?.replace(/^::ffff:/i, "");
  if (address === undefined || !isLoopbackHost(address.includes(":") ? `[${address}]` : address))
    return false;
  return hosts.every(isLoopbackHost) && ![...fields].some((name) => forwardingField.test(name));
}
