import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import { create, equals } from "@bufbuild/protobuf";

type Telling = "skills" | "securitySchemes" | "securityRequirements";

const telling: readonly (readonly [member: Telling, words: string])[] = [
  ["skills", "skills"],
  ["securitySchemes", "security schemes"],
  ["securityRequirements", "security requirements"],
];

/** What callers must hear of and that has changed, although the version has not: those who keep cards by version do not look. */
export function unannouncedChanges(before: AgentCard, after: AgentCard): readonly string[] {
  if (before.version !== after.version) {
    return [];
  }
  return telling.filter(([member]) => !isSame(member, before, after)).map(([, words]) => words);
}

/** Whatever the order of a map. */
function isSame(member: Telling, before: AgentCard, after: AgentCard): boolean {
  const [one, other] = [before, after].map((card) => create(AgentCardSchema, { [member]: card[member] }));
  return one !== undefined && other !== undefined && equals(AgentCardSchema, one, other);
}
