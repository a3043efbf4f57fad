// A card that changes while many calls are under way: each of them is made again, once, with the new one.

import { CardDriftError } from "@a2a-connect/client";
import { a2aError, partText } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { wires } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { connectOver } from "../conformance/client/every-operation.ts";
import { events, peerTask, startPeer, taskEvent } from "../conformance/client/peer.ts";
import { rejectedWith } from "./outcomes.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

const { COMPLETED } = TaskState;
const refusal = () => a2aError("CONTENT_TYPE_NOT_SUPPORTED", "not in this version");

describe.each(wires)("over %s", (wire) => {
  it("calls are made again whose failures come together", async () => {
    let sends = 0;
    const both = Promise.withResolvers<void>();
    await using peer = await startPeer({
      service: {
        async *sendStreamingMessage() {
          sends += 1;
          if (sends === 2) both.resolve();
          if (sends <= 2) {
            await both.promise;
            throw refusal();
          }
          yield* events(taskEvent(COMPLETED));
        },
      },
    });
    await using agent = await connectOver(wire, peer);
    peer.card.version = "2.0.0";
    const results = await Promise.all([agent.run("one"), agent.run("two")]);
    expect(results.map(({ task }) => task?.status?.state)).toEqual([COMPLETED, COMPLETED]);
    expect(sends).toBe(4);
  });

  it("a call is made again whose failure comes when another one has changed the card already", async () => {
    const sends: string[] = [];
    const release = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    await using peer = await startPeer({
      service: {
        async *sendStreamingMessage({ message }) {
          const words = message === undefined ? "" : partText(message);
          sends.push(words);
          if (words === "slow" && sends.filter((each) => each === words).length === 1) {
            arrived.resolve();
            await release.promise;
            throw refusal();
          }
          if (words === "quick" && sends.filter((each) => each === words).length === 1) throw refusal();
          yield* events(taskEvent(COMPLETED));
        },
      },
    });
    await using agent = await connectOver(wire, peer);
    const slow = agent.run("slow");
    await arrived.promise;
    peer.card.version = "2.0.0";
    await agent.run("quick");
    release.resolve();
    expect((await slow).task?.status?.state).toBe(COMPLETED);
    expect(sends).toEqual(["slow", "quick", "quick", "slow"]);
  });

  it("a call under way with the old card is not disturbed", async () => {
    const release = Promise.withResolvers<void>();
    const arrived = Promise.withResolvers<void>();
    let refused = 0;
    await using peer = await startPeer({
      service: {
        sendMessage: async () => {
          arrived.resolve();
          await release.promise;
          return { payload: { case: "task", value: peerTask(COMPLETED) } };
        },
        sendStreamingMessage: () => {
          if (refused++ === 0) throw refusal();
          return events(taskEvent(COMPLETED));
        },
      },
    });
    await using agent = await connectOver(wire, peer);
    const blocking = agent.sendMessage("slow");
    await arrived.promise;
    peer.card.version = "2.0.0";
    await agent.run("quick");
    release.resolve();
    expect((await blocking).payload.case).toBe("task");
  });

  it("a call that does not fit the new card either says what has changed", async () => {
    await using peer = await startPeer({
      service: {
        sendStreamingMessage: () => {
          throw refusal();
        },
      },
    });
    await using agent = await connectOver(wire, peer);
    peer.card.version = "2.0.0";
    const { changes } = await rejectedWith(agent.run("go"), CardDriftError);
    expect(changes.join(" ")).toContain("2.0.0");
    expect(peer.requests).toHaveLength(2);
  });
});
