import { methods } from "@a2a-connect/core";
import { type StreamResponse, StreamResponseSchema, TaskSchema, TaskState } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { createHandlerContext } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import type { BoundOperation } from "../invoke.ts";
import { bindOlderCalls } from "./calls.ts";
import { createForms } from "./forms.ts";

const states = [
  ...Array.from({ length: 5 }, () => TaskState.INPUT_REQUIRED),
  TaskState.COMPLETED,
] satisfies TaskState[];

describe("a stream of a task that has ended", () => {
  it("is read whole, and the task once, however often the agent has asked", async () => {
    let read = 0;
    async function* events(): AsyncGenerator<StreamResponse, undefined> {
      for (const state of states) {
        const payload = { case: "statusUpdate" as const, value: { taskId: "t", status: { state } } };
        yield create(StreamResponseSchema, { payload });
      }
      return undefined;
    }
    const operations: BoundOperation[] = [
      {
        method: methods.getTask,
        bound: {
          kind: "unary",
          desc: methods.getTask.desc as never,
          async call() {
            read += 1;
            return create(TaskSchema, { id: "t", status: { state: TaskState.COMPLETED } });
          },
        },
      },
      {
        method: methods.subscribeToTask,
        bound: { kind: "stream", desc: methods.subscribeToTask.desc as never, call: events },
      },
    ];
    const call = bindOlderCalls(operations, createForms("json")).find(
      ({ rpc }) => rpc === "taskSubscription",
    );
    if (call?.bound.kind !== "stream") throw new Error("a subscription is a stream");
    const context = createHandlerContext({
      service: methods.subscribeToTask.desc.parent,
      method: methods.subscribeToTask.desc,
      protocolName: "jsonrpc",
      requestMethod: "POST",
      url: "http://localhost",
    });
    const reader = call.bound.call(call.read({ id: "t" }, 100), context);
    const seen: unknown[] = [];
    for (let next = await reader.next(); next.done !== true; next = await reader.next()) {
      seen.push(JSON.parse(String(call.write(next.value))).final);
    }
    expect(seen).toEqual([false, false, false, false, false, true]);
    expect(read).toBe(1);
  });
});
