import type { HttpHandler } from "@a2a-connect/bindings";
import { createRpcHandlers } from "@a2a-connect/bindings/server";
import { methods } from "@a2a-connect/core";
import { A2AService } from "@a2a-connect/proto";
import {
  type CallOptions,
  createClient,
  createServiceImplSpec,
  type HandlerContext,
  type ServiceImpl,
  type Transport,
} from "@connectrpc/connect";

/** Fields of a call that belong to its wire, or that browsers add. */
const ownFields =
  /^(?:content-|grpc-|connect-|x-grpc-web|x-user-agent|te|host|origin|referer|cookie|connection|accept|user-agent|sec-)/;

/** Fields of an answer that the handlers write themselves. */
const answerFields = /^(?:content-|grpc-|date|trailer)/;

/** Fields of an answer that a browser would obey for the page's origin: cookies, for one, count on all ports of this machine. */
export const originFields: RegExp =
  /^(?:set-cookie2?$|access-control-|clear-site-data$|strict-transport-security$|refresh$|link$)/;

/**
 * Answers calls over gRPC-Web by calls over gRPC, because a page cannot speak it: the same messages, header fields and errors.
 * @returns a handler for each operation, by its path
 */
export function createGrpcBridge(transport: Transport): ReadonlyMap<string, HttpHandler> {
  const client = createClient(A2AService, transport) as unknown as Record<
    string,
    (request: unknown, options: CallOptions) => unknown
  >; // each operation by its name
  const operations = Object.values(methods).map(({ localName }) => [
    localName,
    (request: unknown, context: HandlerContext) => client[localName]?.(request, passOn(context)),
  ]);
  const service = createServiceImplSpec<typeof A2AService>(
    A2AService,
    Object.fromEntries(operations) as ServiceImpl<typeof A2AService>, // a client's operation answers as a service's does
  );
  return createRpcHandlers(service);
}

function passOn({ requestHeader, responseHeader, responseTrailer, signal }: HandlerContext): CallOptions {
  const copy = (to: Headers) => (from: Headers) => {
    for (const [name, value] of from)
      if (!answerFields.test(name) && !originFields.test(name)) to.set(name, value);
  };
  return {
    signal,
    headers: [...requestHeader].filter(([name]) => !ownFields.test(name)),
    onHeader: copy(responseHeader),
    onTrailer: copy(responseTrailer),
  };
}
