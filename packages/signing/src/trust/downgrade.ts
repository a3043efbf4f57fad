import type { JsonObject } from "@bufbuild/protobuf";
import { readCardSecurity } from "./card-security.ts";
import type { SecurityFinding } from "./finding.ts";
import { findWeakerInterfaces } from "./interface-changes.ts";
import { listOf } from "./json-access.ts";
import { findWeakerRequirements } from "./requirement-changes.ts";
import { findWeakerSchemes } from "./scheme-changes.ts";

/**
 * In what a card is weaker than one before, best first by what it opens:
 *
 * - requirements: somebody gets in with less, to the agent or to one of its skills;
 * - schemes: one is gone and nothing as strong is there, is of a weaker kind (`SchemeStrength`), no longer demands PKCE, or has
 *   an address without TLS or on another host;
 * - interfaces: one is on another host, without TLS, or of a lower protocol version;
 * - signatures: there are fewer, where both cards have some.
 *
 * What a card can do, which skills it has, and how it describes itself is not looked at. Neither are ports: a host is its name.
 *
 * @param before canonical JSON, as `after`. Total: what is not as it should be declares nothing.
 */
export function findDowngrades(before: JsonObject, after: JsonObject): SecurityFinding[] {
  const [was, is] = [readCardSecurity(before), readCardSecurity(after)];
  return [
    ...findWeakerRequirements(was, is),
    ...findWeakerSchemes(was.schemes, is.schemes),
    ...findWeakerInterfaces(was.interfaces, is.interfaces),
    ...findFewerSignatures(before, after),
  ];
}

function findFewerSignatures(before: JsonObject, after: JsonObject): SecurityFinding[] {
  const [was, is] = [before, after].map(({ signatures }) => listOf(signatures).length);
  if (was === undefined || is === undefined || is === 0 || is >= was) {
    return [];
  }
  const text = `There ${is === 1 ? "is 1 signature" : `are ${is} signatures`}, no longer ${was}.`;
  return [{ text, path: "signatures" }];
}
