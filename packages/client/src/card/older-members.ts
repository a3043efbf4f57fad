import { isObject, parseProtocolVersion } from "@a2a-connect/core/internal";

/** JSON of a card, with unknown members. */
type CardMembers = Readonly<Record<string, unknown>>;

/**
 * Whether a card is of A2A 0.3 or before: its address is a member of the card itself. A card that also has interfaces
 * of 1.0 is read as 1.0.
 */
export function isOlderCard(json: CardMembers): boolean {
  const interfaces = json["supportedInterfaces"] ?? json["supported_interfaces"] ?? null;
  const marks = ["url", "preferredTransport", "additionalInterfaces", "protocolVersion", "authentication"];
  return interfaces === null && marks.some((mark) => (json[mark] ?? null) !== null);
}

/**
 * A card of 1.0 that also has the members of older versions, with the interfaces that these name after its own.
 *
 * A signature of 1.0 does not cover these members: anyone can add an address to a signed card. So a card with signatures
 * stays as it is.
 */
export function withOlderInterfaces(json: CardMembers): CardMembers {
  const { url, protocolVersion, supportedInterfaces: own } = json;
  const version = typeof protocolVersion === "string" ? parseProtocolVersion(protocolVersion) : "";
  if (
    !isUnset(json["signatures"]) ||
    typeof url !== "string" ||
    !Array.isArray(own) ||
    !version.startsWith("0.")
  ) {
    return json;
  }
  const known = new Set(own.map(keyOf));
  const older = olderInterfaces(json, version).filter((each) => isComplete(each) && !known.has(keyOf(each)));
  return { ...json, supportedInterfaces: [...own, ...older] };
}

/**
 * The members of older versions by which alone a card of 1.0 says who may call, with their paths. A card that has the
 * members of 1.0 as well is read by those.
 */
export function olderSecurityMembers(json: CardMembers): readonly string[] {
  const { skills, securitySchemes: schemes } = json;
  return [
    ...["security", "authentication"].filter((name) => isOnlyOlder(json, name)),
    ...(Array.isArray(skills) ? skills : []).flatMap((skill: unknown, at) =>
      isObject(skill) && isOnlyOlder(skill, "security") ? [`skills[${at}].security`] : [],
    ),
    ...Object.entries(isObject(schemes) ? schemes : {}).flatMap(([name, scheme]) =>
      isOlderScheme(scheme) ? [`securitySchemes.${name}`] : [],
    ),
  ];
}

function isOnlyOlder(members: CardMembers, name: string): boolean {
  const own = members["securityRequirements"] ?? members["security_requirements"];
  return isUnset(own) && !isUnset(members[name]);
}

/** Whether a member says nothing: it is missing, null or an empty list. */
export function isUnset(value: unknown): boolean {
  return (value ?? null) === null || (Array.isArray(value) && value.length === 0);
}

/** Whether a scheme has its kind in `type`, as before 1.0, and not also as a member of 1.0. */
export function isOlderScheme(scheme: unknown): boolean {
  return (
    isObject(scheme) &&
    scheme["type"] !== undefined &&
    !Object.keys(scheme).some((name) => /security_?scheme$/i.test(name))
  );
}

/** What is wrong in members that 1.0 does not have does not make a card of 1.0 wrong. */
function isComplete(each: unknown): boolean {
  return (
    isObject(each) &&
    [each["url"], each["protocolBinding"]].every((text) => typeof text === "string" && text !== "")
  );
}

/** The interfaces of an older card, the preferred one first; the list of the others may repeat it. */
export function olderInterfaces(json: CardMembers, protocolVersion: unknown): readonly unknown[] {
  const { url = null, preferredTransport, additionalInterfaces: listed = null } = json;
  const preferred = { url, protocolBinding: preferredTransport ?? "JSONRPC", protocolVersion };
  if (!Array.isArray(listed)) {
    return listed === null ? [preferred] : [preferred, listed];
  }
  const others = listed.map((each: unknown) =>
    isObject(each)
      ? { url: each["url"] ?? null, protocolBinding: each["transport"] ?? null, protocolVersion }
      : each,
  );
  const key = keyOf(preferred); // once: its address may be as long as the list is
  return [preferred, ...others.filter((each) => keyOf(each) !== key)];
}

function keyOf(each: unknown): string {
  const { url, protocolBinding, protocolVersion } = isObject(each) ? each : {};
  return JSON.stringify([url, protocolBinding, protocolVersion]);
}
