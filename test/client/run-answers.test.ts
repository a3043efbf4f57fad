// Answers that are taken, refused, too late, or lost on their way.

import { CallbackError, QuestionRepeatedError, SendUncertainError, text } from "@a2a-connect/client";
import { a2aError } from "@a2a-connect/core";
import { type StreamResponse, TaskState } from "@a2a-connect/proto";
import { wires } from "@a2a-connect/testing";
import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { failureOf, rejectedWith } from "../../packages/client/test-support/outcomes.ts";
import { meetPeer } from "../conformance/client/every-operation.ts";
import { chunkEvent, statusEvent, taskAnswer, taskId } from "../conformance/client/peer.ts";
import { never, type PeerService, type ScriptedTask, scriptTask } from "./scripted-task.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

const { COMPLETED, INPUT_REQUIRED, WORKING } = TaskState;

/** Takes the answer, the only message that comes by a call, and completes the task. */
const taking = (task: ScriptedTask): PeerService => ({
  ...task.service,
  sendMessage: () => {
    task.tell(statusEvent(WORKING), statusEvent(COMPLETED));
    return taskAnswer(task.current);
  },
});

/** What a connection ends with that breaks. */
const broken = (): ConnectError => new ConnectError("the connection broke", Code.Unavailable);

describe.each(wires)("over %s", { timeout: 5_000 }, (wire) => {
  it("an answer is still taken after events that do not settle its question", async () => {
    const task = scriptTask();
    const { agent } = await meetPeer(wire, taking(task));
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
  ])("an answer that is refused with %s while the task still asks ends the run", async (_, refusal) => {
    const task = scriptTask();
    const { agent } = await meetPeer(wire, {
      ...task.service,
      sendMessage: () => {
        throw refusal();
      },
    });
    const thrown = await rejectedWith(agent.run("go", { onInputRequired: () => "this" }), CallbackError);
    expect(thrown.message).toContain("its answer was refused");
    expect(thrown.task.status?.state).toBe(INPUT_REQUIRED);
    expect(thrown.hint).toContain("still waits");
  });

  describe("a question that comes again and again", () => {
    /** Asks once more whatever it is answered, with a sentence before the question. */
    const asking = (task: ScriptedTask, between: readonly StreamResponse[] = []): PeerService => ({
      ...task.service,
      sendMessage: () => {
        task.tell(statusEvent(WORKING), ...between, statusEvent(INPUT_REQUIRED, "That is none. Which?"));
        return taskAnswer(task.current);
      },
    });

    it("ends the run when the same answer was refused twice", async () => {
      const { agent } = await meetPeer(wire, asking(scriptTask()));
      let asked = 0;
      const run = agent.run("go", {
        onInputRequired: () => {
          asked += 1;
          return "this";
        },
      });
      const thrown = await rejectedWith(run, QuestionRepeatedError);
      expect(asked).toBe(2);
      expect(thrown).toMatchObject({ question: "That is none. Which?", answer: "this", taskId });
      expect(thrown.message).toMatch(/Which\?.*this/);
      expect(thrown.hint).toContain("still waits");
      expect(thrown.task.status?.state).toBe(INPUT_REQUIRED);
    });

    it.each([
      ["five times by default", {}, 6],
      ["as often as the caller wants", { maxRepeats: 1 }, 2],
      ["not at all", { maxRepeats: 0 }, 1],
    ])("ends the run although its answers differ: %s", async (_, options, most) => {
      const { agent } = await meetPeer(wire, asking(scriptTask()));
      let asked = 0;
      const run = agent.run("go", {
        ...options,
        onInputRequired: () => {
          asked += 1;
          return [text(`answer ${asked}`)];
        },
      });
      const { answer } = await rejectedWith(run, QuestionRepeatedError);
      expect(asked).toBe(most);
      expect(answer).toContain(`answer ${most}`);
    });

    it("is a new question after work on the task", async () => {
      const task = scriptTask();
      const { agent } = await meetPeer(wire, asking(task, [chunkEvent("story", "a bit ", true)]));
      let asked = 0;
      const result = await agent.run("go", {
        onInputRequired: () => {
          asked += 1;
          if (asked === 12) task.tell(statusEvent(COMPLETED));
          return asked === 12 ? never : "yes";
        },
      });
      expect(result.task?.status?.state).toBe(COMPLETED);
    });

    it("may not be limited by what is no number", async () => {
      const { peer, agent } = await meetPeer(wire, scriptTask().service);
      expect(await failureOf(agent.run("go", { maxRepeats: Number.NaN }))).toMatchObject({
        message: expect.stringContaining("maxRepeats must be 0 or more"),
      });
      expect(peer.requests).toEqual([]);
    });
  });

  it("an answer that comes too late is nobody's mistake", async () => {
    const task = scriptTask();
    const { agent } = await meetPeer(wire, {
      ...task.service,
      sendMessage: () => {
        task.tell(statusEvent(COMPLETED)); // somebody else's, a moment earlier
        throw a2aError("UNSUPPORTED_OPERATION", "it is completed");
      },
    });
    const result = await agent.run("go", { onInputRequired: () => "this" });
    expect(result.task?.status?.state).toBe(COMPLETED);
  });

  it("a cancel that comes too late is nobody's mistake", async () => {
    const task = scriptTask();
    const { agent } = await meetPeer(wire, {
      ...task.service,
      cancelTask: () => {
        task.tell(statusEvent(COMPLETED));
        throw a2aError("TASK_NOT_CANCELABLE", "it is completed");
      },
    });
    const result = await agent.run("go", { onInputRequired: () => ({ cancel: true }) });
    expect(result.task?.status?.state).toBe(COMPLETED);
  });

  it("a cancel that is refused while the task still asks ends the run", async () => {
    const task = scriptTask();
    const { agent } = await meetPeer(wire, {
      ...task.service,
      cancelTask: () => {
        throw a2aError("TASK_NOT_CANCELABLE", "not this one");
      },
    });
    const run = agent.run("go", { onInputRequired: () => ({ cancel: true }) });
    expect(String(await failureOf(run))).toContain("not this one");
  });

  it("an answer is known to be taken by what the task does, when nobody says so", async () => {
    const task = scriptTask();
    const lose: Interceptor = (next) => async (request) => {
      const response = await next(request);
      if (request.method.name === "SendMessage") throw broken();
      return response;
    };
    const { peer, agent } = await meetPeer(wire, taking(task), { interceptors: [lose] });
    const result = await agent.run("go", { onInputRequired: () => "this" });
    expect(result.task?.status?.state).toBe(COMPLETED);
    expect(peer.requests.filter(({ method }) => method === "SendMessage")).toHaveLength(1);
  });

  it("an answer that nobody knows of is not sent again, and the task is named", async () => {
    const task = scriptTask();
    const lose: Interceptor = (next) => async (request) => {
      if (request.method.name === "SendMessage") throw broken();
      return next(request);
    };
    const { agent } = await meetPeer(wire, task.service, { interceptors: [lose] });
    const thrown = await rejectedWith(agent.run("go", { onInputRequired: () => "this" }), CallbackError);
    expect(thrown.taskId).toBe(taskId);
    expect(thrown.cause).toBeInstanceOf(SendUncertainError);
  });

  it("an abort cancels the task by one attempt, and waits for no more", async () => {
    const task = scriptTask();
    const { peer, agent } = await meetPeer(
      wire,
      { ...task.service, cancelTask: () => never },
      { requestTimeoutMs: 500 },
    );
    const controller = new AbortController();
    const reason = new Error("enough");
    const run = agent.run("go", {
      signal: controller.signal,
      cancelOnAbort: true,
      onInputRequired: () => {
        controller.abort(reason);
        return never;
      },
    });
    expect(await failureOf(run)).toBe(reason);
    expect(peer.requests.filter(({ method }) => method === "CancelTask")).toHaveLength(1);
  });
});
