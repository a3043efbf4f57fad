// Our client and agents that speak A2A 0.3 alone, as they are published. `test/client/contract.test.ts` has the official JavaScript
// SDK 0.3 as an agent.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { connectAgent } from "@a2a-connect/node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Binding } from "./peers/caller.ts";
import { clientScenarios } from "./peers/client-scenarios.ts";
import { olderPython, root, whereInstalled } from "./peers/languages.ts";
import { ourCaller } from "./peers/our-caller.ts";
import { type PeerProcess, startPeer } from "./peers/peer-process.ts";
import { scenarios } from "./peers/scenarios.ts";

const bindings: readonly Binding[] = ["JSONRPC", "HTTP+JSON", "GRPC"];
const protoBindings: readonly Binding[] = ["HTTP+JSON", "GRPC"];

/** Scenarios of 1.0 that fail with the Python SDK 0.3, and why; docs/versions.md has them. The tests fail once they pass. */
const deviations: readonly {
  readonly scenario: string;
  readonly over: readonly Binding[];
  readonly why: string;
  /** Not tried: the scenario would wait until its time is over. */
  readonly waits?: true;
}[] = [
  { scenario: "tasks are listed in pages, newest first", over: bindings, why: "0.3 has no ListTasks" },
  {
    scenario: "a webhook that comes with the message gets the end of its task",
    over: bindings,
    why: "the webhook is told tasks in the form of 0.3, which the scenario does not read; `createPushReceiver` does",
    waits: true,
  },
  {
    scenario: "a stream is left, and a subscription follows the task to its end",
    over: bindings,
    why: "a subscription begins with the next event, and not with the task as it is",
    waits: true,
  },
  {
    scenario: "every kind of part comes back as it was sent",
    over: ["JSONRPC"],
    why: "data has no media type in 0.3",
  },
  {
    scenario: "every kind of part comes back as it was sent",
    over: protoBindings,
    why: "the SDK reads the bytes of a file as UTF-8, and fails",
  },
  {
    scenario: "the history is as long as it is asked for, and 0 is not none",
    over: bindings,
    why: "the SDK takes a length of 0 for none",
  },
  {
    scenario: "a message to a task that has ended is UNSUPPORTED_OPERATION",
    over: bindings,
    why: "the SDK calls it InvalidParams",
  },
  {
    scenario: "a message becomes a task, which is completed",
    over: protoBindings,
    why: "the SDK leaves out the time of a status",
  },
  {
    scenario: "webhooks are created, read, listed and deleted",
    over: protoBindings,
    why: "the SDK has not implemented the list",
  },
  {
    scenario: "a task is canceled while it works, and not after its end",
    over: ["GRPC"],
    why: "the SDK calls a cancel that comes too late Unimplemented",
  },
];

describe("our client and the Python SDK 0.3", whereInstalled(olderPython), () => {
  let peer: PeerProcess;
  beforeAll(async () => {
    peer = await startPeer(olderPython.peer, "");
  });
  afterAll(() => peer[Symbol.asyncDispose]());

  describe.each(bindings)("over %s", (binding) => {
    const behaves = (name: string, act: () => Promise<void>) => {
      const deviation = deviations.find(({ scenario, over }) => scenario === name && over.includes(binding));
      if (deviation === undefined) it(name, act);
      else if (deviation.waits === undefined) it.fails(`${name} (not so: ${deviation.why})`, act);
    };
    for (const [name, scenario] of Object.entries(scenarios)) {
      behaves(name, () => scenario({ caller: ourCaller, agent: peer.agent, binding }));
    }
    for (const [name, scenario] of Object.entries(clientScenarios)) {
      behaves(name, async () => {
        await using agent = await connectAgent(peer.agent.url, { pinBinding: binding });
        await scenario(agent);
      });
    }
  });
});

it("docs/versions.md lists every deviation, and no other", async () => {
  const named = deviations.map(({ scenario }) => scenario);
  expect(Object.keys({ ...scenarios, ...clientScenarios })).toEqual(expect.arrayContaining(named));
  const path = join(root, "docs/versions.md");
  const page = readFileSync(path, "utf8");
  const block = /(<!-- agents -->\n)[\s\S]*?(<!-- end agents -->)/;
  expect(page).toMatch(block);
  const rows = deviations.map(
    ({ scenario, over, why }) => `| ${scenario} | ${over.length === 3 ? "all" : over.join(", ")} | ${why} |`,
  );
  const table = ["| scenario | over | not so, because |", "| --- | --- | --- |", ...rows].join("\n");
  const written = page.replace(block, (_, begin: string, end: string) => `${begin}\n${table}\n\n${end}`);
  await expect(written).toMatchFileSnapshot(path);
});
