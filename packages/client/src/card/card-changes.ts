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
  const [old, now] = [new Set(before), new Set(after)];
  const added = after.filter((each) => !old.has(each));
  const removed = before.filter((each) => !now.has(each));
  const moved = added.length + removed.length === 0 && before.join("\n") !== after.join("\n");
  return [
    ...(added.length === 0 ? [] : [`New among the ${what}: ${shownList(added)}.`]),
    ...(removed.length === 0 ? [] : [`No longer among the ${what}: ${shownList(removed)}.`]),
    ...(moved ? [`The ${what} have another order.`] : []),
  ];
}

function describeSkills(before: readonly AgentSkill[], after: readonly AgentSkill[]): string[] {
  const byId = (skills: readonly AgentSkill[]) => new Map(skills.map((skill) => [skill.id, skill]));
  const [old, now] = [byId(before), byId(after)];
  const changed = changedNames(old, now);
  return [
    ...describeList("skills", [...old.keys()].sort(), [...now.keys()].sort()),
    ...(changed.length === 0 ? [] : [`Changed skills: ${shownList(changed)}.`]),
  ];
}

function describeParams(before: readonly AgentExtension[], after: readonly AgentExtension[]): string[] {
  const byUri = (all: readonly AgentExtension[]) =>
    new Map(all.map(({ uri, params }) => [uri, params ?? {}]));
  const changed = changedNames(byUri(before), byUri(after));
  return changed.length === 0 ? [] : [`Other parameters of these extensions: ${shownList(changed)}.`];
}

/** The names of what both have, and is not the same. Each is compared once, however often a card repeats it. */
function changedNames(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): string[] {
  return [...after.keys()]
    .filter((name) => before.has(name) && !isSame(before.get(name), after.get(name)))
    .sort();
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
