import { isObject } from "../json.ts";

/** Members of 0.2 and 0.3 (requirements Q). */
export const olderMembers: ReadonlySet<string> = new Set([
  "url",
  "preferredTransport",
  "additionalInterfaces",
  "protocolVersion",
  "supportsAuthenticatedExtendedCard",
  "security",
  "authentication",
]);

/**
 * The members of a card of 0.2 or 0.3 that 1.0 does not know, and its version, shortened, where it says one. Undefined for a card
 * that has the interfaces of 1.0, or nothing of older versions.
 */
export function findOlderCard(
  json: unknown,
): { readonly members: readonly string[]; readonly version?: string } | undefined {
  if (!isObject(json) || "supportedInterfaces" in json || "supported_interfaces" in json) return undefined;
  const members = Object.keys(json).filter((key) => olderMembers.has(key));
  if (members.length === 0) return undefined;
  const { protocolVersion } = json;
  return { members, ...(typeof protocolVersion === "string" && { version: protocolVersion.slice(0, 20) }) };
}

/** Members that a security scheme of 0.3 has itself; in 1.0 they stand in a member that is named after its kind. */
const schemeMembers = [
  "type",
  "description",
  "in",
  "name",
  "scheme",
  "bearerFormat",
  "flows",
  "oauth2MetadataUrl",
  "openIdConnectUrl",
];

/**
 * The JSON of a card for callers of 1.0 and 0.3 without the members of 0.3: what is signed. Undefined for every other card, such as
 * one that is signed already.
 */
export function withoutOlderMembers(card: unknown): Record<string, unknown> | undefined {
  if (!isObject(card) || !("supportedInterfaces" in card) || "signatures" in card) return undefined;
  if (typeof card["url"] !== "string" || !/^0\./.test(String(card["protocolVersion"]))) return undefined;
  const rest = drop(card, olderMembers);
  const { capabilities, skills, securitySchemes } = rest;
  if (isObject(capabilities)) rest["capabilities"] = drop(capabilities, ["stateTransitionHistory"]);
  if (Array.isArray(skills)) rest["skills"] = skills.map((skill) => drop(skill, ["security"]));
  if (isObject(securitySchemes)) {
    rest["securitySchemes"] = Object.fromEntries(
      Object.entries(securitySchemes).map(([name, scheme]) => [name, drop(scheme, schemeMembers)]),
    );
  }
  return rest;
}

function drop(value: unknown, names: Iterable<string>): Record<string, unknown> {
  const dropped = new Set(names);
  return Object.fromEntries(Object.entries(value ?? {}).filter(([name]) => !dropped.has(name)));
}
