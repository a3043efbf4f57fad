// CancelTask may be repeated: what the first one did is no failure of the second.

import { a2aError, findA2AError } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { wires } from "@a2a-connect/testing";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { connectOver } from "../conformance/client/every-operation.ts";
import { peerTask, startPeer, taskId } from "../conformance/client/peer.ts";
import { failureOf } from "./outcomes.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

const { CANCELED, COMPLETED, WORKING } = TaskState;

describe.each(wires)("cancelTask over %s", (wire) => {
  it("gives the task that its first attempt has canceled, whose answer was lost", async () => {
    let state: TaskState = WORKING;
    await using peer = await startPeer({
      service: {
        cancelTask: () => {
          if (state === CANCELED) throw a2aError("TASK_NOT_CANCELABLE", "it is canceled already");
          state = CANCELED;
          throw new ConnectError("lost on its way", Code.Unavailable);
        },
        getTask: () => peerTask(state),
      },
    });
    await using agent = await connectOver(wire, peer);
    expect((await agent.cancelTask(taskId)).status?.state).toBe(CANCELED);
    expect(peer.requests.map(({ method }) => method)).toEqual(["CancelTask", "CancelTask", "GetTask"]);
  });

  it.each([
    ["was canceled before anybody asked", 0, CANCELED, ["CancelTask"]],
    ["has completed before anybody asked", 0, COMPLETED, ["CancelTask"]],
    ["has completed while it was repeated", 1, COMPLETED, ["CancelTask", "CancelTask", "GetTask"]],
  ] as const)("is refused when the task %s", async (_, lost, state, calls) => {
    let attempts = 0;
    await using peer = await startPeer({
      service: {
        cancelTask: () => {
          attempts += 1;
          throw attempts > lost
            ? a2aError("TASK_NOT_CANCELABLE", "it has ended")
            : new ConnectError("not now", Code.Unavailable);
        },
        getTask: () => peerTask(state),
      },
    });
    await using agent = await connectOver(wire, peer);
    expect(findA2AError(await failureOf(agent.cancelTask(taskId)))?.reason).toBe("TASK_NOT_CANCELABLE");
    expect(peer.requests.map(({ method }) => method)).toEqual(calls);
  });
});
