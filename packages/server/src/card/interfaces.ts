import { connectBinding, grpcWebBinding } from "@a2a-connect/core/internal";
import { type AgentInterface, AgentInterfaceSchema } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";

/** Where each wire is mounted; undefined: not served. Paths begin with "/" and do not end with one. */
export interface Mounts {
  /** gRPC, gRPC-Web and Connect; always at the root, because gRPC knows no prefix. */
  readonly rpc: boolean;
  readonly jsonRpc: string | undefined;
  readonly httpJson: string | undefined;
}

/** Where an agent is among others of the same listener. */
export interface AgentPlace {
  /** Everything of the agent that has a path is below this one, such as `/agents/translator`; no trailing slash. */
  readonly path: string;
  /** What tells its calls from those of the others on gRPC, gRPC-Web and Connect, which are at the root for all. */
  readonly tenant: string;
  /** Whether calls without a tenant are for this agent, too. Default false. */
  readonly isDefault?: boolean;
}

/** What decides which interfaces there are. */
export interface InterfaceFacts {
  readonly mounts: Mounts;
  readonly protocolVersions: readonly string[];
  /** Where the agent is when it is not alone; interfaces that its path tells apart have no tenant. */
  readonly place?: AgentPlace | undefined;
  /** Whether callers come through a mount in another server, which cannot serve gRPC. */
  readonly mounted: boolean;
}

/**
 * The interfaces of a card, preferred first: JSONRPC, HTTP+JSON, GRPC, then our own Connect and gRPC-Web, for each
 * version offered (spec §5.8, §8.3).
 *
 * @param baseUrl public URL of the listener, or of the mount, without a trailing slash
 */
export function deriveInterfaces(
  baseUrl: string,
  { mounts, protocolVersions, place, mounted }: InterfaceFacts,
): AgentInterface[] {
  const agentUrl = baseUrl + (place?.path ?? "");
  const tenant = place?.tenant ?? "";
  const served: readonly [binding: string, url: string | undefined, tenant: string][] = [
    ["JSONRPC", mounts.jsonRpc === undefined ? undefined : agentUrl + mounts.jsonRpc, ""],
    ["HTTP+JSON", mounts.httpJson === undefined ? undefined : agentUrl + mounts.httpJson, ""],
    ["GRPC", mounts.rpc && !mounted ? grpcTarget(baseUrl) : undefined, tenant],
    [connectBinding, mounts.rpc ? baseUrl : undefined, tenant],
    [grpcWebBinding, mounts.rpc ? baseUrl : undefined, tenant],
  ];
  return protocolVersions.flatMap((protocolVersion) =>
    served.flatMap(([protocolBinding, url, tenant]) =>
      url === undefined
        ? []
        : [create(AgentInterfaceSchema, { url, protocolBinding, protocolVersion, tenant })],
    ),
  );
}

/** A bare `host:port`, which gRPC clients dial as it stands (requirement J-2). */
function grpcTarget(baseUrl: string): string {
  const { hostname, port, protocol } = new URL(baseUrl);
  return `${hostname}:${port || (protocol === "https:" ? "443" : "80")}`;
}
