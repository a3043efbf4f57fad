import { matchesMediaType, shownList, shownText } from "@a2a-connect/core/internal";
import type { AgentCard } from "@a2a-connect/proto";
import { RequirementError } from "../errors.ts";
import type { AgentRequirements } from "../options.ts";
import { inputRequiredCapability, readLifecycleParams } from "./lifecycle-params.ts";

/**
 * Tests whether a card offers everything that is required.
 *
 * @throws RequirementError that names everything that is missing, and what the card offers in its place
 */
export function checkRequirements(card: AgentCard, requires: AgentRequirements): void {
  const gaps = [
    ...missingCapabilities(card, requires),
    ...missingNames("extensions", requires.extensions, extensionsOf(card)),
    ...missingNames(
      "skills",
      requires.skills,
      card.skills.map(({ id }) => id),
    ),
    ...missingModes("inputModes", requires, modesOf(card, requires, "inputModes")),
    ...missingModes("outputModes", requires, modesOf(card, requires, "outputModes")),
  ];
  if (gaps.length > 0) {
    const missing = gaps.map((gap) => gap.missing);
    const offers = [...new Set(gaps.map((gap) => gap.offer))].join("; ");
    throw new RequirementError(
      `${shownText(card.name)} lacks what is required: ${shownList(missing)}. Its card offers ${offers}.`,
      missing,
      { hint: "Call another agent, or require less of this one." },
    );
  }
}

/** A missing ability, and what the card has of its kind. */
interface Gap {
  readonly missing: string;
  readonly offer: string;
}

function missingCapabilities(card: AgentCard, requires: AgentRequirements): Gap[] {
  const { capabilities } = card;
  const offered = new Map([
    ["streaming", capabilities?.streaming === true],
    ["pushNotifications", capabilities?.pushNotifications === true],
    ["inputRequired", canAsk(card)],
  ] as const);
  const names = [...offered].filter(([, has]) => has).map(([name]) => name);
  return [...offered.keys()]
    .filter((name) => requires[name] === true && offered.get(name) !== true)
    .map((missing) => ({ missing, offer: `the capabilities ${shownList(names)}` }));
}

function canAsk(card: AgentCard): boolean {
  return readLifecycleParams(card)?.asks === true || extensionsOf(card).includes(inputRequiredCapability);
}

function extensionsOf({ capabilities }: AgentCard): string[] {
  return (capabilities?.extensions ?? []).map(({ uri }) => uri);
}

function missingNames(
  kind: "extensions" | "skills",
  required: readonly string[] = [],
  offered: readonly string[],
): Gap[] {
  return required
    .filter((name) => !offered.includes(name))
    .map((name) => ({ missing: `${kind}: ${name}`, offer: `the ${kind} ${shownList(offered)}` }));
}

/** Of the required skill, if exactly one is required; else of the card and any of its skills. */
function modesOf(
  card: AgentCard,
  { skills = [] }: AgentRequirements,
  kind: "inputModes" | "outputModes",
): readonly string[] {
  const defaults = kind === "inputModes" ? card.defaultInputModes : card.defaultOutputModes;
  const [id, ...others] = skills;
  const only = others.length === 0 ? card.skills.find((skill) => skill.id === id) : undefined;
  if (only !== undefined) {
    return only[kind].length > 0 ? only[kind] : defaults;
  }
  return [...new Set([...defaults, ...card.skills.flatMap((skill) => skill[kind])])];
}

/** A required range, such as `image/*`, is met by any type in it. */
function missingModes(
  kind: "inputModes" | "outputModes",
  requires: AgentRequirements,
  offered: readonly string[],
): Gap[] {
  return (requires[kind] ?? [])
    .filter((type) => !offered.some((mode) => matchesMediaType(mode, type) || matchesMediaType(type, mode)))
    .map((type) => ({ missing: `${kind}: ${type}`, offer: `the ${kind} ${shownList(offered)}` }));
}
