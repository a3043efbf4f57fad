import type { AgentClient, ConnectOptions } from "@a2a-connect/client";
import { partText } from "@a2a-connect/core";
import { type StreamResponse, TaskState } from "@a2a-connect/proto";
import type { Wire } from "@a2a-connect/testing";
import { expect } from "vitest";
import { collect } from "../../../packages/client/test-support/outcomes.ts";
import { clientScenarios } from "./client-scenario.ts";
import { connectOver } from "./every-operation.ts";
import { chunkEvent, events, type Peer, startPeer, statusEvent, taskEvent, textPart } from "./peer.ts";

const { WORKING, COMPLETED } = TaskState;

/** A2A 1.1, a draft: events that count. */
export const generations = clientScenarios("Generations, as the client reads them", (verifies) => {
  verifies("R-2", "show what was missed: it is read anew", async (wire) => {
    const artifacts = [{ artifactId: "story", parts: [textPart("once "), textPart("upon ")] }];
    await using peer = await startPeer({
      ...draft,
      service: {
        sendStreamingMessage: () =>
          events(
            at(1, taskEvent(WORKING)),
            at(2, chunkEvent("story", "once ", false)),
            at(4, chunkEvent("story", "a time", true)),
            at(5, statusEvent(COMPLETED)),
          ),
        subscribeToTask: () =>
          events(
            at(3, taskEvent(WORKING, { artifacts })),
            at(4, chunkEvent("story", "a time", true)),
            at(5, statusEvent(COMPLETED)),
          ),
      },
    });
    await using agent = await connectDraft(wire, peer);
    expect(await tell(agent)).toEqual(["once ", "upon ", "a time"]);
    expect(peer.requests.map(({ method }) => method)).toEqual(["SendStreamingMessage", "SubscribeToTask"]);
  });

  for (const [what, number] of [
    ["are 0", 0],
    ["are the same for two events", 7],
  ] as const) {
    verifies(
      "R-2",
      `are not gone by when they ${what}: nothing is taken for missed or known`,
      async (wire) => {
        await using peer = await startPeer({
          ...draft,
          service: {
            sendStreamingMessage: () =>
              events(
                at(number, taskEvent(WORKING)),
                at(number, chunkEvent("story", "once ", false)),
                at(number, chunkEvent("story", "upon a time", true)),
                at(number, statusEvent(COMPLETED)),
              ),
          },
        });
        await using agent = await connectDraft(wire, peer);
        expect(await tell(agent)).toEqual(["once ", "upon a time"]);
        expect(peer.requests.map(({ method }) => method)).toEqual(["SendStreamingMessage"]);
      },
    );
  }
});

/** A peer whose interfaces are all of 1.1. */
const draft = {
  editCard: ({ supportedInterfaces }: Peer["card"]) => {
    for (const each of supportedInterfaces) each.protocolVersion = "1.1";
  },
};

function connectDraft(wire: Wire, peer: Peer): Promise<AgentClient> {
  const options: ConnectOptions = { pinVersion: "1.1", retry: { initialDelayMs: 1, maxDelayMs: 2 } };
  return connectOver(wire, peer, options);
}

/** The words that come, one after the other, when a story is told to its end. */
async function tell(agent: AgentClient): Promise<readonly string[]> {
  const stream = agent.stream("tell", { signal: AbortSignal.timeout(5_000) });
  const words = (await collect(stream)).flatMap(({ payload }) =>
    payload.case === "artifactUpdate" && payload.value.artifact !== undefined
      ? [partText(payload.value.artifact)]
      : [],
  );
  expect(stream.task?.status?.state).toBe(COMPLETED);
  return words;
}

/** An event with its generation. */
function at(generation: number, event: StreamResponse): StreamResponse {
  const { payload } = event;
  if (payload.case === "task" || payload.case === "statusUpdate" || payload.case === "artifactUpdate") {
    payload.value.generation = BigInt(generation);
  }
  return event;
}
