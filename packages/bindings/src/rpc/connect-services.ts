import { a2aError } from "@a2a-connect/core";
import {
  inThreadTurn,
  longestTimerMs,
  runtimeKey,
  SharedBudget,
  scaleToHeap,
} from "@a2a-connect/core/internal";
import {
  type ConnectError,
  type ConnectRouter,
  createConnectRouter,
  createContextValues,
  type Interceptor,
} from "@connectrpc/connect";
import type { Compression, UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import {
  headerTimeout as connectTimeout,
  parseTimeout as parseConnectTimeout,
} from "@connectrpc/connect/protocol-connect";
import {
  headerTimeout as grpcTimeout,
  parseTimeout as parseGrpcTimeout,
} from "@connectrpc/connect/protocol-grpc";
import { explainFailure } from "../failure.ts";
import type { HttpHandler, HttpRequest, HttpResponse } from "../http.ts";
import type { BindingSettings } from "../options.ts";
import { translateErrors } from "../translate-errors.ts";
import { endConnectStream } from "./connect-stream.ts";
import { plainRpcError, refuseContentType, refuseRpc, refuseVerb } from "./plain-error.ts";
import { whenEnded, withPlainStatusMessage } from "./status-trailer.ts";
import { type MessageRules, messageOptions, withValidMessages } from "./valid-messages.ts";

/**
 * Streams of one method that may be open at a time; a caller has 7/8 of them at most. What they take in memory is not counted: up to
 * half a megabyte when the caller sends on and on and reads nothing, else some tens of kilobytes.
 */
const maxStreams = {
  bidi_streaming: scaleToHeap(128),
  client_streaming: scaleToHeap(128),
  server_streaming: scaleToHeap(1_000),
};

/** The longest request for services beside A2A, compressed and decompressed: the name of a service or of a symbol. */
export const maxMessageBytes: number = 64 * 1024;

/**
 * Services beside A2A, such as health and reflection, on Connect's own handlers: they may stream in both directions,
 * and callers use them rarely. Their answers are short, because each is made at once and counts nowhere; a service with others is
 * for `createServiceHandlers`.
 *
 * @returns a handler for each method, by its path
 */
export function serveOnConnect(
  register: (router: ConnectRouter) => void,
  settings: BindingSettings,
): [path: string, HttpHandler][] {
  const { maxBodyBytes, compressions, compressMinBytes, interceptors } = settings;
  const readMaxBytes = Math.min(maxBodyBytes, maxMessageBytes);
  const acceptCompression = compressions.map(inTurns);
  const router = createConnectRouter({
    readMaxBytes,
    binaryOptions: messageOptions,
    acceptCompression,
    compressMinBytes,
    interceptors: [explainInterceptor(settings), ...interceptors],
  });
  register(router);
  return router.handlers.map((handler) => {
    const { methodKind, input: desc } = handler.method;
    const rules = { desc, maxBytes: readMaxBytes, compressions: acceptCompression };
    const serve = adapt(handler, rules);
    return [
      handler.requestPath,
      methodKind === "unary" ? serve : limitStreams(maxStreams[methodKind], serve),
    ];
  });
}

/** Messages of these services that are compressed or decompressed, or wait for that, at a time. They count nowhere, and few calls need it. */
const maxCompressing = 64;

let compressing = 0;

/** The callers of these services take turns with all others as one caller: Connect does not tell them apart here. */
const sharedTurn = {};

/** Otherwise messages made to take long would have all of Node's threads. */
function inTurns({ name, compress, decompress }: Compression): Compression {
  const run = async (work: () => Promise<Uint8Array<ArrayBuffer>>): Promise<Uint8Array<ArrayBuffer>> => {
    if (compressing === maxCompressing) {
      throw a2aError(
        "CAPACITY",
        "too many messages are compressed or decompressed at a time; send and accept uncompressed ones, or try again later",
      );
    }
    compressing += 1;
    try {
      return await inThreadTurn(sharedTurn, work);
    } finally {
      compressing -= 1;
    }
  };
  return {
    name,
    compress: (bytes) => run(() => compress(bytes)),
    decompress: (bytes, readMaxBytes) => run(() => decompress(bytes, readMaxBytes)),
  };
}

function adapt(handler: UniversalHandler, rules: MessageRules): HttpHandler {
  return async (request) => {
    const contextValues = createContextValues().set(runtimeKey, request);
    const { httpVersion, url, method, signal } = request;
    const header = withoutLongTimeouts(request.header);
    const call = withValidMessages({ httpVersion, url, method, header, body: request.body, signal }, rules);
    const response = await handler({ ...call, contextValues });
    return withPlainStatusMessage(explainStatus(response, handler));
  };
}

const timeouts = [
  [connectTimeout, parseConnectTimeout],
  [grpcTimeout, parseGrpcTimeout],
] as const;

/** A deadline that no timer can keep is none. Connect would end the call at once. */
function withoutLongTimeouts(header: Headers): Headers {
  const long = timeouts.filter(
    ([name, parse]) => (parse(header.get(name), longestTimerMs).timeoutMs ?? 0) > longestTimerMs,
  );
  if (long.length === 0) return header;
  const kept = new Headers(header);
  for (const [name] of long) kept.delete(name);
  return kept;
}

/** Refuses streams beyond their number, of all callers and of one, before Connect makes a call of them. */
function limitStreams(max: number, serve: HttpHandler): HttpHandler {
  const words = `most of ${max} streams of this method are open; try again in a second or later`;
  const refusal = a2aError("CAPACITY", words, { retryAfterSeconds: "1" });
  const budget = new SharedBudget({ max, maxShare: 7 / 8, refuse: () => refusal });
  return async (request) => {
    const open = budget.open(request.callerNetwork);
    try {
      open.add(1);
    } catch {
      return refuseStream(request, refusal);
    }
    try {
      const { body, ...head } = await serve(request);
      if (typeof body === "object" && !(body instanceof Uint8Array)) {
        return { ...head, body: whenEnded(body, () => open.end()) };
      }
      open.end();
      return body === undefined ? head : { ...head, body };
    } catch (error) {
      open.end();
      throw error;
    }
  };
}

/** It costs next to nothing, and leaves nothing open: a caller may have thousands of streams refused. */
function refuseStream(request: HttpRequest, error: ConnectError): HttpResponse {
  const type = request.header.get("content-type") ?? "";
  const refused = type.startsWith("application/connect+")
    ? { status: 200, header: new Headers({ "content-type": type }), body: endConnectStream(error) }
    : (refuseRpc(request, error, 429) ?? refuseContentType());
  return { ...refused, endsRequest: true };
}

/** Connect refuses a request that is not a call with a bare status; this adds the body. */
function explainStatus(
  response: UniversalServerResponse,
  { allowedMethods }: UniversalHandler,
): HttpResponse {
  if (response.body !== undefined || response.status < 400) {
    return response;
  }
  switch (response.status) {
    case 405:
      return refuseVerb(allowedMethods);
    case 415:
      return refuseContentType();
    default:
      return plainRpcError(response.status, "this call needs HTTP/2", response.header);
  }
}

/** The outermost interceptor: replaces errors that a caller must not see. */
function explainInterceptor(settings: BindingSettings): Interceptor {
  return translateErrors((thrown, { header, method }) =>
    explainFailure(thrown, { wire: wireOf(header), method: method.name }, settings),
  );
}

/** The protocol of a call by its headers. */
function wireOf(header: Headers): string {
  const type = header.get("content-type") ?? "";
  if (!type.startsWith("application/grpc")) {
    return "connect";
  }
  return type.startsWith("application/grpc-web") ? "grpc-web" : "grpc";
}
