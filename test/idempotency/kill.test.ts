// A client that repeats what was not answered, and a server that is killed meanwhile: each request is taken once.

import { findA2AError } from "@a2a-connect/core";
import { A2AService } from "@a2a-connect/proto";
import { taskOf } from "@a2a-connect/testing";
import { createClient } from "@connectrpc/connect";
import { expect, it } from "vitest";
import { type AgentProcess, startAgent, temporaryDirectory } from "../faults/agent-process.ts";
import { wires } from "../interop/wires.ts";
import { keyed, request, wireNames } from "./idempotent-server.ts";

const requests = 30;
const kills = 2;

/** Every other one takes a second: it has been taken, and is not answered yet, when the quick ones are. */
const textOf = (index: number) => (index % 2 === 0 ? `task ${index}` : "stream 10 100");

it(`${requests} requests, repeated across ${kills} kills, make ${requests} tasks`, async () => {
  const directory = temporaryDirectory();
  let agent: AgentProcess = await startAgent(directory);
  /** Resolves when a server is there again. */
  let up = Promise.resolve();
  let answered = 0;
  let repeats = 0;
  const clientOver = (wire: string) => {
    const createTransport = wires[wire];
    if (createTransport === undefined) throw new Error(`there is no wire ${wire}`);
    return createClient(A2AService, createTransport(agent.url));
  };

  async function sendUntilAnswered(index: number, key: string): Promise<string> {
    for (let attempt = index; ; attempt++) {
      await up;
      try {
        const wire = wireNames[attempt % wireNames.length] ?? "";
        const answer = await clientOver(wire).sendMessage(request(textOf(index)), keyed(key));
        answered++;
        return taskOf(answer).id;
      } catch (error) {
        if (findA2AError(error) !== undefined) throw error;
        repeats++; // the server was killed: nobody knows whether the request was taken
      }
    }
  }

  async function killAndRestart(): Promise<void> {
    agent.signal("SIGKILL");
    await agent.ended;
    agent = await startAgent(directory);
  }

  const keys = Array.from({ length: requests }, () => crypto.randomUUID());
  const acknowledged = new Map<string, string>();
  for (let kill = 0; kill <= kills; kill++) {
    const share = keys.slice((kill * requests) / (kills + 1), ((kill + 1) * requests) / (kills + 1));
    const sends = share.map(async (key) => {
      acknowledged.set(key, await sendUntilAnswered(keys.indexOf(key), key));
    });
    if (kill < kills) {
      await Promise.race(sends);
      up = killAndRestart();
    }
    await Promise.all(sends);
  }

  expect(answered).toBe(requests);
  expect(repeats, "requests that were cut off and repeated").toBeGreaterThanOrEqual(kills);
  expect(new Set(acknowledged.values()).size).toBe(requests);
  for (const [index, key] of keys.entries()) {
    const repeated = await clientOver("gRPC").sendMessage(request(textOf(index)), keyed(key));
    expect(taskOf(repeated).id).toBe(acknowledged.get(key));
  }
  expect((await clientOver("gRPC").listTasks({ pageSize: 1 })).totalSize).toBe(requests);
}, 60_000);
