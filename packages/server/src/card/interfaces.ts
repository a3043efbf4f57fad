import { connectBinding, grpcWebBinding } from "@a2a-connect/core";
import { type AgentInterface, AgentInterfaceSchema } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";

/** Where each wire is mounted; undefined: not served. Paths begin with "/" and do not end with one. */
export interface Mounts {
  /** gRPC, gRPC-Web and Connect; always at the root, because gRPC knows no prefix. */
  readonly rpc: boolean;
  readonly jsonRpc: string | undefined;
  readonly httpJson: string | undefined;
}

/**
 * The interfaces of a card, preferred first: JSONRPC, HTTP+JSON, GRPC, then our own Connect and gRPC-Web, for each
 * version offered (spec §5.8, §8.3).
 *
 * @param baseUrl public URL of the listener, without a trailing slash
 */
export function deriveInterfaces(
  baseUrl: string,
  mounts: Mounts,
  protocolVersions: readonly string[],
): AgentInterface[] {
  const urls: [string, string | undefined][] = [
    ["JSONRPC", mounts.jsonRpc === undefined ? undefined : baseUrl + mounts.jsonRpc],
    ["HTTP+JSON", mounts.httpJson === undefined ? undefined : baseUrl + mounts.httpJson],
    ["GRPC", mounts.rpc ? grpcTarget(baseUrl) : undefined],
    [connectBinding, mounts.rpc ? baseUrl : undefined],
    [grpcWebBinding, mounts.rpc ? baseUrl : undefined],
  ];
  return protocolVersions.flatMap((protocolVersion) =>
    urls.flatMap(([protocolBinding, url]) =>
      url === undefined ? [] : [create(AgentInterfaceSchema, { url, protocolBinding, protocolVersion })],
    ),
  );
}

/** A bare `host:port`, which gRPC clients dial as it stands (requirement J-2). */
function grpcTarget(baseUrl: string): string {
  const { hostname, port, protocol } = new URL(baseUrl);
  return `${hostname}:${port || (protocol === "https:" ? "443" : "80")}`;
}
