import type { RpcMethod } from "@a2a-connect/core";
import type { ConnectRouter, ServiceImplSpec } from "@connectrpc/connect";
import type { HttpHandler } from "../http.ts";
import { type BoundMethod, type BoundOperation, bindMethod, bindOperations } from "../invoke.ts";
import { type BindingOptions, type BindingSettings, resolveOptions } from "../options.ts";
import { bindProtoOperations } from "../v03/proto-calls.ts";
import { maxMessageBytes, serveOnConnect } from "./connect-services.ts";
import { connectStream } from "./connect-stream.ts";
import { connectUnary } from "./connect-unary.ts";
import { grpc } from "./grpc.ts";
import { grpcWeb } from "./grpc-web.ts";
import { refuseContentType, refuseVerb } from "./plain-error.ts";
import type { RpcProtocol } from "./protocol.ts";

/**
 * The server end of gRPC, gRPC-Web and Connect: one handler for each method, by its path (`/lf.a2a.v1.A2AService/…`).
 *
 * @param spec the implementation of A2AService, its gates included
 * @param register adds further services, such as `registerHealth` and `registerReflection`
 */
export function createRpcHandlers(
  spec: ServiceImplSpec,
  options: BindingOptions = {},
  register: (router: ConnectRouter) => void = () => {},
): ReadonlyMap<string, HttpHandler> {
  const settings = resolveOptions(options);
  const handlers = new Map(serveOnConnect(register, settings));
  const operations = bindOperations(spec, settings.interceptors);
  for (const older of settings.olderVersions ? bindProtoOperations(operations) : []) {
    handlers.set(older.method.grpcPath, serve(older, [grpc, grpcWeb], settings));
  }
  for (const { method, bound } of operations) {
    handlers.set(
      method.grpcPath,
      bound.kind === "unary"
        ? serve({ method, bound }, [grpc, grpcWeb, connectUnary], settings)
        : serve({ method, bound }, [grpc, grpcWeb, connectStream], settings),
    );
  }
  return handlers;
}

/**
 * The same for the unary methods of a service beside A2A: its answers may be as large as those of A2A, and are made, compressed and
 * counted as they are.
 */
export function createServiceHandlers(
  { service, methods }: ServiceImplSpec,
  options: BindingOptions = {},
): ReadonlyMap<string, HttpHandler> {
  const settings = resolveOptions(options);
  const limited = { ...settings, maxBodyBytes: Math.min(settings.maxBodyBytes, maxMessageBytes) };
  return new Map(
    Object.values(methods).map((implementation) => {
      const bound = bindMethod(implementation, settings.interceptors);
      if (bound.kind !== "unary") throw new Error(`${bound.desc}: streams are for Connect's own handlers`);
      const { desc } = bound;
      const { name, localName } = desc;
      const grpcPath = `/${service.typeName}/${name}`;
      const method = { name, localName, desc, grpcPath, streaming: false, routes: [] };
      return [
        grpcPath,
        serve({ method: method as unknown as RpcMethod, bound }, [grpc, grpcWeb, connectUnary], limited), // of another service
      ];
    }),
  );
}

function serve<Bound extends BoundMethod>(
  operation: BoundOperation<Bound>,
  protocols: readonly RpcProtocol<Bound>[],
  settings: BindingSettings,
): HttpHandler {
  return (request) => {
    if (request.method !== "POST") {
      return Promise.resolve(refuseVerb(["POST"]));
    }
    const contentType = request.header.get("content-type") ?? "";
    for (const protocol of protocols) {
      const codec = protocol.findCodec(contentType);
      if (codec !== undefined) {
        return protocol.answer(operation, codec, request, settings);
      }
    }
    return Promise.resolve(refuseContentType());
  };
}
