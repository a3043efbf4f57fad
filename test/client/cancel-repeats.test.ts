// CancelTask may be repeated: what the first one did is no failure of the second.

import { a2aError, findA2AError } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { wires } from "@a2a-connect/testing";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../packages/client/test-support/outcomes.ts";
import { meetPeer } from "../conformance/client/every-operation.ts";
import { peerTask, taskId } from "../conformance/client/peer.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

const { CANCELED, COMPLETED, WORKING } = TaskState;

/** Loses as many answers to CancelTask on their way back. */
function loseAnswers(count: number): Interceptor {
  let left = count;
  return (next) => async (request) => {
    const response = await next(request);
    if (request.method.name === "CancelTask" && left > 0) {
      left -= 1;
      throw new ConnectError("the connection broke", Code.Unavailable);
    }
    return response;
  };
}

describe.each(wires)("cancelTask over %s", (wire) => {
  it("gives the task that its first attempt has canceled, whose answer was lost", async () => {
    let state: TaskState = WORKING;
    const { peer, agent } = await meetPeer(
      wire,
      {
        cancelTask: () => {
          if (state === CANCELED) throw a2aError("TASK_NOT_CANCELABLE", "it is canceled already");
          state = CANCELED;
          return peerTask(state);
        },
        getTask: () => peerTask(state),
      },
      { interceptors: [loseAnswers(1)] },
    );
    expect((await agent.cancelTask(taskId)).status?.state).toBe(CANCELED);
    expect(peer.requests.map(({ method }) => method)).toEqual(["CancelTask", "CancelTask", "GetTask"]);
  });

  it.each([
    ["was canceled before anybody asked", 0, CANCELED, ["CancelTask"]],
    ["has completed before anybody asked", 0, COMPLETED, ["CancelTask"]],
    ["has completed while it was repeated", 1, COMPLETED, ["CancelTask", "CancelTask", "GetTask"]],
  ] as const)("is refused when the task %s", async (_, lost, state, calls) => {
    let attempts = 0;
    const { peer, agent } = await meetPeer(
      wire,
      {
        cancelTask: () => {
          attempts += 1;
          if (attempts > lost) throw a2aError("TASK_NOT_CANCELABLE", "it has ended");
          return peerTask(WORKING); // the agent thinks about it
        },
        getTask: () => peerTask(state),
      },
      { interceptors: [loseAnswers(lost)] },
    );
    expect(findA2AError(await failureOf(agent.cancelTask(taskId)))?.reason).toBe("TASK_NOT_CANCELABLE");
    expect(peer.requests.map(({ method }) => method)).toEqual(calls);
  });
});
