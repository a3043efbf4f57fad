// Times that callers set: they cover all of a run, and may be as long as anybody likes.

import { RunTimeoutError } from "@a2a-connect/client";
import { systemClock } from "@a2a-connect/client/internal";
import { TaskState } from "@a2a-connect/proto";
import { wires } from "@a2a-connect/testing";
import { describe, expect, it } from "vitest";
import { rejectedWith } from "../../packages/client/test-support/outcomes.ts";
import { meetPeer } from "../conformance/client/every-operation.ts";
import { statusEvent, taskEvent, taskId } from "../conformance/client/peer.ts";
import { createManualClock } from "./client-clocks.ts";
import { never, scriptTask } from "./scripted-task.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

const dayMs = 24 * 60 * 60 * 1_000;

describe.each(wires)("over %s", { timeout: 5_000 }, (wire) => {
  it.each([
    ["30 days", 30 * dayMs],
    ["a million years", 365 * dayMs * 1_000_000],
    ["for ever", Number.POSITIVE_INFINITY],
  ])("a run may take %s", async (_, deadlineMs) => {
    const warnings: string[] = [];
    const note = ({ name }: Error): void => void warnings.push(name);
    process.on("warning", note);
    using _noting = { [Symbol.dispose]: () => void process.off("warning", note) };
    const task = scriptTask();
    const { agent } = await meetPeer(wire, task.service);
    const result = await agent.run("go", {
      deadlineMs,
      onInputRequired: async () => {
        await systemClock.sleep(1); // a timer that is too long is one of 1 ms, too, and came first
        task.tell(statusEvent(TaskState.COMPLETED));
        return never;
      },
    });
    expect(result.task?.status?.state).toBe(TaskState.COMPLETED);
    expect(warnings).toEqual([]);
  });

  it("the deadline holds while the agent does not even say how the task is", async () => {
    const asked = Promise.withResolvers<void>();
    const clock = createManualClock();
    const { peer, agent } = await meetPeer(
      wire,
      {
        getTask: () => {
          asked.resolve();
          return never;
        },
      },
      { clock },
    );
    const run = rejectedWith(agent.run({ parts: "go", taskId }, { deadlineMs: 300 }), RunTimeoutError);
    await asked.promise;
    await clock.advance(300);
    await run;
    expect(peer.requests.map(({ method }) => method)).toEqual(["GetTask"]);
  });

  it("the deadline holds while the agent does not say how the task has ended", async () => {
    const asked = Promise.withResolvers<void>();
    const clock = createManualClock();
    const { agent } = await meetPeer(
      wire,
      {
        async *sendStreamingMessage() {
          yield taskEvent(TaskState.SUBMITTED);
          yield statusEvent(TaskState.COMPLETED);
        },
        getTask: () => {
          asked.resolve();
          return never;
        },
      },
      { clock },
    );
    const run = Promise.allSettled([agent.run("go", { deadlineMs: 300 })]);
    await asked.promise;
    await clock.advance(300);
    expect(await run).toHaveLength(1); // what is known is as good as a RunTimeoutError
  });

  it("a task that was taken is named by the error", async () => {
    const task = scriptTask();
    const clock = createManualClock();
    const { peer, agent } = await meetPeer(wire, task.service, { clock });
    const called = Promise.withResolvers<void>();
    const run = agent.run("go", {
      deadlineMs: 300,
      onInputRequired: () => {
        called.resolve();
        return never;
      },
    });
    const failure = rejectedWith(run, RunTimeoutError);
    await called.promise;
    await clock.advance(299);
    expect(peer.requests.map(({ method }) => method)).not.toContain("CancelTask");
    await clock.advance(1);
    const thrown = await failure;
    expect(thrown.taskId).toBe(taskId);
    expect(thrown.hint).toContain(taskId);
  });
});
