// One caller without credentials takes all the places it can get; callers elsewhere still get one, over every wire.

import { findA2AError } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { defineAgent } from "@a2a-connect/server";
import { type A2AClient, say, startAgentHarness, taskOf, type Wire, wires } from "@a2a-connect/testing";
import { Code, ConnectError } from "@connectrpc/connect";
import { expect, it } from "vitest";

const agent = defineAgent({
  card: { name: "Slow" },
  async *execute(turn) {
    yield turn.working();
    if (turn.text === "long") await new Promise((resolve) => turn.signal.addEventListener("abort", resolve));
  },
});

const detached = { ...say("long"), configuration: { returnImmediately: true } };

/** Sends tasks until one is refused. */
async function fill(client: A2AClient): Promise<{ taken: number; error: unknown }> {
  for (let taken = 0; ; taken += 1) {
    try {
      await client.sendMessage(detached);
    } catch (error) {
      return { taken, error };
    }
  }
}

it("leaves places to callers at other addresses, and says whose share is used up", async () => {
  await using harness = await startAgentHarness({
    agent,
    limits: { maxRunning: 32, maxQueued: 32 },
    trustedProxies: ["loopback"],
  });
  const clientAt = (address: string, wire: Wire) =>
    harness.client(wire, { headers: { "x-forwarded-for": address } });
  const { taken } = await fill(clientAt("192.0.2.1", "grpc"));
  expect(taken).toBe(28 + 28); // seven eighths of the running places, and of the waiting ones
  for (const wire of wires) {
    const { error } = await fill(clientAt("192.0.2.1", wire));
    const { code, rawMessage } = ConnectError.from(error);
    expect([wire, code, findA2AError(error)?.reason]).toEqual([wire, Code.ResourceExhausted, "CAPACITY"]);
    expect(rawMessage).toMatch(
      /^your own share of the places is used up.*; try again in \d+ seconds or later$/,
    );
    const other = taskOf(await clientAt("192.0.2.2", wire).sendMessage(say("short")));
    expect([wire, other.status?.state]).toEqual([wire, TaskState.COMPLETED]);
  }
});
