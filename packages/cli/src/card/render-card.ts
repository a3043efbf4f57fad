import { shownText } from "@a2a-connect/core/internal";
import type { AgentCard, AgentSkill, SecurityRequirement, SecurityScheme } from "@a2a-connect/proto";
import type { CardVerdict } from "@a2a-connect/signing";
import type { Output } from "../output.ts";

/**
 * A card in words: identity, capabilities, interfaces, security, skills (a2a-cli §10.1). That it is not verified comes first.
 *
 * @param verification undefined: no key is known, so nothing was verified
 */
export async function renderCard(
  output: Output,
  card: AgentCard,
  verification: CardVerdict | undefined,
): Promise<void> {
  const isRefused = verification?.verified === false;
  if (isRefused) await output.field("Signature", describeSignatures(card, verification));
  await output.field("Agent", card.name);
  await output.field("Description", unlessEmpty(card.description));
  await output.field("Version", unlessEmpty(card.version));
  if (card.provider !== undefined) {
    await output.field("Provider", join([card.provider.organization, card.provider.url]));
  }
  await output.field("Documentation", card.documentationUrl);
  await renderCapabilities(output, card);
  for (const { protocolBinding, protocolVersion, url, tenant } of card.supportedInterfaces) {
    const forTenant = tenant === "" ? "" : `, tenant ${tenant}`;
    await output.field("Interface", `${protocolBinding} ${protocolVersion} at ${url}${forTenant}`);
  }
  await renderSecurity(output, card);
  if (!isRefused) await output.field("Signature", describeSignatures(card, verification));
  await output.field("Input Modes", card.defaultInputModes.join(", "));
  await output.field("Output Modes", card.defaultOutputModes.join(", "));
  for (const skill of card.skills) await renderSkill(output, skill);
}

async function renderCapabilities(output: Output, { capabilities }: AgentCard): Promise<void> {
  await output.field("Streaming", yesNo(capabilities?.streaming));
  await output.field("Push Notifications", yesNo(capabilities?.pushNotifications));
  await output.field("Extended Card", yesNo(capabilities?.extendedAgentCard));
  for (const { uri, required, description } of capabilities?.extensions ?? []) {
    await output.field(
      "Extension",
      join([uri, required ? "required" : "", output.verbose ? description : ""]),
    );
  }
}

async function renderSecurity(output: Output, card: AgentCard): Promise<void> {
  for (const [name, scheme] of Object.entries(card.securitySchemes)) {
    await output.field("Security Scheme", `${name}: ${describeScheme(scheme)}`);
  }
  for (const requirement of card.securityRequirements) {
    await output.field("Security Requirement", describeRequirement(requirement));
  }
}

/** Verified, not verified, or absent: what was not verified must not look as if (A2ACLI_CARD_GET_004). */
function describeSignatures({ signatures }: AgentCard, verification: CardVerdict | undefined): string {
  if (signatures.length === 0) return "absent";
  if (verification === undefined) return `${signatures.length}, not verified: give the signer's key (--key)`;
  const { verified, reason, message, kid, alg, profile, uncovered } = verification;
  if (!verified) return `${signatures.length}, NOT VERIFIED (${reason}): ${message}`;
  const gaps = uncovered.length === 0 ? "" : `, but ${uncovered.length} field(s) are not protected`;
  return `${signatures.length}, verified: ${shownText(`key ${kid}`)}, ${alg}, ${profile}${gaps}`;
}

async function renderSkill(output: Output, skill: AgentSkill): Promise<void> {
  await output.field("Skill", skill.name === "" ? skill.id : `${skill.id}, ${skill.name}`);
  await output.field("Skill Description", unlessEmpty(skill.description));
  await output.field("Skill Tags", unlessEmpty(skill.tags.join(", ")));
  await output.field("Skill Input Modes", unlessEmpty(skill.inputModes.join(", ")));
  await output.field("Skill Output Modes", unlessEmpty(skill.outputModes.join(", ")));
  for (const example of skill.examples) await output.field("Skill Example", example);
  for (const requirement of skill.securityRequirements) {
    await output.field("Skill Security", describeRequirement(requirement));
  }
}

function describeScheme({ scheme }: SecurityScheme): string {
  switch (scheme.case) {
    case "apiKeySecurityScheme":
      return `API key in the ${scheme.value.location} ${scheme.value.name}`;
    case "httpAuthSecurityScheme":
      return `HTTP ${scheme.value.scheme}`;
    case "oauth2SecurityScheme":
      return "OAuth 2";
    case "openIdConnectSecurityScheme":
      return `OpenID Connect, ${scheme.value.openIdConnectUrl}`;
    case "mtlsSecurityScheme":
      return "client certificate (mTLS)";
    case undefined:
      return "unknown";
  }
}

/** All of them together; the lines are alternatives. */
function describeRequirement({ schemes }: SecurityRequirement): string {
  const names = Object.entries(schemes).map(([name, { list }]) =>
    list.length === 0 ? name : `${name} (${list.join(", ")})`,
  );
  return names.length === 0 ? "none" : names.join(" and ");
}

function yesNo(value: boolean | undefined): string {
  return value === true ? "yes" : "no";
}

function unlessEmpty(value: string): string | undefined {
  return value === "" ? undefined : value;
}

function join(values: readonly string[]): string {
  return values.filter((value) => value !== "").join(", ");
}
