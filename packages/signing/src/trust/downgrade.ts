import type { JsonObject } from "@bufbuild/protobuf";
import { readCardSecurity } from "./card-security.ts";
import type { SecurityFinding } from "./finding.ts";
import { findWeakerInterfaces } from "./interface-changes.ts";
import { findWeakerRequirements } from "./requirement-changes.ts";
import { findOtherAddresses } from "./scheme-addresses.ts";
import { findLostSchemes, findWeakenedSchemes } from "./scheme-changes.ts";

/**
 * In what a card is weaker than one before, best first by what it opens:
 *
 * - requirements: somebody gets in with less, to the agent or to one of its skills;
 * - schemes: one is gone and nothing as strong is there, or it is still demanded; one is of a weaker kind (`SchemeStrength`), no
 *   longer demands PKCE, or no longer binds tokens to their owner;
 * - addresses of schemes, of new ones, too: one is without TLS, or on a host that nothing was on;
 * - interfaces: one is on another host, without TLS, or of a lower protocol version, or one such comes first.
 *
 * Who has signed is for pins and `minSigners`. What a card can do, which skills it has, and how it describes itself is not looked
 * at. What stays on its host is for `findMoves` to say: a host is its name, without a port.
 *
 * What would take too long to be compared is a finding, too, whatever it says.
 *
 * @param before canonical JSON, as `after`. Total: what is not as it should be declares nothing.
 */
export function findDowngrades(before: JsonObject, after: JsonObject): SecurityFinding[] {
  const [was, is] = [readCardSecurity(before), readCardSecurity(after)];
  return [
    ...findWeakerRequirements(was, is),
    ...findLostSchemes(was, is),
    ...findWeakenedSchemes(was.schemes, is.schemes),
    ...findOtherAddresses(was, is),
    ...findWeakerInterfaces(was.interfaces, is.interfaces),
  ];
}

/**
 * In what the extended card of an agent is weaker than its public one: interfaces, and schemes that it declares, in the ways of
 * `findDowngrades`. It may declare fewer schemes, demand less, and have other skills: that is for who is signed in.
 *
 * @param publicBefore canonical JSON of the last public card, as `extended` of the extended one. Total.
 */
export function findExtendedDowngrades(publicBefore: JsonObject, extended: JsonObject): SecurityFinding[] {
  const [was, is] = [readCardSecurity(publicBefore), readCardSecurity(extended)];
  return [
    ...findWeakenedSchemes(was.schemes, is.schemes),
    ...findOtherAddresses(was, is),
    ...findWeakerInterfaces(was.interfaces, is.interfaces),
  ];
}
