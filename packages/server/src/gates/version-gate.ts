import { a2aError } from "@a2a-connect/core";
import {
  protocolVersionKey,
  readProtocolVersion,
  refuseQuery,
  versionHeader,
} from "@a2a-connect/core/internal";
import type { HandlerContext } from "@connectrpc/connect";
import type { Gate } from "./gate.ts";

/** The supported versions. */
export interface VersionOptions {
  /** `Major.Minor`, best first. */
  readonly protocolVersions: readonly string[];
  /** The version of a request that names none. Default: 0.3, as the specification says (requirement F-4). */
  readonly assumeVersion: string | undefined;
}

/** Refuses unsupported versions, and tells the operations the version of the call (spec §3.6.2). */
export function versionGate({ protocolVersions, assumeVersion }: VersionOptions): Gate {
  const supportedVersions = protocolVersions.join(",");
  return ({ context }) => {
    const query = queryOf(context);
    const absent = !context.requestHeader.get(versionHeader) && !query?.get(versionHeader);
    const version =
      absent && assumeVersion !== undefined
        ? assumeVersion
        : readProtocolVersion(context.requestHeader, query);
    if (!protocolVersions.includes(version)) {
      const asked = absent
        ? "a request without a version means 0.3"
        : `version ${JSON.stringify(version)} was asked for`;
      throw a2aError(
        "VERSION_NOT_SUPPORTED",
        `${asked}, and this interface speaks ${supportedVersions}: send the header "${versionHeader}: ${protocolVersions[0]}"`,
        { supportedVersions },
      );
    }
    context.values.set(protocolVersionKey, version);
  };
}

/** The query may contain service parameters (requirement F-3). @throws ConnectError when it has too many parameters */
export function queryOf({ url }: Pick<HandlerContext, "url">): URLSearchParams | undefined {
  const start = url.indexOf("?");
  if (start === -1) return undefined;
  const text = url.slice(start);
  const refusal = refuseQuery(text);
  if (refusal !== undefined) throw refusal;
  return new URLSearchParams(text);
}
