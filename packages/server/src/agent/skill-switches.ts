import type { AgentDefinition } from "./agent-definition.ts";

/**
 * Switches an agent's skills off and on while it is served. The card leaves out a skill that is off, and new tasks for
 * it are REJECTED with reason `skill-unavailable`. Its existing tasks go on, and take their follow-ups. All skills are
 * on when the process starts.
 */
export interface SkillSwitches {
  /** Ids of the skills that are off, in the order of the card. */
  readonly disabled: readonly string[];
  /** Switches a skill off; one that is off stays off. @throws Error when the agent has no such skill */
  disable(id: string): void;
  /** Switches it on again; one that is on stays on. @throws Error when the agent has no such skill */
  enable(id: string): void;
}

/** Switches of an agent whose card may change. */
export interface CardSwitches extends SkillSwitches {
  /**
   * The agent has another card from now on. Skills that were off stay off; one that is gone is forgotten: should it come back,
   * it is on.
   */
  useCard(agent: Pick<AgentDefinition, "card">): void;
}

/** Switches for all skills of the agent, each on. @param changed called when one was really switched */
export function createSkillSwitches(agent: Pick<AgentDefinition, "card">, changed: () => void): CardSwitches {
  let ids = idsOf(agent);
  let disabled: readonly string[] = [];

  function set(id: string, enabled: boolean): void {
    if (!ids.includes(id)) {
      throw new Error(`there is no skill "${id}"; there are: ${ids.join(", ") || "none"}`);
    }
    if (disabled.includes(id) === enabled) {
      disabled = ids.filter((each) => (each === id ? !enabled : disabled.includes(each)));
      changed();
    }
  }

  return {
    get disabled() {
      return disabled;
    },
    disable: (id) => set(id, false),
    enable: (id) => set(id, true),
    useCard(agent) {
      ids = idsOf(agent);
      disabled = ids.filter((id) => disabled.includes(id));
    },
  };
}

function idsOf({ card }: Pick<AgentDefinition, "card">): readonly string[] {
  return (card.skills ?? []).map(({ id }) => id);
}
