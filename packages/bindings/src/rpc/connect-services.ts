import { type ConnectRouter, createConnectRouter, type Interceptor } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { explainFailure } from "../failure.ts";
import type { HttpHandler, HttpResponse } from "../http.ts";
import type { BindingSettings } from "../options.ts";
import { plainRpcError, refuseContentType, refuseVerb } from "./plain-error.ts";
import { withPlainStatusMessage } from "./status-message.ts";

/** The longest message for these services, compressed and decompressed: the name of a service or of a symbol. */
const maxMessageBytes = 64 * 1024;

/**
 * Services beside A2A, such as health and reflection, on Connect's own handlers: they may stream in both directions,
 * and callers use them rarely.
 *
 * @returns a handler for each method, by its path
 */
export function serveOnConnect(
  register: (router: ConnectRouter) => void,
  settings: BindingSettings,
): [path: string, HttpHandler][] {
  const { maxBodyBytes, compressions, compressMinBytes, interceptors } = settings;
  const router = createConnectRouter({
    readMaxBytes: Math.min(maxBodyBytes, maxMessageBytes),
    acceptCompression: [...compressions],
    compressMinBytes,
    interceptors: [explainInterceptor(settings), ...interceptors],
  });
  register(router);
  return router.handlers.map((handler) => [handler.requestPath, adapt(handler)]);
}

function adapt(handler: UniversalHandler): HttpHandler {
  return async (request) => withPlainStatusMessage(explainStatus(await handler(request), handler));
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
  return (next) => async (request) => {
    const explain = (thrown: unknown) =>
      explainFailure(thrown, { wire: wireOf(request.header), method: request.method.name }, settings);
    try {
      const response = await next(request);
      return response.stream ? { ...response, message: explainEach(response.message, explain) } : response;
    } catch (thrown) {
      throw explain(thrown);
    }
  };
}

async function* explainEach<T>(
  messages: AsyncIterable<T>,
  explain: (thrown: unknown) => Error,
): AsyncGenerator<T, void> {
  try {
    yield* messages;
  } catch (thrown) {
    throw explain(thrown);
  }
}

/** The protocol of a call by its headers. */
function wireOf(header: Headers): string {
  const type = header.get("content-type") ?? "";
  if (!type.startsWith("application/grpc")) {
    return "connect";
  }
  return type.startsWith("application/grpc-web") ? "grpc-web" : "grpc";
}
