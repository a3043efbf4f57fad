import { formatFieldPath } from "@a2a-connect/core";
import type { JsonObject } from "@bufbuild/protobuf";
import { checkMembers } from "../option-members.ts";
import { type CardSecurity, type Requirement, readCardSecurity } from "./card-security.ts";
import { isExposed, readEndpoint } from "./endpoint.ts";
import { quote, quoteList, type SecurityFinding } from "./finding.ts";
import { findAddresses } from "./scheme-addresses.ts";
import { hasDeprecatedFlow } from "./scheme-strength.ts";
import type { MinimumSecurity } from "./trust-policy.ts";

/**
 * What a card lacks of what must be declared. Requirements of skills count as those of the card: they may stand in their place.
 *
 * @param card canonical JSON. Total: what is not as it should be declares nothing.
 * @throws TypeError when `minimum` has a member that means nothing
 */
export function findMissingSecurity(card: JsonObject, minimum: MinimumSecurity): SecurityFinding[] {
  checkMembers("minimumSecurity of a trust policy", minimum);
  const security = readCardSecurity(card);
  return [
    ...(minimum.requirements === true || minimum.schemes !== undefined
      ? findOpenDoors(security, minimum.schemes)
      : []),
    ...(minimum.tls === true ? [...findExposedInterfaces(security), ...findExposedAddresses(security)] : []),
  ];
}

function findOpenDoors(security: CardSecurity, kinds: readonly string[] | undefined): SecurityFinding[] {
  const { requirements, schemes, skills } = security;
  const judge = (requirement: Requirement, path: readonly (string | number)[]): SecurityFinding[] => {
    const text = judgeRequirement(requirement, schemes, kinds);
    return text === undefined ? [] : [{ text, path: formatFieldPath(path) }];
  };
  const path = "securityRequirements";
  return [
    ...(requirements.length === 0 ? [{ text: "No credentials are demanded.", path }] : []),
    ...requirements.flatMap((requirement, index) => judge(requirement, [path, index])),
    ...skills.flatMap((skill, place) =>
      skill.requirements.flatMap((requirement, index) => judge(requirement, ["skills", place, path, index])),
    ),
  ];
}

function judgeRequirement(
  requirement: Requirement,
  schemes: CardSecurity["schemes"],
  kinds: readonly string[] | undefined,
): string | undefined {
  const names = [...requirement.keys()];
  if (names.length === 0) {
    return "Callers are let in without credentials.";
  }
  const unknown = names.find((name) => schemes.get(name)?.kind === undefined);
  if (unknown !== undefined) {
    const why = schemes.has(unknown) ? "is of no kind that is known" : "the card does not declare";
    return `Callers are asked for ${quote(unknown)}, which ${why}.`;
  }
  return kinds === undefined ? undefined : judgeKinds(names, schemes, kinds);
}

function judgeKinds(
  names: readonly string[],
  schemes: CardSecurity["schemes"],
  kinds: readonly string[],
): string | undefined {
  const used = names
    .map((name) => schemes.get(name))
    .filter((scheme) => scheme?.kind !== undefined && kinds.includes(scheme.kind));
  if (used.length === 0) {
    return `Callers are let in with ${quoteList(names)}, which is none of ${kinds.join(", ")}.`;
  }
  return used.every((scheme) => scheme !== undefined && hasDeprecatedFlow(scheme))
    ? `Callers are let in with ${quoteList(names)}, whose flow OAuth 2.1 has given up.`
    : undefined;
}

function findExposedAddresses({ schemes }: CardSecurity): SecurityFinding[] {
  return [...schemes].flatMap(([name, scheme]) =>
    findAddresses(name, scheme).flatMap(({ subject, url, path }) => {
      const endpoint = readEndpoint(url);
      const text = isExposed(endpoint)
        ? `${subject} is reached without TLS, at ${quote(url)}.`
        : endpoint.transport === "unknown" || endpoint.transport === "unsaid"
          ? `${subject} may or may not be reached by TLS, at ${quote(url)}.`
          : undefined;
      return text === undefined ? [] : [{ text, path }];
    }),
  );
}

function findExposedInterfaces({ interfaces }: CardSecurity): SecurityFinding[] {
  return interfaces.flatMap(({ url }, index) => {
    const endpoint = readEndpoint(url);
    const text = isExposed(endpoint)
      ? `An interface is reached without TLS, at ${quote(url)}.`
      : endpoint.transport === "unknown"
        ? `Nobody knows whether the interface at ${quote(url)} is reached by TLS.`
        : undefined;
    return text === undefined ? [] : [{ text, path: formatFieldPath(["supportedInterfaces", index, "url"]) }];
  });
}
