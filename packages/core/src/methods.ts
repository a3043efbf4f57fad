import { A2AService } from "@a2a-connect/proto";
import { httpRules } from "@a2a-connect/proto/options";
import type { DescMethod, DescMethodServerStreaming, DescMethodUnary } from "@bufbuild/protobuf";
import { compileHttpRule, type HttpRoute, type HttpRuleParts } from "./http-rule.ts";

/** The local name of a method of A2AService: `sendMessage`, … */
export type MethodLocalName = keyof typeof A2AService.method;

/** A method's name as gRPC and JSON-RPC spell it: `SendMessage`, … */
export type MethodName = Capitalize<MethodLocalName>;

/** All facts about one operation that the wires need, derived from its descriptor. */
export interface RpcMethod {
  readonly name: MethodName;
  readonly localName: MethodLocalName;
  readonly desc: DescMethodUnary | DescMethodServerStreaming;
  /** Path of the gRPC, gRPC-Web and Connect wires: `/lf.a2a.v1.A2AService/GetTask`. */
  readonly grpcPath: string;
  /** Whether the operation answers with a stream of messages. */
  readonly streaming: boolean;
  /** Routes of the HTTP+JSON wire: the rule itself, its additional bindings (tenant variants), then aliases. */
  readonly routes: readonly HttpRoute[];
}

/** The operations of A2AService by local name, in the proto's order. */
export const methods: Readonly<Record<MethodLocalName, RpcMethod>> = Object.fromEntries(
  A2AService.methods.map((desc) => [desc.localName, describeMethod(desc)]),
) as Record<MethodLocalName, RpcMethod>; // the descriptor's methods are exactly these keys

const byName: ReadonlyMap<string, RpcMethod> = new Map(
  Object.values(methods).map((method) => [method.name, method]),
);

/** The operation that JSON-RPC and gRPC call `name`, or undefined. Names are case-sensitive. */
export function methodByName(name: string): RpcMethod | undefined {
  return byName.get(name);
}

function describeMethod(desc: DescMethod): RpcMethod {
  if (!isServable(desc)) {
    throw new Error(`${desc}: client streaming has no HTTP+JSON or JSON-RPC form`);
  }
  const streaming = desc.methodKind === "server_streaming";
  const declared = (httpRules[desc.localName] ?? []).map(([verb, template, body]) => ({
    verb,
    template,
    body,
  }));
  return {
    name: desc.name as MethodName, // the descriptor's names are the capitalized local names
    localName: desc.localName as MethodLocalName,
    desc,
    grpcPath: `/${desc.parent.typeName}/${desc.name}`,
    streaming,
    routes: [...declared, ...(streaming ? postAliases(declared) : [])].map((parts) =>
      compileHttpRule(desc.input, parts),
    ),
  };
}

function isServable(desc: DescMethod): desc is DescMethodUnary | DescMethodServerStreaming {
  return desc.methodKind === "unary" || desc.methodKind === "server_streaming";
}

/**
 * A stream that the proto opens with GET (SubscribeToTask) is also opened with POST: the only routes that are not in
 * the proto. Spec §5.3 and §11.3.2 say POST where the schema says GET, so a server offers both (requirement K-1).
 */
function postAliases(declared: readonly HttpRuleParts[]): HttpRuleParts[] {
  return declared
    .filter(({ verb }) => verb === "GET")
    .map(({ template }) => ({ verb: "POST", template, body: "*" }));
}
