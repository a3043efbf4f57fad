import type { AgentClient, ConnectOptions } from "@a2a-connect/client";
import { methods } from "@a2a-connect/core";
import { connectAgent } from "@a2a-connect/node/client";
import type { Wire } from "@a2a-connect/testing";
import { expect, onTestFinished } from "vitest";
import { collect } from "../../../packages/client/test-support/outcomes.ts";
import { bindingOf } from "../../client/interfaces.ts";
import { type Peer, type PeerOptions, startPeer, taskId } from "./peer.ts";
import type { WireRequest } from "./wire-request.ts";

/** A client of a peer over one wire. */
export function connectOver(
  wire: Wire,
  { url }: Pick<Peer, "url">,
  options: ConnectOptions = {},
): Promise<AgentClient> {
  return connectAgent(url, { pinBinding: bindingOf[wire], retry: { initialDelayMs: 1 }, ...options });
}

/**
 * Starts a peer with these operations of its own, and connects to it over that wire. Both are closed when the test has
 * ended; `warnings` has what the client warned of so far.
 */
export async function meetPeer(
  wire: Wire,
  service: PeerOptions["service"] = {},
  { peer: peerOptions = {}, ...options }: ConnectOptions & { readonly peer?: PeerOptions } = {},
): Promise<{ readonly peer: Peer; readonly agent: AgentClient; readonly warnings: readonly string[] }> {
  const peer = await startPeer({ ...peerOptions, service });
  onTestFinished(() => peer[Symbol.asyncDispose]());
  const warnings: string[] = [];
  const onWarning = (warning: string) => void warnings.push(warning);
  const agent = await connectOver(wire, peer, { onWarning, ...options });
  onTestFinished(() => agent[Symbol.asyncDispose]());
  return { peer, agent, warnings };
}

/**
 * Has the client make every operation there is, and gives what the peer got of it: all eleven, over that wire and no other.
 */
export async function callEverything(
  wire: Wire,
  peer: Peer,
  options: ConnectOptions = {},
): Promise<readonly WireRequest[]> {
  await using agent = await connectOver(wire, peer, options);
  await agent.sendMessage("hello");
  await collect(agent.stream("hello"));
  await agent.getTask(taskId);
  await collect(agent.listTasks());
  await agent.cancelTask(taskId);
  await collect(agent.follow(taskId));
  await agent.createPushConfig(taskId, { url: "https://hook.example/" });
  await agent.getPushConfig(taskId, "config-1");
  await collect(agent.listPushConfigs(taskId));
  await agent.deletePushConfig(taskId, "config-1");
  await agent.getExtendedCard();
  const called = new Set(peer.requests.map(({ method }) => method));
  expect([...called].toSorted()).toEqual(
    Object.values(methods)
      .map(({ name }) => name)
      .toSorted(),
  );
  expect(new Set(peer.requests.map((request) => request.wire))).toEqual(new Set([wire]));
  return peer.requests;
}
