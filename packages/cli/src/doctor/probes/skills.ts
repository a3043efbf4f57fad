import { parseMediaType } from "@a2a-connect/core/internal";
import type { AgentCard, AgentSkill } from "@a2a-connect/proto";
import { type Finding, quote } from "../finding.ts";

/** Shortest description that tells a model when to choose a skill, in characters. */
export const shortestDescription = 40;

/** Whether others, people and models, can choose this agent by what its card says. */
export function probeSkills(card: AgentCard): Finding[] {
  const { skills } = card;
  const findings = [
    ...judgeModes(card),
    ...listed(skills.length === 0 ? ["none"] : [], {
      id: "skills.any",
      severity: "warning",
      what: "The card lists no skills: nobody can tell what the agent is for.",
      fix: "List at least one skill, with description and example.",
    }),
    ...listed(repeated(skills), {
      id: "skills.ids",
      severity: "problem",
      what: "Skills share an id: callers cannot say which one they mean.",
      fix: "Give each skill an id of its own.",
    }),
    ...listed(isVague(card.description, card.name) ? [quote(card.description)] : [], {
      id: "card.description",
      severity: "warning",
      what: "The agent's description says too little for a model to choose it.",
      fix: "Say in a sentence or two what it does, for what, and what it does not do.",
    }),
    ...listed(vagueSkills(card), {
      id: "skills.description",
      severity: "warning",
      what: "Skills say too little for a model to choose them.",
      fix: "Say what goes in, what comes out, and when to use it.",
    }),
    ...listed(
      skillsWithout(card, ({ examples }) => examples),
      {
        id: "skills.examples",
        severity: "warning",
        what: "Skills have no examples: neither people nor smoke tests can try them.",
        fix: "Add something that a caller would say.",
      },
    ),
    ...listed(
      skillsWithout(card, ({ tags }) => tags),
      {
        id: "skills.tags",
        severity: "note",
        what: "Skills have no tags to be found by.",
        fix: "Add two or three keywords.",
      },
    ),
  ];
  return findings.length > 0
    ? findings
    : [
        {
          id: "skills",
          severity: "ok",
          what: "The skills are described well enough to be chosen.",
          evidence: skills.map(({ id }) => quote(id)).join(", "),
        },
      ];
}

/** Ids of the skills whose description a model cannot use. */
export function vagueSkills({ skills }: AgentCard): string[] {
  return skills.filter(({ description, name }) => isVague(description, name)).map(({ id }) => quote(id));
}

/** Ids of the skills that have nothing of a list. */
export function skillsWithout(
  { skills }: AgentCard,
  list: (skill: AgentSkill) => readonly string[],
): string[] {
  return skills.filter((skill) => list(skill).length === 0).map(({ id }) => quote(id));
}

/** Whether a description says hardly more than the name. */
export function isVague(description: string, name: string): boolean {
  return description.trim().length < shortestDescription || description.trim() === name.trim();
}

function judgeModes({ defaultInputModes, defaultOutputModes, skills }: AgentCard): Finding[] {
  const modes = [
    defaultInputModes,
    defaultOutputModes,
    ...skills.flatMap(({ inputModes, outputModes }) => [inputModes, outputModes]),
  ].flat();
  const wrong = [...new Set(modes)].filter((mode) => parseMediaType(mode) === undefined);
  const older = wrong.every((mode) => ["text", "file", "data"].includes(mode));
  return [
    ...listed(wrong.map(quote), {
      id: "card.modes",
      severity: "problem",
      what: "Input or output modes are no media types.",
      fix: older
        ? "These are words of older versions: say text/plain, application/json, or the types of the files."
        : "Say media types such as text/plain or image/png.",
    }),
    ...listed(
      defaultInputModes.length === 0 && skills.some(({ inputModes }) => inputModes.length === 0)
        ? ["defaultInputModes"]
        : [],
      {
        id: "card.modes",
        severity: "warning",
        what: "The card does not say what the agent takes.",
        fix: "List media types in defaultInputModes, such as text/plain.",
      },
    ),
  ];
}

function repeated(skills: readonly AgentSkill[]): string[] {
  const ids = skills.map(({ id }) => id);
  return [...new Set(ids.filter((id, index) => ids.indexOf(id) !== index))].map(quote);
}

/** The finding with these as its evidence, if there are any. */
function listed(evidence: readonly string[], finding: Omit<Finding, "evidence">): Finding[] {
  return evidence.length === 0 ? [] : [{ ...finding, evidence: quote(evidence.join(", ")) }];
}
