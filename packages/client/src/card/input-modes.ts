import { effectiveMediaType, matchesMediaType, shownList, shownText } from "@a2a-connect/core/internal";
import type { AgentCard, Part } from "@a2a-connect/proto";
import { InputModeError, RequirementError } from "../errors.ts";

/**
 * Tests whether an agent accepts these parts: by the modes of the skill, which override the card's (requirement L-8).
 * Without a skill, everything passes that the card or any of its skills accepts. An agent that lists no modes accepts
 * everything.
 *
 * @throws InputModeError with the media types that are not accepted, and those that are
 * @throws RequirementError when the card has no such skill
 */
export function checkInputModes(card: AgentCard, parts: readonly Part[], skillId?: string): void {
  const modes = acceptedModes(card, skillId);
  const refused = [...new Set(parts.filter((part) => !isTaken(part, modes)).map(effectiveMediaType))];
  if (modes.length > 0 && refused.length > 0) {
    const taker = skillId === undefined ? shownText(card.name) : `The skill ${shownText(skillId)}`;
    throw new InputModeError(
      `${taker} does not take ${shownList(refused)}, but ${shownList(modes)}.`,
      refused,
      {
        hint: "Convert the parts, or pass `checkInputModes: false` to let the agent decide.",
      },
    );
  }
}

function acceptedModes(card: AgentCard, skillId: string | undefined): readonly string[] {
  if (skillId === undefined) {
    return card.defaultInputModes.length === 0
      ? []
      : [...card.defaultInputModes, ...card.skills.flatMap(({ inputModes }) => inputModes)];
  }
  const skill = card.skills.find(({ id }) => id === skillId);
  if (skill === undefined) {
    const ids = card.skills.map(({ id }) => id);
    throw new RequirementError(
      `${shownText(card.name)} has no skill ${shownText(skillId)}. Its card offers the skills ${shownList(ids)}.`,
      [`skills: ${skillId}`],
      { hint: "Name one of these skills, or none to let the agent choose." },
    );
  }
  return skill.inputModes.length > 0 ? skill.inputModes : card.defaultInputModes;
}

function isTaken(part: Part, modes: readonly string[]): boolean {
  const type = effectiveMediaType(part);
  const isFile = part.content.case === "raw" || part.content.case === "url";
  // A file of any type is a sequence of bytes.
  return modes.some(
    (mode) => matchesMediaType(mode, type) || (isFile && matchesMediaType(mode, "application/octet-stream")),
  );
}
