import type { CardFact } from "./card-facts.ts";
import type { Wire } from "./platform.ts";
import { getRequirement, type Place, type SpecVersion } from "./requirements.ts";
import type { ServerName } from "./server-name.ts";
import type { A2AClient, Target } from "./target.ts";

/** What a scenario works with. */
export interface Stage {
  readonly wire: Wire;
  /** A client of the scenario's server over the scenario's wire. */
  readonly client: A2AClient;
  /** The scenario's server. */
  readonly target: Target;
  /** The text of A2A 1.0 that it is measured by, where they differ; undefined: it may speak either. */
  readonly spec: SpecVersion | undefined;
  /** Keeps a sentence that its owner should read although nothing is wrong, such as which of two dialects is spoken. */
  note(sentence: string): void;
}

/** Which agent a scenario needs: `any`, or the `reference` agent, which does what the text of a message says. */
export type NeededAgent = "any" | "reference";

/** One behaviour, and the requirements that hold when it is seen. Runs once for each place. */
export interface Scenario {
  readonly ids: readonly string[];
  readonly title: string;
  readonly needs: NeededAgent;
  readonly server: ServerName;
  /** What the card has to say. Otherwise the behaviour is not demanded of its server. */
  readonly when: readonly CardFact[];
  readonly places: readonly Place[];
  /**
   * Resolves when the behaviour is there. Otherwise it rejects with an error that says what is there instead, or with
   * `NotApplicable` when there is nothing to show it with.
   */
  readonly run: (stage: Stage) => Promise<unknown>;
}

/** What a scenario needs, when that is not the full reference agent. */
export type ScenarioOptions = Partial<Pick<Scenario, "needs" | "server" | "when" | "places">>;

/** Scenarios of one subject, in a file of their own. */
export interface ScenarioGroup {
  readonly title: string;
  readonly scenarios: readonly Scenario[];
}

/** Adds a scenario that shows these requirements, for example `verifies("A-6 A-27", "…", async ({ client }) => …)`. */
export interface Verifies {
  (ids: string, title: string, run: Scenario["run"]): void;
  /** The same for scenarios that need something else. Default places: wherever one of the requirements applies. */
  where(options: ScenarioOptions): Verifies;
}

/** The two ways to add scenarios: to be shown with the reference agent only, and with any agent. */
export type Describe = (add: { readonly verifies: Verifies; readonly anyAgent: Verifies }) => void;

/** The two wires whose messages are JSON. */
export const jsonWires = ["jsonrpc", "http-json"] as const;

/**
 * A group of scenarios. They are data: the tests and `a2a conformance` run them, and the coverage gate reads what they cite.
 *
 * @throws Error when an id is cited that does not exist
 */
export function scenarios(title: string, describe: Describe): ScenarioGroup {
  const list: Scenario[] = [];
  const addTo = (options: ScenarioOptions): Verifies => {
    const add = (cited: string, name: string, run: Scenario["run"]): void => {
      const ids = cited.split(" ");
      const places = [...new Set(ids.flatMap((id) => getRequirement(id).places))];
      list.push({ needs: "reference", server: "full", when: [], places, ...options, ids, title: name, run });
    };
    return Object.assign(add, { where: (more: ScenarioOptions) => addTo({ ...options, ...more }) });
  };
  const verifies = addTo({});
  describe({ verifies, anyAgent: verifies.where({ needs: "any" }) });
  return { title, scenarios: list };
}

/**
 * Thrown by a scenario that finds out, while it runs, that its server has nothing to show the behaviour with. For example,
 * an agent that answers with a message has no task to cancel. That is neither a pass nor a failure.
 */
export class NotApplicable extends Error {
  override readonly name = "NotApplicable";
}

/** Takes the place of a message that is not to be sent. @throws NotApplicable */
export function refuseMessage(): never {
  throw new NotApplicable("it sends a message to the agent, and this run sends none");
}
