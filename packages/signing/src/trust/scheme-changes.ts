import { formatFieldPath } from "@a2a-connect/core";
import type { JsonObject } from "@bufbuild/protobuf";
import type { CardSecurity } from "./card-security.ts";
import type { DeclaredScheme } from "./declared-scheme.ts";
import { quote, type SecurityFinding } from "./finding.ts";
import { objectOf, textOf } from "./json-access.ts";

type Schemes = CardSecurity["schemes"];

/** Security schemes that are gone, and for which nothing as strong is there, or which callers are still asked for. */
export function findLostSchemes(before: CardSecurity, after: CardSecurity): SecurityFinding[] {
  const isMissed = findWhetherMissed(before.schemes, after.schemes);
  const named = namedSchemes(after);
  return [...before.schemes].flatMap(([name, scheme]) => {
    if (after.schemes.has(name)) {
      return [];
    }
    const why = isMissed(scheme)
      ? "and nothing as strong has taken its place"
      : named.has(name)
        ? "though callers are still asked for it"
        : undefined;
    const path = formatFieldPath(["securitySchemes", name]);
    return why === undefined ? [] : [{ text: `The security scheme ${quote(name)} is gone, ${why}.`, path }];
  });
}

/** What is weaker about the security schemes that are still there. */
export function findWeakenedSchemes(before: Schemes, after: Schemes): SecurityFinding[] {
  return [...before].flatMap(([name, was]) => {
    const is = after.get(name);
    return is === undefined ? [] : findChanges(name, was, is);
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

/** What the requirements of a card and of its skills name. */
function namedSchemes({ requirements, skills }: CardSecurity): ReadonlySet<string> {
  const lists = [requirements, ...skills.map((skill) => skill.requirements)];
  return new Set(lists.flatMap((list) => list.flatMap((requirement) => [...requirement.keys()])));
}

function findChanges(name: string, before: DeclaredScheme, after: DeclaredScheme): SecurityFinding[] {
  const subject = `The security scheme ${quote(name)}`;
  const path = ["securitySchemes", name, ...(after.kind === undefined ? [] : [after.kind])];
  const findings: SecurityFinding[] = [];
  if (after.strength < before.strength) {
    const text =
      before.kind === after.kind
        ? `${subject} is used in a weaker way.`
        : `${subject} is of a weaker kind: ${after.kind ?? "none that is known"}, no longer ${before.kind}.`;
    findings.push({ text, path: formatFieldPath(path) });
  } else if (isDpop(before) && !isDpop(after) && after.kind !== "mtlsSecurityScheme") {
    findings.push({ text: `${subject} no longer binds tokens to their owner.`, path: formatFieldPath(path) });
  }
  return [...findings, ...findLostPkce(subject, path, before, after)];
}

/** A code that somebody intercepts is worth nothing to him with PKCE. Device codes, which people type in, know no such thing. */
function findLostPkce(
  subject: string,
  path: readonly string[],
  before: DeclaredScheme,
  after: DeclaredScheme,
): SecurityFinding[] {
  const [was, is] = [flowsOf(before), flowsOf(after)];
  if (!demandsPkce(was)) {
    return [];
  }
  const findings: SecurityFinding[] = [];
  if (Object.hasOwn(is, "authorizationCode") && !demandsPkce(is)) {
    findings.push({
      text: `${subject} no longer demands PKCE.`,
      path: formatFieldPath([...path, "flows", "authorizationCode", "pkceRequired"]),
    });
  }
  if (Object.hasOwn(is, "deviceCode") && !Object.hasOwn(was, "deviceCode")) {
    findings.push({
      text: `${subject} has tokens by device code, without the PKCE that it demanded.`,
      path: formatFieldPath([...path, "flows", "deviceCode"]),
    });
  }
  return findings;
}

function flowsOf({ kind, content }: DeclaredScheme): JsonObject {
  return kind === "oauth2SecurityScheme" ? objectOf(content["flows"]) : {};
}

function demandsPkce(flows: JsonObject): boolean {
  return (
    Object.hasOwn(flows, "authorizationCode") && objectOf(flows["authorizationCode"])["pkceRequired"] === true
  );
}

function isDpop({ kind, content }: DeclaredScheme): boolean {
  return kind === "httpAuthSecurityScheme" && textOf(content["scheme"]).toLowerCase() === "dpop";
}
