import { a2aError, methods } from "@a2a-connect/core";
import {
  absentProtocolVersion,
  protocolVersion,
  readProtocolVersion,
  versionHeader,
} from "@a2a-connect/core/internal";
import type { ConnectError } from "@connectrpc/connect";
import type { HttpRequest } from "./http.ts";
import { splitTarget } from "./http-json/split-target.ts";
import { olderMethods } from "./v03/methods.ts";

/** The operation that replaced each JSON-RPC method of A2A 0.3. `tasks/list` was announced, and came with 1.0. */
const operations: ReadonlyMap<string, string> = new Map([
  ...olderMethods.map(({ name, operation }) => [name, methods[operation].name] as const),
  ["tasks/list", methods.listTasks.name],
]);

/** Whether a request that 0.3 has a name for is one of 0.3: it says so, or names no version. */
export function asksForOlder({ url, header }: Pick<HttpRequest, "url" | "header">): boolean {
  return readProtocolVersion(header, splitTarget(url).query) === absentProtocolVersion;
}

/** Why a JSON-RPC method of A2A 0.3 is refused; undefined for every other method. */
export function refuseOlderMethod(method: string): ConnectError | undefined {
  const operation = operations.get(method);
  return operation === undefined
    ? undefined
    : olderProtocol(`the method ${JSON.stringify(method)} is`, `call ${operation}`);
}

/**
 * Why an HTTP+JSON path of A2A 0.3 is refused. Such a path is below /v1, which would otherwise be a tenant, and its
 * request names no version.
 */
export function refuseOlderPath(
  path: string,
  query: URLSearchParams,
  { header }: Pick<HttpRequest, "header">,
): ConnectError | undefined {
  return path.startsWith("/v1/") && readProtocolVersion(header, query) === absentProtocolVersion
    ? olderProtocol("paths below /v1 are", "leave /v1 out")
    : undefined;
}

/** Why a gRPC, gRPC-Web or Connect call to the service of A2A 0.3 is refused. */
export function refuseOlderRpc({ url }: Pick<HttpRequest, "url">): ConnectError | undefined {
  return url.includes("/a2a.v1.A2AService/")
    ? olderProtocol("the service a2a.v1.A2AService is", `call ${methods.sendMessage.desc.parent.typeName}`)
    : undefined;
}

function olderProtocol(what: string, todo: string): ConnectError {
  return a2aError(
    "VERSION_NOT_SUPPORTED",
    `${what} of A2A ${absentProtocolVersion}, and this interface speaks ${protocolVersion}: ${todo}, with the header "${versionHeader}: ${protocolVersion}"`,
    { supportedVersions: protocolVersion },
  );
}
