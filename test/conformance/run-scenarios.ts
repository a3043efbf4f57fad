import { type AgentHarness, type StoreKind, startAgentHarness } from "@a2a-connect/testing";
import { afterAll, beforeAll, describe, it } from "vitest";
import type { ScenarioGroup } from "./scenario.ts";
import { planServers, type ServerName } from "./servers.ts";

/** No scenario waits for anything but its server: one that takes this long waits in vain. */
const timeoutMs = 10_000;

/** Runs every scenario in every place that it is for, against servers that keep their tasks in `store`. */
export function runScenarios(store: StoreKind, groups: readonly ScenarioGroup[]): void {
  const plans = planServers();
  const running = new Map<ServerName, AgentHarness>();
  const harnessOf = (name: ServerName): AgentHarness => {
    const harness = running.get(name);
    if (harness === undefined) {
      throw new Error(`the server "${name}" does not run`);
    }
    return harness;
  };

  beforeAll(async () => {
    for (const [name, { options }] of Object.entries(plans)) {
      running.set(name as ServerName, await startAgentHarness({ ...options, store })); // the keys of the plans
    }
  });
  afterAll(async () => {
    await Promise.all([...running.values()].map((harness) => harness[Symbol.asyncDispose]()));
  });

  for (const { title, scenarios } of groups) {
    describe(title, () => {
      for (const scenario of scenarios) {
        for (const place of scenario.places) {
          it(
            `${scenario.ids.join(" ")}: ${scenario.title} (${place})`,
            async () => {
              const harness = harnessOf(scenario.server);
              const { puppet } = plans[scenario.server];
              // The card has no wire of its own; what it says is tried over JSON-RPC.
              const wire = place === "card" ? "jsonrpc" : place;
              await scenario.run({ wire, client: harness.clients[wire], harness, puppet });
            },
            timeoutMs,
          );
        }
      }
    });
  }
}
