import { type MethodLocalName, methods } from "@a2a-connect/core";
import { encodeMessage } from "@a2a-connect/core/internal";
import type { A2AService } from "@a2a-connect/proto";
import { create, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import type { GrpcAnswer } from "./platform.ts";
import type { Target } from "./target.ts";

/** A gRPC call of an operation, as `Platform.postGrpc` makes it. */
export function callGrpc<Name extends MethodLocalName>(
  target: Target,
  operation: Name,
  request: MessageInitShape<(typeof A2AService.method)[Name]["input"]>,
  ...more: [metadata?: Readonly<Record<string, string>>, address?: string]
): Promise<GrpcAnswer> {
  const { desc, grpcPath } = methods[operation];
  const input: DescMessage = desc.input;
  return target.platform.postGrpc(target, grpcPath, encodeMessage(input, create(input, request)), ...more);
}
