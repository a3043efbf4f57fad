// Our server and our client with peers in other languages: stubs made from our proto by their own tools, and the official
// SDKs. Each peer is a process; what is to happen is the same for all of them.

import { connectAgent } from "@a2a-connect/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AgentProcess, startAgentProcess } from "./agent-process.ts";
import type { Agent, Binding } from "./peers/caller.ts";
import { clientScenarios } from "./peers/client-scenarios.ts";
import { type Deviation, deviations } from "./peers/deviations.ts";
import { languages, whereInstalled } from "./peers/languages.ts";
import { ourCaller } from "./peers/our-caller.ts";
import { type PeerProcess, startPeer } from "./peers/peer-process.ts";
import { scenarios } from "./peers/scenarios.ts";

const kinds: readonly { readonly kind: "stubs" | "sdk"; readonly bindings: readonly Binding[] }[] = [
  { kind: "stubs", bindings: ["GRPC"] },
  { kind: "sdk", bindings: ["JSONRPC", "HTTP+JSON", "GRPC"] },
];

let reference: AgentProcess;
let ours: Agent;
beforeAll(async () => {
  reference = await startAgentProcess();
  ours = { url: reference.url, authority: reference.authority };
});
afterAll(async () => {
  expect(await reference.stop()).toEqual(new Set());
});

for (const language of languages) {
  for (const { kind, bindings } of kinds) {
    describe(`${language.name} ${kind}`, whereInstalled(language), () => {
      let peer: PeerProcess;
      let theirs: Agent;
      beforeAll(async () => {
        peer = await startPeer(language.programs[kind], kind === "stubs" ? reference.authority : "{}");
        theirs = kind === "stubs" ? await atGateway(peer.agent) : peer.agent;
      });
      afterAll(() => peer[Symbol.asyncDispose]());

      for (const binding of bindings) {
        const behaves = (role: Deviation["role"], scenario: string, act: () => Promise<void>) => {
          const deviation = deviations.find(
            (row) =>
              row.peer === `${language.name} ${kind}` &&
              row.role === role &&
              row.bindings.includes(binding) &&
              row.scenarios.includes(scenario),
          );
          if (deviation === undefined) it(scenario, act);
          else it.fails(`${scenario} (not so: it ${deviation.why})`, act);
        };

        describe(`calls our server over ${binding}`, () => {
          for (const [name, scenario] of Object.entries(scenarios)) {
            behaves("caller", name, () => scenario({ caller: peer, agent: ours, binding }));
          }
        });

        describe(`is called by our client over ${binding}`, () => {
          for (const [name, scenario] of Object.entries(scenarios)) {
            behaves("agent", name, () => scenario({ caller: ourCaller, agent: theirs, binding }));
          }
          for (const [name, scenario] of Object.entries(clientScenarios)) {
            behaves("agent", name, async () => {
              await using agent = await connectAgent(theirs.card ?? theirs.url, { pinBinding: binding });
              await scenario(agent);
            });
          }
        });
      }
    });
  }
}

it.each(deviations)("$peer as $role $why: the scenarios exist", (row) => {
  expect([...Object.keys(scenarios), ...Object.keys(clientScenarios)]).toEqual(
    expect.arrayContaining([...row.scenarios]),
  );
});

/** The reference agent as it is reached through a gateway, which serves no card. */
async function atGateway(gateway: Agent): Promise<Agent> {
  await using agent = await connectAgent(reference.url);
  const supportedInterfaces = agent.card.supportedInterfaces
    .filter(({ protocolBinding }) => protocolBinding === "GRPC")
    .map((each) => ({ ...each, url: gateway.authority }));
  return { ...gateway, card: { ...agent.card, supportedInterfaces } };
}
