// Agents that say themselves that they are out of order for a while: whatever may be repeated is, and followed tasks survive.

import { a2aError, partText } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { wires } from "@a2a-connect/testing";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { meetPeer } from "../conformance/client/every-operation.ts";
import {
  chunkEvent,
  events,
  peerTask,
  statusEvent,
  taskEvent,
  taskId,
  textPart,
} from "../conformance/client/peer.ts";
import { createLeapingClock } from "./client-clocks.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

const { COMPLETED, WORKING } = TaskState;

describe.each(wires)("over %s", (wire) => {
  it("a client that waits for an agent says so once, and for how long it will", {
    timeout: 5_000,
  }, async () => {
    let calls = 0;
    const clock = createLeapingClock(20_000);
    const { agent, warnings } = await meetPeer(
      wire,
      {
        sendStreamingMessage: () => events(taskEvent(WORKING)),
        subscribeToTask: () => {
          calls += 1;
          if (calls < 6) throw new ConnectError("the store is away", Code.Unavailable);
          return events(statusEvent(COMPLETED));
        },
        getTask: () => {
          throw new ConnectError("the store is away", Code.Unavailable);
        },
      },
      {
        clock,
        connectTimeoutMs: 3_600_000,
        retry: { initialDelayMs: 10_000, maxDelayMs: 10_000, giveUpAfterMs: 300_000 },
      },
    );
    expect((await agent.run("go")).task?.status?.state).toBe(COMPLETED);
    expect(warnings).toEqual(["Connection lost, trying again for 4 min 55 s: the store is away."]);
  });

  // Our servers name the reason: their store cannot be reached. What others say is a broken-calls test.
  const outOfOrder = () => a2aError("UNAVAILABLE", "the store cannot be reached");

  describe("agents that are out of order", () => {
    it("are asked for a task again", async () => {
      let calls = 0;
      const { agent } = await meetPeer(wire, {
        getTask: () => {
          calls += 1;
          if (calls < 3) throw outOfOrder();
          return peerTask(COMPLETED);
        },
      });
      expect((await agent.getTask(taskId)).status?.state).toBe(COMPLETED);
    });

    it("are followed on", async () => {
      let calls = 0;
      const { agent } = await meetPeer(wire, {
        sendStreamingMessage: async function* () {
          yield* events(taskEvent(WORKING), chunkEvent("story", "Once ", false));
          throw outOfOrder();
        },
        subscribeToTask: () => {
          calls += 1;
          if (calls < 3) throw outOfOrder();
          return events(
            taskEvent(WORKING, {
              artifacts: [{ artifactId: "story", parts: [textPart("Once "), textPart("more.")] }],
            }),
            statusEvent(COMPLETED),
          );
        },
        getTask: () => {
          throw outOfOrder();
        },
      });
      const chunks: string[] = [];
      const result = await agent.run("go", {
        onArtifact: ({ artifact }) => void chunks.push(artifact === undefined ? "" : partText(artifact)),
      });
      expect(result.task?.status?.state).toBe(COMPLETED);
      expect(chunks).toEqual(["Once ", "more."]);
    });
  });
});
