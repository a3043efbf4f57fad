// Headers of a run go out with every call that it makes, whatever the call is for.

import { TaskCanceledError } from "@a2a-connect/client";
import { TaskState } from "@a2a-connect/proto";
import { wires } from "@a2a-connect/testing";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { collect, failureOf, rejectedWith } from "../../packages/client/test-support/outcomes.ts";
import { meetPeer } from "../conformance/client/every-operation.ts";
import { type Peer, statusEvent, taskAnswer, taskId } from "../conformance/client/peer.ts";
import { never, type PeerService, scriptTask } from "./scripted-task.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

const headers = { authorization: "Bearer of-this-run" };

/** Methods so far; each with what is wrong about its credentials. */
function callsOf({ requests }: Peer): readonly string[] {
  return requests.map(({ method, header }) => {
    const sent = header.get("authorization");
    return sent === headers.authorization ? method : `${method} with ${sent}`;
  });
}

/** The task of a peer that answers nobody without credentials. */
function guardedTask() {
  const task = scriptTask();
  const check = ({ requestHeader }: HandlerContext): void => {
    if (requestHeader.get("authorization") !== headers.authorization)
      throw new ConnectError("who are you?", Code.Unauthenticated);
  };
  const { service } = task;
  const guarded: PeerService = {
    sendStreamingMessage: (request, context) => {
      check(context);
      return service.sendStreamingMessage?.(request, context) ?? failed();
    },
    subscribeToTask: (request, context) => {
      check(context);
      return service.subscribeToTask?.(request, context) ?? failed();
    },
    sendMessage: ({ message }, context) => {
      check(context);
      if (message?.taskId !== "") task.tell(statusEvent(TaskState.WORKING), statusEvent(TaskState.COMPLETED));
      return taskAnswer(task.current);
    },
    getTask: (_, context) => {
      check(context);
      return task.current;
    },
    cancelTask: (request, context) => {
      check(context);
      return service.cancelTask?.(request, context) ?? failed();
    },
  };
  return { task, service: guarded };
}

function failed(): never {
  throw new Error("the script has every operation");
}

describe.each(wires)("over %s", { timeout: 5_000 }, (wire) => {
  it("a message to a task, its question, its answer and its end", async () => {
    const { task, service } = guardedTask();
    task.tell(statusEvent(TaskState.SUBMITTED));
    const { peer, agent } = await meetPeer(wire, service);
    const result = await agent.run(
      { parts: "go", taskId },
      {
        headers,
        onTask: () => task.tell(statusEvent(TaskState.INPUT_REQUIRED, "Which?")),
        onInputRequired: () => "this",
      },
    );
    expect(result.task?.status?.state).toBe(TaskState.COMPLETED);
    const calls = callsOf(peer);
    expect(calls.filter((call) => call.includes(" with "))).toEqual([]);
    expect(calls).toEqual(expect.arrayContaining(["GetTask", "SendStreamingMessage", "SendMessage"]));
    // Before the send, before the question, and at the end.
    expect(calls.filter((call) => call === "GetTask").length).toBeGreaterThanOrEqual(2);
  });

  it("an answer that cancels", async () => {
    const { service } = guardedTask();
    const { peer, agent } = await meetPeer(wire, service);
    await rejectedWith(
      agent.run("go", { headers, onInputRequired: () => ({ cancel: true }) }),
      TaskCanceledError,
    );
    expect(callsOf(peer).filter((call) => call.includes(" with "))).toEqual([]);
    expect(callsOf(peer)).toContain("CancelTask");
  });

  it("an abort that cancels", async () => {
    const { task, service } = guardedTask();
    const { peer, agent } = await meetPeer(wire, service);
    const controller = new AbortController();
    const reason = new Error("enough");
    const run = agent.run("go", {
      headers,
      signal: controller.signal,
      cancelOnAbort: true,
      onInputRequired: () => {
        controller.abort(reason);
        return never;
      },
    });
    expect(await failureOf(run)).toBe(reason);
    expect(callsOf(peer).filter((call) => call.includes(" with "))).toEqual([]);
    expect(task.current.status?.state).toBe(TaskState.CANCELED);
  });

  it("a task that is gone on with, and one that is followed", async () => {
    const { task, service } = guardedTask();
    task.tell(statusEvent(TaskState.INPUT_REQUIRED, "Which?"));
    const { peer, agent } = await meetPeer(wire, service);
    const result = await agent.resume(taskId, { headers, onInputRequired: () => "this" });
    expect(result.task?.status?.state).toBe(TaskState.COMPLETED);
    await collect(agent.follow(taskId, { headers }));
    expect(callsOf(peer).filter((call) => call.includes(" with "))).toEqual([]);
  });
});
