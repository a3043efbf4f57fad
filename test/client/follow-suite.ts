import { formatTaskState, partText } from "@a2a-connect/core";
import { connectAgent, createPushReceiver } from "@a2a-connect/node/client";
import {
  A2AService,
  AgentCardSchema,
  type StreamResponse,
  StreamResponseSchema,
  TaskState,
} from "@a2a-connect/proto";
import { clone, toJson } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { collect } from "../../packages/client/test-support/outcomes.ts";
import { startChaosProxy } from "./chaos-proxy.ts";
import { type ContractTarget, connectTo, pinned, taskIdOf } from "./contract-target.ts";
import { product } from "./contract-work.ts";

const show = (event: StreamResponse): unknown => toJson(StreamResponseSchema, event);

/** What the task of `work` looks like from outside. */
const workEvents: readonly string[] = [
  "task",
  "working begun",
  ...product.chunks.map((chunk) => `story ${chunk}`),
  "table ",
  "picture ",
  `completed ${product.closing}`,
];

/** `stream` and `follow`: the same events for everybody. */
export function followSuite(target: ContractTarget): void {
  const { features } = target;

  describe("stream", () => {
    it("gives the events in the order they happened, and the task as of the last", async () => {
      await using agent = await connectTo(target);
      const stream = agent.stream("work");
      expect((await collect(stream)).map(summarize)).toEqual(workEvents);
      expect(stream.task?.status?.state).toBe(TaskState.COMPLETED);
      expect(stream.lastEventId).toBe(features.resume ? workEvents.length : undefined);
      expect(() => stream[Symbol.asyncIterator]()).toThrow(/once/);
    });

    it("gives a direct Message as its only event", async () => {
      await using agent = await connectTo(target);
      const events = await collect(agent.stream("echo hi"));
      expect(events.map(summarize)).toEqual(["message hi"]);
    });

    it("ends where the task waits for somebody", async () => {
      await using agent = await connectTo(target);
      const stream = agent.stream("ask");
      expect((await collect(stream)).map(summarize).at(-1)).toBe("input-required Your name?");
      expect(stream.task?.status?.state).toBe(TaskState.INPUT_REQUIRED);
    });

    it("may be left in the middle", async () => {
      await using agent = await connectTo(target);
      for await (const event of agent.stream("wait")) {
        if (summarize(event).startsWith("working")) {
          expect((await agent.cancelTask(taskIdOf(event))).status?.state).toBe(TaskState.CANCELED);
          return;
        }
      }
      expect.unreachable();
    });
  });

  describe("follow", () => {
    it("gives another client the same events, while the task goes on", async () => {
      await using agent = await connectTo(target);
      await using other = await connectTo(target);
      const followed = Promise.withResolvers<StreamResponse[]>();
      const updates: unknown[] = [];
      let answers = 0;
      const result = await agent.run("ask", {
        onTask: ({ id }) => {
          const stream = other.follow(id, { ...(features.resume ? { after: 0 } : {}) });
          collect(stream).then(followed.resolve, followed.reject);
        },
        onProgress: (update) => void updates.push(update.status?.state),
        onInputRequired: () => (answers++ === 0 ? "Ann" : "red"),
      });
      const events = await followed.promise;
      expect(taskIdOf(events[0] ?? never())).toBe(result.task?.id);
      if (features.resume) {
        const states = events.flatMap(({ payload }) =>
          payload.case === "statusUpdate" ? [payload.value.status?.state] : [],
        );
        expect(states).toEqual(updates);
        expect(events[0]?.payload.case).toBe("task");
      }
      expect(summarize(events.at(-1) ?? never())).toMatch(/^completed|^task$/);
    });

    it("gives what there was of a task that has ended", async () => {
      await using agent = await connectTo(target);
      const events = await collect(agent.stream("work"));
      const taskId = taskIdOf(events[0] ?? never());
      const again = agent.follow(taskId, { after: 0 });
      const seen = await collect(again);
      expect(seen.map(show)).toEqual(
        features.resume
          ? events.map(show)
          : [
              {
                task: expect.objectContaining({
                  id: taskId,
                  status: expect.objectContaining({ state: "TASK_STATE_COMPLETED" }),
                }),
              },
            ],
      );
      expect(again.task?.artifacts.map(({ name }) => name)).toEqual(["story", "table", "picture"]);
    });

    it("goes on after the last event that is known", async () => {
      await using agent = await connectTo(target);
      const events = await collect(agent.stream("work"));
      const taskId = taskIdOf(events[0] ?? never());
      const after = 3;
      const seen = await collect(agent.follow(taskId, { after }));
      expect(seen.map(summarize)).toEqual(features.resume ? workEvents.slice(after) : ["task"]);
    });

    it("goes on when the connection was cut", async () => {
      await using other = await connectTo(target);
      const { url } = other.interface;
      const { host } = new URL(url.includes("://") ? url : `http://${url}`); // gRPC's has no scheme
      await using proxy = await startChaosProxy(`http://${host}`);
      const moved = clone(AgentCardSchema, other.card);
      for (const each of moved.supportedInterfaces)
        each.url = each.url.replace(host, new URL(proxy.url).host);
      let taskId = "";
      await using agent = await connectAgent(moved, {
        ...pinned(target),
        retry: { initialDelayMs: 5 },
        interceptors: [
          (next) => async (request) => {
            const response = await next(request);
            if (request.method === A2AService.method.subscribeToTask) void other.cancelTask(taskId);
            return response;
          },
        ],
      });
      const seen: string[] = [];
      for await (const event of agent.stream("wait")) {
        taskId = taskIdOf(event);
        seen.push(summarize(event).replace(/ .*/, ""));
        if (seen.length === 2) proxy.cut();
      }
      expect(seen).toEqual(["task", "working", "canceled"]);
      expect(proxy.connections).toBeGreaterThan(1);
    });

    it("says that there is no such task", async () => {
      await using agent = await connectTo(target);
      await expect(collect(agent.follow(crypto.randomUUID()))).rejects.toMatchObject({
        message: expect.stringMatching(/not.found/i),
      });
    });
  });

  describe("run with a webhook", () => {
    it("tells the same as by stream", async () => {
      await using receiver = await createPushReceiver({ host: "127.0.0.1" });
      await using agent = await connectTo(target);
      const told: string[] = [];
      const result = await agent.run("work", {
        push: receiver,
        onProgress: (value) =>
          void told.push(
            summarize({ $typeName: "lf.a2a.v1.StreamResponse", payload: { case: "statusUpdate", value } }),
          ),
        onArtifact: (value) =>
          void told.push(
            summarize({ $typeName: "lf.a2a.v1.StreamResponse", payload: { case: "artifactUpdate", value } }),
          ),
      });
      if (features.since1) {
        expect(told).toEqual(workEvents.slice(1));
      } else {
        expect(told.at(-1)).toBe(workEvents.at(-1)); // of the task as it was at each time
      }
      expect(result.artifact("story").text()).toBe(product.chunks.join(""));
    });

    it("has questions answered", async () => {
      await using receiver = await createPushReceiver({ host: "127.0.0.1" });
      await using agent = await connectTo(target);
      let answers = 0;
      const result = await agent.run("ask", {
        push: receiver,
        onInputRequired: () => (answers++ === 0 ? "Ann" : "red"),
      });
      expect(result.text()).toBe("Ann, red");
    });
  });
}

function summarize({ payload }: StreamResponse): string {
  switch (payload.case) {
    case "task":
      return "task";
    case "message":
      return `message ${partText(payload.value)}`;
    case "statusUpdate": {
      const { state = TaskState.UNSPECIFIED, message } = payload.value.status ?? {};
      return `${formatTaskState(state)} ${message === undefined ? "" : partText(message)}`;
    }
    case "artifactUpdate":
      return `${payload.value.artifact?.name} ${payload.value.artifact === undefined ? "" : partText(payload.value.artifact)}`;
    case undefined:
      return "nothing";
  }
}

function never(): never {
  throw new Error("an event was expected");
}
