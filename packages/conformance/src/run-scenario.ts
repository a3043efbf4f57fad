import type { Exchange } from "./exchange.ts";
import type { Place, SpecVersion } from "./requirements.ts";
import type { Scenario } from "./scenario.ts";
import { refuseMessage } from "./scenario.ts";
import type { FoundServer } from "./target.ts";

/** What a run of a scenario may have beside its server. */
export interface RunOptions {
  /** Gets what the scenario and the server say to each other. */
  readonly exchanges?: Exchange[];
  /** The text of A2A 1.0 that the server is measured by. Default: it may speak either. */
  readonly spec?: SpecVersion;
  /** Ends everything that is said to the server. */
  readonly signal?: AbortSignal;
  /** Sends no message to the agent: a scenario that would does not apply. Default false. */
  readonly quiet?: boolean;
  /** Gets sentences for the server's owner (`Stage.note`). */
  readonly notes?: string[];
}

/**
 * Runs a scenario once.
 *
 * @throws NotApplicable when the server has nothing to show the behaviour with
 * @throws what the scenario throws when the behaviour is not there
 */
export async function runScenario(
  scenario: Scenario,
  place: Place,
  server: FoundServer,
  { exchanges, notes, spec, signal, quiet = false }: RunOptions = {},
): Promise<void> {
  // The card has no wire of its own; what it says is tried over JSON-RPC, or over what there is.
  const wire = place === "card" ? (server.addresses.has("jsonrpc") ? "jsonrpc" : firstWire(server)) : place;
  let isRefused = false;
  const beforeMessage = (): void => {
    isRefused = true;
    refuseMessage();
  };
  const target = server.target({ exchanges, signal, ...(quiet ? { beforeMessage } : {}) });
  const running = scenario.run({
    wire,
    client: target.client(wire),
    target,
    spec,
    note: (sentence) => void notes?.push(sentence),
  });
  const [outcome] = await Promise.allSettled([running]);
  // Also when the scenario has taken the refusal for an answer.
  if (isRefused) refuseMessage();
  if (outcome.status === "rejected") throw outcome.reason;
}

function firstWire({ addresses }: FoundServer): Exclude<Place, "card"> {
  const [wire] = addresses.keys();
  if (wire === undefined) throw new Error("the card declares no wire");
  return wire;
}
