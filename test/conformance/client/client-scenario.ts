import { getRequirement, type Place } from "@a2a-connect/conformance";
import type { Wire } from "@a2a-connect/testing";

/** One behaviour of the client, and the requirements that hold when it is seen. Runs once for each place. */
export interface ClientScenario {
  readonly ids: readonly string[];
  readonly title: string;
  readonly places: readonly Place[];
  /** Starts the agent that it needs by itself. */
  readonly run: (wire: Wire) => Promise<void>;
}

/** Scenarios of one subject, in a file of their own. */
export interface ClientScenarioGroup {
  readonly title: string;
  readonly scenarios: readonly ClientScenario[];
}

/** How a scenario differs from one that holds wherever its requirements apply. */
export interface ClientScenarioOptions {
  readonly places?: readonly Place[];
}

/** Adds a scenario that shows these requirements. */
export type ClientVerifies = (
  ids: string,
  title: string,
  run: ClientScenario["run"],
  options?: ClientScenarioOptions,
) => void;

/**
 * A group of scenarios of the client. They are data, as the server's are: the tests run them, and the coverage gate reads
 * what they cite.
 *
 * @throws Error when an id is cited that does not exist
 */
export function clientScenarios(
  title: string,
  describe: (verifies: ClientVerifies) => void,
): ClientScenarioGroup {
  const scenarios: ClientScenario[] = [];
  describe((cited, name, run, { places } = {}) => {
    const ids = cited.split(" ");
    const everywhere = new Set(ids.flatMap((id) => getRequirement(id).places));
    scenarios.push({ ids, title: name, places: places ?? [...everywhere], run });
  });
  return { title, scenarios };
}
