// Agents without streams: the client asks for the task, and comes to the same end.

import { connectAgent } from "@a2a-connect/node/client";
import { type AgentHarness, startAgentHarness, type Wire, wires } from "@a2a-connect/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { contractAgent } from "./contract-agent.ts";
import { product } from "./contract-work.ts";
import { bindingOf } from "./interfaces.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

let harness: AgentHarness;

beforeAll(async () => {
  harness = await startAgentHarness({
    agent: contractAgent,
    streaming: false,
    protocolVersions: ["1.0", "1.1"],
  });
});

afterAll(() => harness[Symbol.asyncDispose]());

const answers = (): (() => string) => {
  const left = ["Ann", "red"];
  return () => left.shift() ?? "";
};

describe.each(wires)("over %s", (wire: Wire) => {
  const pinBinding = bindingOf[wire];

  it("an agent of A2A 1.1 is asked once for each change, and answers when there is one", async () => {
    const warnings: string[] = [];
    await using agent = await connectAgent(harness.url, {
      pinBinding,
      pinVersion: "1.1",
      onWarning: (warning) => void warnings.push(warning),
    });
    const began = performance.now();
    const result = await agent.run("ask", { onInputRequired: answers() });
    expect(result.text()).toBe("Ann, red");
    expect(performance.now() - began).toBeLessThan(1_500); // before the second poll of 2 s would be due
    expect(warnings).toEqual([]);
  });

  it("an agent of A2A 1.0 is asked as often as the caller wants, who is warned", async () => {
    const warnings: string[] = [];
    await using agent = await connectAgent(harness.url, {
      pinBinding,
      onWarning: (warning) => void warnings.push(warning),
    });
    const result = await agent.run("work", { pollIntervalMs: 20, allowFastPolling: true });
    expect(result.artifact("story").text()).toBe(product.chunks.join(""));
    expect(result.artifact("table").json()).toEqual(product.table);
    expect(result.artifact("picture").bytes()).toEqual(product.picture);
    const asked = await agent.run("ask", {
      pollIntervalMs: 20,
      allowFastPolling: true,
      onInputRequired: answers(),
    });
    expect(asked.text()).toBe("Ann, red");
    expect(warnings.join(" ")).toMatch(/poll/i);
  });
});
