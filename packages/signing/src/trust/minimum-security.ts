import { type Finding, finding, quote, quoteList } from "../verify/verdict.ts";
import { type Address, withoutTls } from "./address.ts";
import { addressesOf, type Outline, type Requirement } from "./outline.ts";
import type { Scheme } from "./scheme.ts";
import type { MinimumSecurity } from "./trust-policy.ts";

/**
 * What a card lacks of what must be declared. Requirements of skills count as those of the card: they may stand in their place.
 */
export function findMissingSecurity(outline: Outline, minimum: MinimumSecurity): Finding[] {
  const { requirements, schemes, tls } = minimum;
  return [
    ...(requirements === true || schemes !== undefined ? findOpenDoors(outline, schemes) : []),
    ...(tls === true ? findExposed(outline.interfaces, "unknown") : []),
    ...(tls === true ? findExposed(addressesOf(outline), "unknown", "unsaid") : []),
  ];
}

function findOpenDoors(
  { requirements, schemes, skills }: Outline,
  kinds: MinimumSecurity["schemes"],
): Finding[] {
  const member = "securityRequirements";
  const judge = (list: readonly Requirement[], ...path: readonly (string | number)[]) =>
    list.flatMap((requirement, index) => {
      const text = judgeRequirement(requirement, schemes, kinds);
      return text === undefined ? [] : finding(text, ...path, member, index);
    });
  return [
    ...(requirements.length === 0 ? [finding("The card demands no credentials.", member)] : []),
    ...judge(requirements),
    ...skills.flatMap((skill, place) => judge(skill.requirements, "skills", place)),
  ];
}

function judgeRequirement(
  requirement: Requirement,
  schemes: Outline["schemes"],
  kinds: MinimumSecurity["schemes"],
): string | undefined {
  const names = [...requirement.keys()];
  if (names.length === 0) return "Callers are let in without credentials.";
  const unknown = names.find((name) => schemes.get(name)?.kind === undefined);
  if (unknown !== undefined)
    return `Callers are asked for ${quote(unknown)}, which the card does not declare as a scheme of a known kind.`;
  const used = names.flatMap((name) => schemes.get(name) ?? []);
  const isGood = ({ kind, flows }: Scheme) =>
    kinds === undefined ||
    (kinds.some((each) => each === kind) && !flows.has("implicit") && !flows.has("password"));
  if (used.some(isGood)) return undefined;
  return `Callers are let in with ${quoteList(names)}, which is not of a demanded kind (${kinds?.join(", ")}), or has a flow that OAuth 2.1 has dropped.`;
}

/** @param doubtful ways of which it cannot be said whether they are TLS */
function findExposed(addresses: readonly Address[], ...doubtful: readonly Address["transport"][]): Finding[] {
  return addresses.flatMap((address) => {
    const { subject, url, path, isExposed, transport } = address;
    if (isExposed) return [withoutTls(address)];
    const text = `${subject} may or may not be reached by TLS, at ${quote(url)}.`;
    return doubtful.includes(transport) ? [{ text, paths: [path] }] : [];
  });
}
