import { formatFieldPath } from "@a2a-connect/core";
import type { JsonObject } from "@bufbuild/protobuf";
import type { CardSecurity } from "./card-security.ts";
import type { DeclaredScheme } from "./declared-scheme.ts";
import { quote, type SecurityFinding } from "./finding.ts";
import { objectOf } from "./json-access.ts";
import { findOtherAddresses } from "./scheme-addresses.ts";

type Schemes = CardSecurity["schemes"];

/** Findings about security schemes: those that are gone, and those that are not what they were. */
export function findWeakerSchemes(before: Schemes, after: Schemes): SecurityFinding[] {
  const isMissed = findWhetherMissed(before, after);
  return [...before].flatMap(([name, scheme]) => {
    const now = after.get(name);
    if (now !== undefined) {
      return findChanges(name, scheme, now);
    }
    const text = `The security scheme ${quote(name)} is gone, and nothing as strong has taken its place.`;
    return isMissed(scheme) ? [{ text, path: formatFieldPath(["securitySchemes", name]) }] : [];
  });
}

/**
 * A scheme that is gone is missed, unless its callers have what is as good: the same under another name, one as strong that was
 * there before, or a stronger one. Whether one less is demanded is for the requirements to say.
 */
function findWhetherMissed(before: Schemes, after: Schemes): (scheme: DeclaredScheme) => boolean {
  const identities = new Set<string>();
  let strongest = -1;
  for (const [name, { identity, strength }] of after) {
    identities.add(identity);
    strongest = Math.max(strongest, before.has(name) ? strength : strength - 1);
  }
  return ({ identity, strength }) => strength > strongest && !identities.has(identity);
}

function findChanges(name: string, before: DeclaredScheme, after: DeclaredScheme): SecurityFinding[] {
  const path = ["securitySchemes", name, ...(after.kind === undefined ? [] : [after.kind])];
  const findings: SecurityFinding[] = [];
  if (after.strength < before.strength) {
    const text =
      before.kind === after.kind
        ? `The security scheme ${quote(name)} is used in a weaker way.`
        : `The security scheme ${quote(name)} is of a weaker kind: ${after.kind ?? "none that is known"}, no longer ${before.kind}.`;
    findings.push({ text, path: formatFieldPath(path) });
  }
  const [pkceBefore, pkceAfter] = [pkceOf(before), pkceOf(after)];
  if (pkceBefore === "demanded" && pkceAfter === "possible") {
    const text = `The security scheme ${quote(name)} no longer demands PKCE.`;
    findings.push({
      text,
      path: formatFieldPath([...path, "flows", "authorizationCode", "pkceRequired"]),
    });
  }
  return [...findings, ...findOtherAddresses(name, before, after)];
}

/** Undefined where there is no authorization code to protect. */
function pkceOf({ kind, content }: DeclaredScheme): "demanded" | "possible" | undefined {
  const flows: JsonObject = kind === "oauth2SecurityScheme" ? objectOf(content["flows"]) : {};
  if (!Object.hasOwn(flows, "authorizationCode")) {
    return undefined;
  }
  return objectOf(flows["authorizationCode"])["pkceRequired"] === true ? "demanded" : "possible";
}
