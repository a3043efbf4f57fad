import { formatMessage, isSame, shownList, shownText } from "@a2a-connect/core/internal";
import {
  type AgentCard,
  type AgentExtension,
  type AgentSkill,
  SecurityRequirementSchema,
  SecuritySchemeSchema,
} from "@a2a-connect/proto";
import { CardDriftError } from "../errors.ts";
import { shownInterface } from "../interface/choose-interfaces.ts";

/**
 * The differences between two cards of an agent that matter to its callers, a sentence each: version, provider, skills,
 * interfaces, capabilities, modes, security. Empty when nothing changed, or only descriptions.
 */
export function describeChanges(before: AgentCard, after: AgentCard): string[] {
  return [
    ...describeText("name", before.name, after.name),
    ...describeText("version", before.version, after.version),
    ...describeText("provider", before.provider?.organization ?? "", after.provider?.organization ?? ""),
    ...describeSkills(before.skills, after.skills),
    ...describeList("interfaces", interfacesOf(before), interfacesOf(after)),
    ...describeList("capabilities", capabilitiesOf(before), capabilitiesOf(after)),
    ...describeParams(before.capabilities?.extensions ?? [], after.capabilities?.extensions ?? []),
    ...describeList("default input modes", before.defaultInputModes, after.defaultInputModes),
    ...describeList("default output modes", before.defaultOutputModes, after.defaultOutputModes),
    ...(securityOf(before) === securityOf(after) ? [] : ["What callers must present has changed."]),
  ];
}

/** The error for a call that does not fit the new card, after these changes. */
export function driftError(changes: readonly string[], cause: unknown, card: AgentCard): CardDriftError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new CardDriftError(
    `The agent's card has changed, and the call does not fit it any more: ${[...changes, reason].join(" ")}`,
    changes,
    card,
    { hint: "Connect again, and adapt the call to the new card.", cause },
  );
}

function describeText(what: string, before: string, after: string): string[] {
  return before === after ? [] : [`The ${what} was ${shownText(before)} and is ${shownText(after)}.`];
}

function describeList(what: string, before: readonly string[], after: readonly string[]): string[] {
  const added = after.filter((each) => !before.includes(each));
  const removed = before.filter((each) => !after.includes(each));
  const moved = added.length + removed.length === 0 && before.join("\n") !== after.join("\n");
  return [
    ...(added.length === 0 ? [] : [`New among the ${what}: ${shownList(added)}.`]),
    ...(removed.length === 0 ? [] : [`No longer among the ${what}: ${shownList(removed)}.`]),
    ...(moved ? [`The ${what} have another order.`] : []),
  ];
}

function describeSkills(before: readonly AgentSkill[], after: readonly AgentSkill[]): string[] {
  const old = new Map(before.map((skill) => [skill.id, skill]));
  const changed = after.filter((skill) => {
    const known = old.get(skill.id);
    return known !== undefined && !isSame(known, skill);
  });
  const ids = (skills: readonly AgentSkill[]) => skills.map(({ id }) => id).sort();
  return [
    ...describeList("skills", ids(before), ids(after)),
    ...(changed.length === 0 ? [] : [`Changed skills: ${shownList(ids(changed))}.`]),
  ];
}

function describeParams(before: readonly AgentExtension[], after: readonly AgentExtension[]): string[] {
  const changed = after.filter(({ uri, params }) => {
    const known = before.find((each) => each.uri === uri);
    return known !== undefined && !isSame(known.params ?? {}, params ?? {});
  });
  const uris = changed.map(({ uri }) => uri).sort();
  return changed.length === 0 ? [] : [`Other parameters of these extensions: ${shownList(uris)}.`];
}

function interfacesOf({ supportedInterfaces }: AgentCard): string[] {
  return supportedInterfaces.map(
    (each) =>
      `A2A ${each.protocolVersion} over ${shownInterface(each)}${each.tenant === "" ? "" : `, tenant ${each.tenant}`}`,
  );
}

function capabilitiesOf({ capabilities }: AgentCard): string[] {
  return [
    ...(capabilities?.streaming === true ? ["streaming"] : []),
    ...(capabilities?.pushNotifications === true ? ["pushNotifications"] : []),
    ...(capabilities?.extendedAgentCard === true ? ["extendedAgentCard"] : []),
    ...(capabilities?.extensions ?? [])
      .map(({ uri, required }) => (required ? `${uri} (required)` : uri))
      .sort(),
  ];
}

/** The whole security section as one text. The order of names in a map does not matter. */
function securityOf({ securitySchemes, securityRequirements }: AgentCard): string {
  const schemes = Object.entries(securitySchemes)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, scheme]) => [name, formatMessage(SecuritySchemeSchema, scheme)]);
  const requirements = securityRequirements.map((each) => formatMessage(SecurityRequirementSchema, each));
  return JSON.stringify([schemes, requirements]);
}
