import type { CardDefinition } from "../agent/agent-definition.ts";

/**
 * The card without the skills that are switched off. Its version says so as build metadata (SemVer §10), so that every
 * choice of skills has a version of its own: `1.2.0` without "translate" is `1.2.0+off.translate`.
 */
export function withoutSkills(card: CardDefinition, disabled: readonly string[]): CardDefinition {
  const { skills = [], version = "0.0.0" } = card;
  const left = skills.filter(({ id }) => !disabled.includes(id));
  if (left.length === skills.length) {
    return card;
  }
  const off = skills.filter(({ id }) => disabled.includes(id)).map(({ id }) => toIdentifier(id));
  const separator = version.includes("+") ? "." : "+";
  return { ...card, skills: left, version: `${version}${separator}off.${off.join(".")}` };
}

/** Build metadata knows letters, digits and hyphens only; everything else becomes its code point in hex. */
function toIdentifier(id: string): string {
  return id.replaceAll(/[^0-9A-Za-z-]/gu, (character) => `-${character.codePointAt(0)?.toString(16)}-`);
}
