import {
  allScenarios,
  type FoundServer,
  findServer,
  runScenario,
  type ServerName,
} from "@a2a-connect/conformance";
import { type AgentHarness, type StoreKind, startAgentHarness } from "@a2a-connect/testing";
import { afterAll, beforeAll, describe, it } from "vitest";
import { planServers } from "./servers.ts";

/** No scenario waits for anything but its server: one that takes this long waits in vain. */
const timeoutMs = 10_000;

/** Runs every scenario in every place that it is for, against servers that keep their tasks in `store`. */
export function runScenarios(store: StoreKind): void {
  const plans = planServers();
  const running: AgentHarness[] = [];
  const found = new Map<ServerName, FoundServer>();
  const serverOf = (name: ServerName): FoundServer => {
    const server = found.get(name);
    if (server === undefined) {
      throw new Error(`the server "${name}" does not run`);
    }
    return server;
  };

  beforeAll(async () => {
    for (const [name, { options }] of Object.entries(plans)) {
      const harness = await startAgentHarness({ ...options, store });
      running.push(harness);
      found.set(name as ServerName, await findServer(harness.url)); // the keys of the plans
    }
  });
  afterAll(async () => {
    for (const server of found.values()) server[Symbol.dispose]();
    await Promise.all(running.map((harness) => harness[Symbol.asyncDispose]()));
  });

  for (const { title, scenarios } of Object.values(allScenarios)) {
    describe(title, () => {
      for (const scenario of scenarios) {
        for (const place of scenario.places) {
          it(
            `${scenario.ids.join(" ")}: ${scenario.title} (${place})`,
            () => runScenario(scenario, place, serverOf(scenario.server), { spec: "1.0.1" }),
            timeoutMs,
          );
        }
      }
    });
  }
}
