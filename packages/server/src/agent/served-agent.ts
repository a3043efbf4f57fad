import type { AgentDefinition, CardDefinition, SkillDefinition } from "./agent-definition.ts";
import { withCard } from "./given-card.ts";

/** An agent while it is served: its card may change, its code stays. */
export class ServedAgent {
  /** What new tasks are run by. */
  current: AgentDefinition;
  /** What tasks of the store are run by: the same, with the skills that have left the card since the start. */
  known: AgentDefinition;

  constructor(agent: AgentDefinition) {
    this.current = agent;
    this.known = agent;
  }

  /** The agent has another card from now on. */
  useCard(agent: AgentDefinition): void {
    const { skills = [] } = agent.card;
    const former = this.known.card.skills?.filter(({ id }) => skills.every((skill) => skill.id !== id));
    this.current = agent;
    this.known = withCard(agent, { ...agent.card, skills: [...skills, ...(former ?? [])] });
  }
}

/**
 * A card with the code that its skills have had from the start. A skill that the agent did not have then is run by the agent's
 * own code.
 *
 * @throws Error when a skill comes with other code
 */
export function withServedCode(card: CardDefinition, { card: started }: AgentDefinition): CardDefinition {
  const { skills } = card;
  if (skills === undefined) {
    return card;
  }
  return {
    ...card,
    skills: skills.map((skill) => {
      const first = started.skills?.find(({ id }) => id === skill.id);
      if (skill.execute !== undefined && skill.execute !== first?.execute) {
        throw new Error(
          `skill "${skill.id}" comes with code that it did not have when the agent was started: new code needs a restart`,
        );
      }
      return { ...skill, ...codeOf(first) } as SkillDefinition; // of one kind: all members are the first one's
    }),
  };
}

function codeOf(skill: SkillDefinition | undefined): Partial<SkillDefinition> {
  const members = ["durable", "execute", "recovery", "whileWorking"];
  return Object.fromEntries(Object.entries(skill ?? {}).filter(([name]) => members.includes(name)));
}
