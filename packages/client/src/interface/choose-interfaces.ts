import { parseProtocolVersion } from "@a2a-connect/core";
import type { AgentCard, AgentInterface } from "@a2a-connect/proto";
import { NoInterfaceError } from "../errors.ts";
import type { ConnectOptions } from "../options.ts";
import type { BindingTransport } from "../platform.ts";
import { knownTransports } from "./known-transports.ts";
export interface Candidate { readonly interface: AgentInterface; readonly binding: BindingTransport; readonly protocolVersion: string }
export function chooseInterfaces(card: AgentCard, options: ConnectOptions): readonly Candidate[] {
  const known = knownTransports(options);
  const versions = options.pinVersion === undefined ? (options.protocolVersions ?? ["1.0"]) : [options.pinVersion];
  const all = card.supportedInterfaces.flatMap((each) => {
    const binding = known.find((k) => k.binding === each.protocolBinding && (options.pinBinding ?? k.binding) === k.binding);
    const protocolVersion = parseProtocolVersion(each.protocolVersion);
    return binding === undefined || !versions.includes(protocolVersion) ? [] : [{ interface: each, binding, protocolVersion }];
  });
  if (all.length === 0) throw new NoInterfaceError("none", card.supportedInterfaces);
  return all;
}
