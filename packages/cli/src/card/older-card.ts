/** What gives a card of 0.2 or 0.3 away. */
export interface OlderCard {
  /** What it says of itself, shortened; empty when it does not. */
  readonly version: string;
  /** Members that it has, and that 1.0 does not know. */
  readonly members: readonly string[];
}

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

/** Undefined for a card that has the interfaces of 1.0, or nothing of older versions. */
export function findOlderCard(json: unknown): OlderCard | undefined {
  if (
    typeof json !== "object" ||
    json === null ||
    "supportedInterfaces" in json ||
    "supported_interfaces" in json
  ) {
    return undefined;
  }
  const members = Object.keys(json).filter((key) => olderMembers.has(key));
  if (members.length === 0) return undefined;
  const says = "protocolVersion" in json && typeof json.protocolVersion === "string";
  return { version: says ? String(json.protocolVersion).slice(0, 20) : "", members };
}
