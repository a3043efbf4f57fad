// The contract of the client: the same over all wires, against our own server and against that of `@a2a-js/sdk`.

import { type AgentHarness, startAgentHarness, wires } from "@a2a-connect/testing";
import { afterAll, beforeAll, describe } from "vitest";
import { cardSuite } from "./card-suite.ts";
import { contractAgent } from "./contract-agent.ts";
import { peerSuite } from "./contract-peers.ts";
import type { ContractTarget, Features } from "./contract-target.ts";
import { cardTexts, extendedDescription } from "./contract-work.ts";
import { followSuite } from "./follow-suite.ts";
import { bindingOf } from "./interfaces.ts";
import { type JsSdkServer, startJsSdkServer } from "./js-sdk-server.ts";
import { operationSuite } from "./operation-suite.ts";
import { runSuite } from "./run-suite.ts";
import { watchRejections } from "./watch-rejections.ts";

/** What the suite may expect, by server. */
const features: Readonly<Record<"ours" | "@a2a-js/sdk", Features>> = {
  ours: { resume: true, lifecycle: true },
  "@a2a-js/sdk": { resume: false, lifecycle: false },
};

watchRejections();

describe("our server", () => {
  let harness: AgentHarness;
  beforeAll(async () => {
    harness = await startAgentHarness({
      agent: contractAgent,
      push: { allow: ["127.0.0.1"], retry: { initialMs: 20 } },
      extendedCard: { find: () => ({ ...contractAgent.card, description: extendedDescription }), open: true },
    });
  });
  afterAll(() => harness[Symbol.asyncDispose]());
  describe.each(wires)("over %s", (wire) => {
    contract({ features: features.ours, binding: bindingOf[wire], url: () => harness.url });
  });
});

describe(`the server of @a2a-js/sdk, "${cardTexts.name}"`, () => {
  let server: JsSdkServer;
  beforeAll(async () => {
    server = await startJsSdkServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  describe.each(["JSONRPC", "HTTP+JSON", "GRPC"])("over %s", (binding) => {
    contract({ features: features["@a2a-js/sdk"], binding, url: () => server.url });
  });
});

describe("peers with faults of their own", peerSuite);

function contract(target: ContractTarget): void {
  cardSuite(target);
  runSuite(target);
  followSuite(target);
  operationSuite(target);
}
