import { isObject } from "@a2a-connect/core/internal";

/** What a card says of its server, as far as it decides which behaviour is demanded of it. */
export type CardFact =
  | "streaming"
  | "no-streaming"
  | "push"
  | "no-push"
  | "extended-card"
  | "no-extended-card"
  /** It declares an extension. */
  | "extensions"
  /** It requires an extension of every call. */
  | "required-extension"
  /** Every alternative of its security requirements names a scheme: no call is for anonymous callers. */
  | "credentials"
  /** It is signed. */
  | "signatures";

/** All that a card says. */
export function findCardFacts({
  capabilities,
  securityRequirements,
  signatures,
}: Readonly<Record<string, unknown>>): ReadonlySet<CardFact> {
  const { streaming, pushNotifications, extendedAgentCard, extensions } = isObject(capabilities)
    ? capabilities
    : {};
  const declared = listOf(extensions);
  const alternatives = listOf(securityRequirements);
  return new Set<CardFact>([
    streaming === true ? "streaming" : "no-streaming",
    pushNotifications === true ? "push" : "no-push",
    extendedAgentCard === true ? "extended-card" : "no-extended-card",
    ...(declared.length > 0 ? (["extensions"] as const) : []),
    ...(declared.some(({ required }) => required === true) ? (["required-extension"] as const) : []),
    ...(alternatives.length > 0 && alternatives.every(namesScheme) ? (["credentials"] as const) : []),
    ...(listOf(signatures).length > 0 ? (["signatures"] as const) : []),
  ]);
}

function namesScheme({ schemes }: Readonly<Record<string, unknown>>): boolean {
  return isObject(schemes) && Object.keys(schemes).length > 0;
}

/** The objects of a list in a card; none where there is no list. */
export function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
