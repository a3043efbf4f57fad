import { shownText } from "@a2a-connect/core/internal";
import type { AgentCard, SecurityRequirement, SecurityScheme } from "@a2a-connect/proto";
import type { CardVerdict } from "@a2a-connect/signing";
import type { Fields, Output } from "../output.ts";

/** A card in words (a2a-cli §10.1). That it is not verified comes first. @param verification undefined: no key is known */
export async function renderCard(
  output: Output,
  card: AgentCard,
  verification: CardVerdict | undefined,
): Promise<void> {
  const signature: Fields = { Signature: describeSignatures(card, verification) };
  const isRefused = verification?.verified === false;
  if (isRefused) await output.fields(signature);
  const { provider, capabilities } = card;
  await output.fields({
    Agent: card.name,
    Description: card.description,
    Version: card.version,
    Provider: provider && join([provider.organization, provider.url]),
    Documentation: card.documentationUrl,
    Streaming: yesNo(capabilities?.streaming),
    "Push Notifications": yesNo(capabilities?.pushNotifications),
    "Extended Card": yesNo(capabilities?.extendedAgentCard),
    Extension: capabilities?.extensions.map(({ uri, required, description }) =>
      join([uri, required ? "required" : "", output.verbose ? description : ""]),
    ),
    Interface: card.supportedInterfaces.map(({ protocolBinding, protocolVersion, url, tenant }) =>
      join([`${protocolBinding} ${protocolVersion} at ${url}`, tenant && `tenant ${tenant}`]),
    ),
    "Security Scheme": Object.entries(card.securitySchemes).map(
      ([name, scheme]) => `${name}: ${describeScheme(scheme)}`,
    ),
    "Security Requirement": card.securityRequirements.map(describeRequirement),
  });
  if (!isRefused) await output.fields(signature);
  await output.fields({
    "Input Modes": join(card.defaultInputModes),
    "Output Modes": join(card.defaultOutputModes),
  });
  for (const { id, name, description, tags, inputModes, outputModes, ...skill } of card.skills) {
    await output.fields({
      Skill: join([id, name]),
      "Skill Description": description,
      "Skill Tags": join(tags),
      "Skill Input Modes": join(inputModes),
      "Skill Output Modes": join(outputModes),
      "Skill Example": skill.examples,
      "Skill Security": skill.securityRequirements.map(describeRequirement),
    });
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

function join(values: readonly string[]): string {
  return values.filter((value) => value !== "").join(", ");
}
