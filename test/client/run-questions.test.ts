// Questions while the world goes on: somebody else answers, the task moves on, the server is odd.

import type { Question } from "@a2a-connect/client";
import { TaskState, type TaskStatus, TaskStatusSchema } from "@a2a-connect/proto";
import { wires } from "@a2a-connect/testing";
import { clone } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../packages/client/test-support/outcomes.ts";
import { meetPeer } from "../conformance/client/every-operation.ts";
import {
  chunkEvent,
  contextId,
  events,
  peerEvent,
  peerTask,
  statusEvent,
  taskAfter,
  taskAnswer,
  taskEvent,
  taskId,
} from "../conformance/client/peer.ts";
import { createLeapingClock } from "./client-clocks.ts";
import { asksAtOnce, never, scriptTask } from "./scripted-task.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

const { AUTH_REQUIRED, COMPLETED, INPUT_REQUIRED, SUBMITTED, WORKING } = TaskState;

describe.each(wires)("over %s", (wire) => {
  it("a question is taken back when somebody else has answered", { timeout: 5_000 }, async () => {
    const task = scriptTask();
    const { agent } = await meetPeer(wire, task.service);
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
    const { agent } = await meetPeer(wire, task.service);
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

  it.each<readonly [string, (status: TaskStatus) => void]>([
    [
      "with a time",
      (status) => {
        status.timestamp = timestampFromMs(Date.now());
      },
    ],
    [
      "with the ids of its task",
      ({ message }) => {
        if (message !== undefined) Object.assign(message, { taskId, contextId });
      },
    ],
    ["without the id of its message", ({ message }) => void Object.assign(message ?? {}, { messageId: "" })],
    ["without its message", (status) => void delete status.message],
  ])("a question is put that GetTask shows %s", { timeout: 5_000 }, async (_, change) => {
    const task = scriptTask();
    const { agent } = await meetPeer(wire, {
      ...task.service,
      getTask: () => {
        const { current } = task;
        if (current.status?.state === INPUT_REQUIRED) {
          current.status = clone(TaskStatusSchema, current.status);
          change(current.status);
        }
        return current;
      },
      sendMessage: () => {
        task.tell(statusEvent(WORKING), statusEvent(COMPLETED));
        return taskAnswer(task.current);
      },
    });
    let asked = 0;
    const result = await agent.run("go", {
      onInputRequired: () => {
        asked += 1;
        return "this";
      },
    });
    expect(asked).toBe(1);
    expect(result.task?.status?.state).toBe(COMPLETED);
  });

  it("credentials that are there are looked for soon, however long nothing has happened", {
    timeout: 10_000,
  }, async () => {
    const clock = createLeapingClock(30_001);
    const began = clock.now();
    const longAfter = Promise.withResolvers<void>();
    let resolvedAt = Number.POSITIVE_INFINITY;
    const { agent } = await meetPeer(
      wire,
      {
        sendMessage: () => taskAnswer(peerTask(AUTH_REQUIRED)),
        getTask: () => {
          if (clock.now() - began > 300_000) longAfter.resolve(); // every 30 s by now
          return peerTask(clock.now() >= resolvedAt + 3_000 ? COMPLETED : AUTH_REQUIRED);
        },
      },
      {
        clock,
        connectTimeoutMs: 3_600_000,
        peer: {
          editCard: ({ capabilities }) => {
            if (capabilities !== undefined) capabilities.streaming = false;
          },
        },
      },
    );
    await agent.run("go", {
      onAuthRequired: async () => {
        await longAfter.promise;
        resolvedAt = clock.now();
        return { resolved: true };
      },
    });
    expect(clock.now() - resolvedAt).toBeLessThan(10_000);
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
    const { agent } = await meetPeer(
      wire,
      { sendStreamingMessage: once, subscribeToTask: once, getTask: stamped },
      {
        clock,
        idleTimeoutMs: 3_600_000,
        connectTimeoutMs: 3_600_000,
      },
    );
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
    const { agent } = await meetPeer(
      wire,
      { sendStreamingMessage: once, subscribeToTask: once, getTask: stamped },
      {
        clock,
        idleTimeoutMs: 3_600_000,
        connectTimeoutMs: 3_600_000,
      },
    );
    const run = agent.run("go", { signal: controller.signal });
    expect(await failureOf(run)).toMatchObject({ message: "enough" });
    expect(calls).toBeLessThan(90); // a minute: about a call a second, where nothing but the time is new
  });
});
