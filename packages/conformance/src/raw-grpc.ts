import { type MethodLocalName, methods } from "@a2a-connect/core";
import { encodeMessage } from "@a2a-connect/core/internal";
import { type A2AService, GetTaskRequestSchema } from "@a2a-connect/proto";
import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import type { GrpcAnswer } from "./platform.ts";
import type { Target } from "./target.ts";

/** A gRPC call of an operation, as `postGrpc` makes it. */
export function callGrpc<Name extends MethodLocalName>(
  target: Target,
  operation: Name,
  request: MessageInitShape<(typeof A2AService.method)[Name]["input"]>,
  ...more: RestOfCall
): Promise<GrpcAnswer> {
  const { desc, grpcPath } = methods[operation];
  const input: DescMessage = desc.input;
  return postGrpc(target, grpcPath, encodeMessage(input, create(input, request)), ...more);
}

type RestOfCall = [metadata?: Readonly<Record<string, string>>, address?: string];

/** A gRPC call with bytes of our own, in the name of the target's tenant (`Platform.postGrpc`). */
export function postGrpc(
  target: Target,
  path: string,
  message: Uint8Array,
  ...[metadata = { "a2a-version": "1.0" }, address = target.address("grpc")]: RestOfCall
): Promise<GrpcAnswer> {
  const tenant = encodeMessage(
    GetTaskRequestSchema,
    create(GetTaskRequestSchema, { tenant: target.tenant("grpc") }),
  );
  const joined = new Uint8Array(message.length + tenant.length); // what is joined to a message of protobuf is part of it
  joined.set(message);
  joined.set(tenant, message.length);
  return target.platform.postGrpc({
    address,
    path,
    message: joined,
    fields: { ...target.headers, ...metadata },
    tls: target.tls,
    signal: target.signal,
    record: target.record,
  });
}
