import type { A2AClient, AgentHarness, Wire } from "@a2a-connect/testing";
import type { Puppet } from "./puppet.ts";
import { getRequirement, type Place } from "./requirements.ts";
import type { ServerName } from "./servers.ts";

/** What a scenario works with. */
export interface Stage {
  readonly wire: Wire;
  /** A client of the scenario's server over the scenario's wire. */
  readonly client: A2AClient;
  /** The scenario's server. */
  readonly harness: AgentHarness;
  /** Its agent's strings. */
  readonly puppet: Puppet;
}

/** One behaviour, and the requirements that hold when it is seen. Runs once for each place and store. */
export interface Scenario {
  readonly ids: readonly string[];
  readonly title: string;
  readonly server: ServerName;
  readonly places: readonly Place[];
  readonly run: (stage: Stage) => Promise<void>;
}

/** Where a scenario runs, when not everywhere and against the full agent. */
export interface ScenarioOptions {
  readonly server?: ServerName;
  /** Default: wherever one of the requirements applies. */
  readonly places?: readonly Place[];
}

/** Scenarios of one subject, in a file of their own. */
export interface ScenarioGroup {
  readonly title: string;
  readonly scenarios: readonly Scenario[];
}

/** Adds a scenario that shows these requirements, for example `verifies("A-6 A-27", "…", async ({ client }) => …)`. */
export type Verifies = (ids: string, title: string, run: Scenario["run"], options?: ScenarioOptions) => void;

/** The two wires whose messages are JSON. */
export const jsonWires = ["jsonrpc", "http-json"] as const;

/**
 * A group of scenarios. They are data: the tests run them, and the coverage gate reads what they cite.
 *
 * @throws Error when an id is cited that does not exist
 */
export function scenarios(title: string, describe: (verifies: Verifies) => void): ScenarioGroup {
  const list: Scenario[] = [];
  describe((cited, name, run, { server = "full", places } = {}) => {
    const ids = cited.split(" ");
    const everywhere = new Set(ids.flatMap((id) => getRequirement(id).places));
    list.push({ ids, title: name, server, places: places ?? [...everywhere], run });
  });
  return { title, scenarios: list };
}
