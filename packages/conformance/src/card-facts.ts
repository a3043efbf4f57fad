import { isObject } from "@a2a-connect/core/internal";

/** A card, as JSON. */
export type CardJson = Readonly<Record<string, unknown>>;

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
export function findCardFacts(card: CardJson): ReadonlySet<CardFact> {
  const { capabilities, securityRequirements, signatures } = card;
  const { streaming, pushNotifications, extendedAgentCard } = isObject(capabilities) ? capabilities : {};
  const alternatives = listOf(securityRequirements);
  return new Set<CardFact>([
    streaming === true ? "streaming" : "no-streaming",
    pushNotifications === true ? "push" : "no-push",
    extendedAgentCard === true ? "extended-card" : "no-extended-card",
    ...(extensionsOf(card).length > 0 ? (["extensions"] as const) : []),
    ...(requiredExtensions(card).length > 0 ? (["required-extension"] as const) : []),
    ...(alternatives.length > 0 && alternatives.every(namesScheme) ? (["credentials"] as const) : []),
    ...(listOf(signatures).length > 0 ? (["signatures"] as const) : []),
  ]);
}

/** The extensions that a card declares. */
export function extensionsOf({ capabilities }: CardJson): readonly Readonly<Record<string, unknown>>[] {
  return isObject(capabilities) ? listOf(capabilities["extensions"]) : [];
}

/** The URIs of those that it requires of every call, as far as a header can name them. */
export function requiredExtensions(card: CardJson): string[] {
  return extensionsOf(card).flatMap(({ uri, required }) =>
    required === true && typeof uri === "string" && /^[!-+\--~]+$/.test(uri) ? [uri] : [],
  );
}

function namesScheme({ schemes }: Readonly<Record<string, unknown>>): boolean {
  return isObject(schemes) && Object.keys(schemes).length > 0;
}

/** The objects of a list in a card; none where there is no list. */
export function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
