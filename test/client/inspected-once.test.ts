// Whoever inspects what an agent sends is asked about each thing once, however often it comes again.

import { connectAgent } from "@a2a-connect/node/client";
import { describe, expect, it } from "vitest";
import { openStream, respondJson, respondResult, startBrokenServer } from "./broken-server.ts";
import { finishedTask, statusEvent, taskId } from "./broken-task.ts";

/** The card, the artifact and its two parts. */
const everything = ["card", "artifact", "part", "part"];

describe("a person who approves what comes", () => {
  it("is asked once about each thing of a task that comes over four connections", async () => {
    let connections = 0;
    await using server = await startBrokenServer({
      answer: (call) => {
        if (call.method === "GetTask") return respondResult(call, finishedTask);
        const stream = openStream(call);
        stream.send({ task: { ...finishedTask, status: { state: "TASK_STATE_WORKING" } } });
        connections++;
        if (connections === 4) stream.send(statusEvent("TASK_STATE_COMPLETED"));
        stream.end();
      },
    });
    const asked: string[] = [];
    await using agent = await connectAgent(server.url, {
      retry: { initialDelayMs: 1 },
      inspect: ({ kind }) => void asked.push(kind),
    });
    expect((await agent.run("Work.")).task?.id).toBe(taskId);
    expect(connections).toBe(4);
    expect(asked).toEqual(everything);
  });

  it("is asked by each client for itself", async () => {
    await using server = await startBrokenServer({ serveCard: (card, _, res) => respondJson(res, card) });
    let asked = 0;
    const inspect = () => {
      asked += 1;
    };
    await using _one = await connectAgent(server.url, { inspect });
    await using _other = await connectAgent(server.url, { inspect });
    expect(asked).toBe(2);
  });
});
