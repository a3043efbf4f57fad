import { formatMessage } from "@a2a-connect/core";
import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import type { JsonValue } from "@bufbuild/protobuf";

/**
 * SHA-256 of a card, lowercase hex: over its ProtoJSON without signatures, the members of each object in order of their
 * names. Cards that say the same have the same digest, however they were written and whoever signed them.
 */
export async function cardDigest(card: AgentCard): Promise<string> {
  const json = formatMessage(AgentCardSchema, { ...card, signatures: [] });
  const text = new TextEncoder().encode(JSON.stringify(sortMembers(json)));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", text));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function sortMembers(json: JsonValue): JsonValue {
  if (Array.isArray(json)) {
    return json.map(sortMembers);
  }
  if (typeof json !== "object" || json === null) {
    return json;
  }
  // Not localeCompare: the order must be the same everywhere.
  const members = Object.entries(json).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, value]) => [name, sortMembers(value)]));
}
