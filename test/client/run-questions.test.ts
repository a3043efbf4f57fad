// Questions while the world goes on: somebody else answers, the task ends, the answer is refused, the server is odd.

import { CallbackError, type Question } from "@a2a-connect/client";
import { a2aError } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { wires } from "@a2a-connect/testing";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { connectOver } from "../conformance/client/every-operation.ts";
import {
  chunkEvent,
  events,
  peerEvent,
  startPeer,
  statusEvent,
  taskAfter,
  taskEvent,
} from "../conformance/client/peer.ts";
import { createLeapingClock } from "./client-clocks.ts";
import { failureOf, rejectedWith } from "./outcomes.ts";
import { asksAtOnce, never, scriptTask } from "./scripted-task.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

const { COMPLETED, INPUT_REQUIRED, SUBMITTED, WORKING } = TaskState;

/** The message that is a conversation's second: an answer. */
const isAnswer = ({ message }: { readonly message?: { readonly taskId: string } | undefined }): boolean =>
  message?.taskId !== "";

describe.each(wires)("over %s", (wire) => {
  it("a question is taken back when somebody else has answered", { timeout: 5_000 }, async () => {
    const task = scriptTask();
    await using peer = await startPeer({ service: task.service });
    await using agent = await connectOver(wire, peer);
    const questions: Question[] = [];
    const result = await agent.run("go", {
      onInputRequired: (question) => {
        questions.push(question);
        task.tell(statusEvent(WORKING), chunkEvent("story", "theirs", false), statusEvent(COMPLETED));
        return never;
      },
    });
    expect(result.text()).toBe("theirs");
    expect(questions.map(({ signal }) => signal.aborted)).toEqual([true]);
  });

  it("a question is watched also after events that do not settle it", { timeout: 5_000 }, async () => {
    const task = scriptTask();
    await using peer = await startPeer({ service: task.service });
    await using agent = await connectOver(wire, peer);
    const aborted = Promise.withResolvers<void>();
    const told: string[] = [];
    const result = await agent.run("go", {
      onInputRequired: ({ signal }) => {
        signal.addEventListener("abort", () => aborted.resolve());
        task.tell(chunkEvent("story", "One ", false)); // while it asks
        return never;
      },
      onArtifact: ({ append }) => {
        told.push(append ? "more" : "first");
        if (!append) task.tell(chunkEvent("story", "two", true));
        else task.tell(statusEvent(WORKING), statusEvent(COMPLETED));
      },
    });
    await aborted.promise;
    expect(told).toEqual(["first", "more"]);
    expect(result.text()).toBe("One two");
  });

  it("an answer is still taken after events that do not settle its question", {
    timeout: 5_000,
  }, async () => {
    const task = scriptTask();
    await using peer = await startPeer({
      service: {
        ...task.service,
        sendMessage: (request) => {
          if (isAnswer(request)) task.tell(statusEvent(WORKING), statusEvent(COMPLETED));
          return { payload: { case: "task", value: task.current } };
        },
      },
    });
    await using agent = await connectOver(wire, peer);
    const chunk = Promise.withResolvers<void>();
    const result = await agent.run("go", {
      onInputRequired: async () => {
        task.tell(chunkEvent("story", "One.", false));
        await chunk.promise;
        return "this";
      },
      onArtifact: () => chunk.resolve(),
    });
    expect(result.text()).toBe("One.");
  });

  it.each([
    ["UNSUPPORTED_OPERATION", () => a2aError("UNSUPPORTED_OPERATION", "no messages to tasks")],
    ["TASK_GENERATION_MISMATCH", () => a2aError("TASK_GENERATION_MISMATCH", "not that one")],
    ["INVALID_ARGUMENT", () => new ConnectError("not like that", Code.InvalidArgument)],
  ])(
    "an answer that is refused with %s while the task still asks ends the run",
    { timeout: 5_000 },
    async (_, refusal) => {
      const task = scriptTask();
      await using peer = await startPeer({
        service: {
          ...task.service,
          sendMessage: () => {
            throw refusal();
          },
        },
      });
      await using agent = await connectOver(wire, peer);
      const thrown = await rejectedWith(agent.run("go", { onInputRequired: () => "this" }), CallbackError);
      expect(thrown.message).toContain("its answer was refused");
      expect(thrown.task.status?.state).toBe(INPUT_REQUIRED);
      expect(thrown.hint).toContain("still waits");
    },
  );

  it("an answer that comes too late is nobody's mistake", { timeout: 5_000 }, async () => {
    const task = scriptTask();
    await using peer = await startPeer({
      service: {
        ...task.service,
        sendMessage: () => {
          task.tell(statusEvent(COMPLETED)); // somebody else's, a moment earlier
          throw a2aError("UNSUPPORTED_OPERATION", "it is completed");
        },
      },
    });
    await using agent = await connectOver(wire, peer);
    const result = await agent.run("go", { onInputRequired: () => "this" });
    expect(result.task?.status?.state).toBe(COMPLETED);
  });

  it("a cancel that comes too late is nobody's mistake", { timeout: 5_000 }, async () => {
    const task = scriptTask();
    await using peer = await startPeer({
      service: {
        ...task.service,
        cancelTask: () => {
          task.tell(statusEvent(COMPLETED));
          throw a2aError("TASK_NOT_CANCELABLE", "it is completed");
        },
      },
    });
    await using agent = await connectOver(wire, peer);
    const result = await agent.run("go", { onInputRequired: () => ({ cancel: true }) });
    expect(result.task?.status?.state).toBe(COMPLETED);
  });

  it("a cancel that is refused while the task still asks ends the run", { timeout: 5_000 }, async () => {
    const task = scriptTask();
    await using peer = await startPeer({
      service: {
        ...task.service,
        cancelTask: () => {
          throw a2aError("TASK_NOT_CANCELABLE", "not this one");
        },
      },
    });
    await using agent = await connectOver(wire, peer);
    const run = agent.run("go", { onInputRequired: () => ({ cancel: true }) });
    expect(String(await failureOf(run))).toContain("not this one");
  });

  it("a question whose time is stamped anew each time is asked once, and looked after ever less often", {
    timeout: 10_000,
  }, async () => {
    const clock = createLeapingClock(30_001);
    const controller = new AbortController();
    const began = clock.now();
    let calls = 0;
    const stamped = () => {
      calls += 1;
      if (clock.now() - began > 600_000) controller.abort(new Error("enough"));
      const task = taskAfter(...asksAtOnce);
      if (task.status !== undefined) task.status.timestamp = timestampFromMs(Date.now() + calls);
      return task;
    };
    const once = () => events(peerEvent({ case: "task", value: stamped() })); // and closes
    await using peer = await startPeer({
      service: { sendStreamingMessage: once, subscribeToTask: once, getTask: stamped },
    });
    await using agent = await connectOver(wire, peer, {
      clock,
      idleTimeoutMs: 3_600_000,
      connectTimeoutMs: 3_600_000,
    });
    let asked = 0;
    const run = agent.run("go", {
      signal: controller.signal,
      onInputRequired: () => {
        asked += 1;
        return never;
      },
    });
    expect(await failureOf(run)).toMatchObject({ message: "enough" });
    expect(asked).toBe(1);
    expect(calls).toBeLessThan(100); // ten minutes: every 2 s ten times, then ever less often, each by stream and by call
  });

  it("a status without words that is stamped anew each time is no reason to hurry", {
    timeout: 10_000,
  }, async () => {
    const clock = createLeapingClock(30_001);
    const controller = new AbortController();
    const began = clock.now();
    let calls = 0;
    const stamped = () => {
      calls += 1;
      if (clock.now() - began > 60_000) controller.abort(new Error("enough"));
      const task = taskAfter(taskEvent(SUBMITTED), statusEvent(WORKING));
      if (task.status !== undefined) task.status.timestamp = timestampFromMs(Date.now() + calls);
      return task;
    };
    const once = () => events(peerEvent({ case: "task", value: stamped() }));
    await using peer = await startPeer({
      service: { sendStreamingMessage: once, subscribeToTask: once, getTask: stamped },
    });
    await using agent = await connectOver(wire, peer, {
      clock,
      idleTimeoutMs: 3_600_000,
      connectTimeoutMs: 3_600_000,
    });
    const run = agent.run("go", { signal: controller.signal });
    expect(await failureOf(run)).toMatchObject({ message: "enough" });
    expect(calls).toBeLessThan(90); // a minute: about a call a second, where nothing but the time is new
  });
});
