import type { AgentDefinition, CardDefinition } from "./agent-definition.ts";

/**
 * The agent with a card that nobody else holds: what its author does afterwards with what he gave changes nothing. It would be
 * served without ever having been looked at.
 */
export function withCard(agent: AgentDefinition, card: CardDefinition): AgentDefinition {
  const members = {
    ...Object.getOwnPropertyDescriptors(agent),
    card: { value: copyOf(card), enumerable: true },
  };
  // With the prototype: an agent may be an instance of somebody's class.
  return Object.create(Object.getPrototypeOf(agent), members);
}

/** Lists and plain objects are copied all the way down; functions, and objects of a class, are what they are. */
function copyOf<T>(value: T): T;
function copyOf(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(copyOf);
  }
  return isPlainObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, copyOf(member)]))
    : value;
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== "object" || value === null) {
    return false;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
