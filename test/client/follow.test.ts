// Following a task over every wire: where streams work, break, or do not exist.
import { connectAgent } from "@a2a-connect/node/client";
import { defineAgent } from "@a2a-connect/server";
import { startAgentHarness } from "@a2a-connect/testing";
import { expect, it } from "vitest";

const bindings = [
  "JSONRPC",
  "HTTP+JSON",
  "GRPC",
  "urn:a2a-connect:binding:connect:v1",
  "urn:a2a-connect:binding:grpc-web:v1",
];
const agentDef = defineAgent({
  card: { name: "Chunks", description: "x" },
  async *execute(turn) {
    for (let i = 0; i < 50; i++) yield turn.append("out", `${i} `);
  },
});
it.each(bindings)("%s", async (pinBinding) => {
  await using harness = await startAgentHarness({ agent: agentDef });
  await using agent = await connectAgent(harness.url, { pinBinding });
  expect(agent.interface.protocolBinding).toBe(pinBinding);
  const stream = agent.stream("go");
  const seen = [];
  for await (const e of stream) seen.push(e);
  expect(stream.lastEventId).toBe(seen.length);
  const again = agent.follow(stream.task?.id ?? "", { after: 0 });
  const replay = [];
  for await (const e of again) replay.push(e);
  expect(replay).toEqual(seen);
  const tail = agent.follow(stream.task?.id ?? "", { after: 40 });
  const rest = [];
  for await (const e of tail) rest.push(e);
  expect(rest).toEqual(seen.slice(40));
  const r = await agent.run("go");
  expect(r.text()).toContain("49");
  const all = [];
  for await (const t of agent.listTasks({ pageSize: 1 })) all.push(t);
  expect(all.length).toBe(2);
});
