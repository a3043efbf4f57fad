// The contract of the client: the same over all wires, against our own server and against that of `@a2a-js/sdk`.

import { type AgentHarness, startAgentHarness, wires } from "@a2a-connect/testing";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { cardSuite } from "./card-suite.ts";
import { contractAgent } from "./contract-agent.ts";
import { peerSuite } from "./contract-peers.ts";
import type { ContractTarget, Features } from "./contract-target.ts";
import { cardTexts, extendedDescription, product } from "./contract-work.ts";
import { followSuite } from "./follow-suite.ts";
import { bindingOf } from "./interfaces.ts";
import { startJsSdk03Server } from "./js-sdk-03-server.ts";
import { type JsSdkServer, startJsSdkServer } from "./js-sdk-server.ts";
import { operationSuite } from "./operation-suite.ts";
import { runSuite } from "./run-suite.ts";
import { watchRejections } from "./watch-rejections.ts";

/** What the suite may expect of our server. */
const ours: Features = {
  resume: true,
  lifecycle: true,
  since1: true,
  emptyHistory: true,
  filenames: true,
  table: product.table,
};

/** And of that of `@a2a-js/sdk`. */
const theirs: Features = { ...ours, resume: false, lifecycle: false };

/** The wires that A2A 0.3 has. */
const olderBindings = ["JSONRPC", "HTTP+JSON", "GRPC"];

watchRejections();

describe("our server", () => {
  let harness: AgentHarness;
  beforeAll(async () => {
    harness = await startAgentHarness({
      agent: contractAgent,
      protocolVersions: ["1.0", "0.3"],
      push: { allow: ["127.0.0.1"], retry: { initialMs: 20 } },
      extendedCard: { find: () => ({ ...contractAgent.card, description: extendedDescription }), open: true },
    });
  });
  afterAll(() => harness[Symbol.asyncDispose]());
  describe.each(wires)("over %s", (wire) => {
    contract({ features: ours, binding: bindingOf[wire], version: "1.0", url: () => harness.url });
  });
  describe.each(olderBindings)("over %s of A2A 0.3", (binding) => {
    const emptyHistory = binding !== "GRPC"; // where 0 means all of it
    contract({
      features: { ...ours, since1: false, emptyHistory },
      binding,
      version: "0.3",
      url: () => harness.url,
    });
  });
});

describe(`the server of @a2a-js/sdk, "${cardTexts.name}"`, () => {
  let server: JsSdkServer;
  beforeAll(async () => {
    server = await startJsSdkServer();
  });
  afterAll(() => server[Symbol.asyncDispose]());
  describe.each(["JSONRPC", "HTTP+JSON", "GRPC"])("over %s", (binding) => {
    contract({ features: theirs, binding, version: "1.0", url: () => server.url });
  });
});

describe.each(olderBindings)("the server of @a2a-js/sdk 0.3, over %s", (binding) => {
  // It cannot write null over gRPC, and drops what files are called except over JSON-RPC.
  const table = binding === "GRPC" ? { rows: [1, 2.5] } : product.table;
  let server: JsSdkServer;
  beforeAll(async () => {
    server = await startJsSdk03Server(table);
  });
  afterAll(() => server[Symbol.asyncDispose]());
  contract({
    features: {
      ...theirs,
      since1: false,
      emptyHistory: false,
      filenames: binding === "JSONRPC",
      table,
      cardWarnings: [expect.stringMatching(/A2A 0\.3/)],
    },
    binding,
    version: "0.3",
    url: () => server.url,
  });
});

describe("peers with faults of their own", peerSuite);

function contract(target: ContractTarget): void {
  cardSuite(target);
  runSuite(target);
  followSuite(target);
  operationSuite(target);
}
