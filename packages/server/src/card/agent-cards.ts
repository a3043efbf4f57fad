import type { AgentCard } from "@a2a-connect/proto";
import { canonicalCard } from "@a2a-connect/signing";
import type { PublishedKeySet } from "@a2a-connect/signing/internal";
import { type AgentDefinition, type CardDefinition, defineAgent } from "../agent/agent-definition.ts";
import { withCard } from "../agent/given-card.ts";
import type { RedefinableSwitches } from "../agent/skill-switches.ts";
import type { LogRecord } from "../engine/engine-context.ts";
import type { TaskEngine } from "../engine/task-engine.ts";
import type { CardPublisher } from "./card-publisher.ts";
import type { CardSigning } from "./card-signing.ts";
import type { CardSource } from "./card-source.ts";
import { unannouncedChanges } from "./unannounced-changes.ts";

/** The cards of an agent while it is served. */
export interface AgentCards {
  /** The public card as it is now, without its signatures. */
  readonly card: AgentCard;
  /** The keys that verify them, as they stand in the key set now; undefined when nothing is signed. */
  readonly keySet: PublishedKeySet | undefined;
  /** Whether the cards are signed as they are served. */
  readonly signed: boolean;
  /**
   * Says anew what the agent is: the card, its version and its ETag change at once, and its skills with their code and their
   * capacity are those that new tasks get. Tasks that there are keep theirs, as long as the process lives (of the 1,000 newest
   * definitions). Skills that were switched off stay off. The definition is copied: changing it afterwards changes nothing.
   *
   * @throws Error as `defineAgent`, or when the card has no canonical form; everything stays as it was
   */
  update(definition: CardDefinition): void;
  /**
   * Signs with other keys from now on. Resolves when a card has been signed with them; those that were signed before are not
   * served any more, so list the old keys as retired for as long as callers may keep such cards.
   *
   * @throws Error (as a rejection) naming the key that cannot be used; everything stays as it was
   */
  useSigning(signing: CardSigning): Promise<void>;
}

/** What the cards work with. */
export interface AgentCardsOptions {
  readonly agent: AgentDefinition;
  readonly cards: CardSource;
  readonly publisher: CardPublisher;
  readonly engine: Pick<TaskEngine, "redefine">;
  readonly skills: RedefinableSwitches;
  readonly log: (record: LogRecord) => void;
}

/** Changes an agent's cards, and everything that has to change with them. */
export function createAgentCards({
  agent,
  cards,
  publisher,
  engine,
  skills,
  log,
}: AgentCardsOptions): AgentCards {
  let current = agent;
  return {
    get card() {
      return cards.card;
    },
    get keySet() {
      return publisher.keySet;
    },
    get signed() {
      return publisher.signed;
    },
    update(definition) {
      const next = defineAgent(withCard(agent, definition));
      const card = cards.preview(next);
      canonicalCard(card); // throws when it has none
      const changes = unannouncedChanges(cards.preview(current), card);
      if (changes.length > 0) {
        log({
          level: "warn",
          message: `the card's ${changes.join(" and ")} changed, and its version is still ${card.version}: whoever keeps it by version does not notice`,
        });
      }
      current = next;
      engine.redefine(next);
      cards.redefine(next, skills.redefine(next));
    },
    useSigning: (signing) => publisher.useSigning(signing),
  };
}
