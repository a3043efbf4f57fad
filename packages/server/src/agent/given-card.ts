import type { AgentDefinition, CardDefinition } from "./agent-definition.ts";

/**
 * The agent with a copy of its card, so that later changes by its author have no effect. Such changes would be served
 * without having been checked.
 */
export function withCard(agent: AgentDefinition, card: CardDefinition): AgentDefinition {
  const members = {
    ...Object.getOwnPropertyDescriptors(agent),
    card: { value: copyOf(card), enumerable: true },
  };
  // With the prototype: an agent may be an instance of its author's class.
  return Object.create(Object.getPrototypeOf(agent), members);
}

/** Copies lists and plain objects at all depths; functions and instances of classes stay the same. */
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
