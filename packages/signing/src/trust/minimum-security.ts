import { formatFieldPath } from "@a2a-connect/core/internal";
import { quote, quoteList, type SecurityFinding } from "../verify/verdict.ts";
import { type Address, withoutTls } from "./address.ts";
import { addressesOf, type Outline, type Requirement } from "./outline.ts";
import type { MinimumSecurity } from "./trust-policy.ts";

/**
 * What a card lacks of what must be declared. Requirements of skills count as those of the card: they may stand in their place.
 */
export function findMissingSecurity(outline: Outline, minimum: MinimumSecurity): SecurityFinding[] {
  const { requirements, schemes, tls } = minimum;
  return [
    ...(requirements === true || schemes !== undefined ? findOpenDoors(outline, schemes) : []),
    ...(tls === true ? findExposed(outline.interfaces, "unknown") : []),
    ...(tls === true ? findExposed(addressesOf(outline), "unknown", "unsaid") : []),
  ];
}

function findOpenDoors(
  { requirements, schemes, skills }: Outline,
  kinds: readonly string[] | undefined,
): SecurityFinding[] {
  const judge = (list: readonly Requirement[], path: readonly (string | number)[]): SecurityFinding[] =>
    list.flatMap((requirement, index) => {
      const text = judgeRequirement(requirement, schemes, kinds);
      return text === undefined ? [] : [{ text, path: formatFieldPath([...path, index]) }];
    });
  const path = "securityRequirements";
  return [
    ...(requirements.length === 0 ? [{ text: "No credentials are demanded.", path }] : []),
    ...judge(requirements, [path]),
    ...skills.flatMap((skill, place) => judge(skill.requirements, ["skills", place, path])),
  ];
}

function judgeRequirement(
  requirement: Requirement,
  schemes: Outline["schemes"],
  kinds: readonly string[] | undefined,
): string | undefined {
  const names = [...requirement.keys()];
  if (names.length === 0) return "Callers are let in without credentials.";
  const unknown = names.find((name) => schemes.get(name)?.kind === undefined);
  if (unknown !== undefined) {
    const why = schemes.has(unknown) ? "is of no kind that is known" : "the card does not declare";
    return `Callers are asked for ${quote(unknown)}, which ${why}.`;
  }
  if (kinds === undefined) return undefined;
  const used = names
    .flatMap((name) => schemes.get(name) ?? [])
    .filter(({ kind = "" }) => kinds.includes(kind));
  if (used.length === 0) {
    return `Callers are let in with ${quoteList(names)}, which is none of ${kinds.join(", ")}.`;
  }
  return used.every(({ flows }) => flows.has("implicit") || flows.has("password"))
    ? `Callers are let in with ${quoteList(names)}, whose flow OAuth 2.1 has given up.`
    : undefined;
}

/** @param doubtful ways of which it cannot be said whether they are TLS */
function findExposed(
  addresses: readonly Address[],
  ...doubtful: readonly Address["transport"][]
): SecurityFinding[] {
  return addresses.flatMap((address) => {
    const { subject, url, path, isExposed, transport } = address;
    if (isExposed) return [withoutTls(address)];
    const text = `${subject} may or may not be reached by TLS, at ${quote(url)}.`;
    return doubtful.includes(transport) ? [{ text, path }] : [];
  });
}
