import {
  AuthRequiredError,
  CallbackError,
  InputRequiredError,
  RunTimeoutError,
  TaskCanceledError,
  TaskFailedError,
  TaskRejectedError,
} from "@a2a-connect/client";
import { formatTaskState, partText } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { describe, expect, it } from "vitest";
import { collect, rejectedWith } from "../../packages/client/test-support/outcomes.ts";
import { type ContractTarget, connectTo } from "./contract-target.ts";
import { product, questions } from "./contract-work.ts";

/** `run`: every way a task may go. */
export function runSuite(target: ContractTarget): void {
  const { features } = target;

  describe("run", () => {
    it("ends with the artifacts: text in chunks, data, bytes", async () => {
      await using agent = await connectTo(target);
      const result = await agent.run("work");
      expect(result.task?.status?.state).toBe(TaskState.COMPLETED);
      expect(result.artifacts.map(({ name }) => name)).toEqual(["story", "table", "picture"]);
      expect(result.artifact("story").text()).toBe(product.chunks.join(""));
      expect(result.artifact("table").json()).toEqual(features.table);
      expect(result.artifact("picture").bytes()).toEqual(product.picture);
      expect(result.artifact("picture").parts[0]).toMatchObject({
        mediaType: "image/png",
        filename: features.filenames ? "picture.png" : "",
      });
      expect(result.message === undefined ? "" : partText(result.message)).toBe(product.closing);
      expect(() => result.artifact("nothing")).toThrow(/nothing/);
    });

    it("tells of the task, each change and each chunk, in order", async () => {
      await using agent = await connectTo(target);
      const told: string[] = [];
      const result = await agent.run("work", {
        onTask: () => void told.push("task"),
        onProgress: ({ status }) => void told.push(formatTaskState(status?.state ?? TaskState.UNSPECIFIED)),
        onArtifact: ({ artifact }) => void told.push(artifact?.name ?? ""),
      });
      expect(told).toEqual(["task", "working", "story", "story", "story", "table", "picture", "completed"]);
      expect(result.task?.id).not.toBe("");
    });

    it("ends with a direct Message", async () => {
      await using agent = await connectTo(target);
      const result = await agent.run("echo hello, 世界");
      expect(result.task).toBeUndefined();
      expect(result.artifacts).toEqual([]);
      expect(result.text()).toBe("hello, 世界");
    });

    it("has questions answered, one after the other", async () => {
      await using agent = await connectTo(target);
      const asked: string[] = [];
      const result = await agent.run("ask", {
        onInputRequired: ({ kind, text }) => {
          asked.push(`${kind}: ${text}`);
          return asked.length === 1 ? "Ann" : "red";
        },
      });
      expect(asked).toEqual(questions.map((question) => `input: ${question}`));
      expect(result.text()).toBe("Ann, red");
    });

    it("ends with the question where nobody answers, and the task can be gone on with", async () => {
      await using agent = await connectTo(target);
      const { task, taskId, message, hint } = await rejectedWith(agent.run("ask"), InputRequiredError);
      expect(task.status?.state).toBe(TaskState.INPUT_REQUIRED);
      expect(message).toContain(questions[0]);
      expect(hint).toContain(taskId);
      const result = await agent.run({ parts: "Ann", taskId }, { onInputRequired: () => "blue" });
      expect(result.task?.id).toBe(taskId);
      expect(result.text()).toBe("Ann, blue");
    });

    it("leaves the task answerable when a callback throws, and says so", async () => {
      await using agent = await connectTo(target);
      const cause = new Error("nobody at home");
      const thrown = await rejectedWith(
        agent.run("ask", {
          onInputRequired: () => {
            throw cause;
          },
        }),
        CallbackError,
      );
      expect(thrown.cause).toBe(cause);
      expect(thrown.hint).toContain(thrown.taskId);
      const result = await agent.run(
        { parts: "Ann", taskId: thrown.taskId },
        { onInputRequired: () => "green" },
      );
      expect(result.text()).toBe("Ann, green");
    });

    it("has the task canceled by an answer that says so", async () => {
      await using agent = await connectTo(target);
      const run = agent.run("ask", { onInputRequired: () => ({ cancel: true }) });
      expect((await rejectedWith(run, TaskCanceledError)).task.status?.state).toBe(TaskState.CANCELED);
    });

    it("ends with the request for credentials where nobody has them, and goes on where somebody has", async () => {
      await using agent = await connectTo(target);
      const thrown = await rejectedWith(agent.run("auth"), AuthRequiredError);
      expect(thrown.message).toContain("Sign in, please.");
      const result = await agent.run("auth", { onAuthRequired: ({ kind }) => `token for ${kind}` });
      expect(result.text()).toBe("token for auth");
    });

    it.each([
      ["fail", TaskFailedError, TaskState.FAILED, "it could not be done"],
      ["reject", TaskRejectedError, TaskState.REJECTED, "it will not be done"],
    ] as const)("ends with an error of its own when the task is to %s", async (word, type, state, said) => {
      await using agent = await connectTo(target);
      const thrown = await rejectedWith(agent.run(`${word} out-of-luck`), type);
      expect(thrown.task.status?.state).toBe(state);
      expect(thrown.taskId).toBe(thrown.task.id);
      expect(thrown.message).toContain(said);
      expect(thrown.statusMessage === undefined ? "" : partText(thrown.statusMessage)).toContain(said);
      expect(thrown.reason).toBe(features.lifecycle ? "out-of-luck" : undefined);
    });

    it("ends with an error of its own when somebody else cancels the task", async () => {
      await using agent = await connectTo(target);
      await using other = await connectTo(target);
      const run = agent.run("wait", {
        onProgress: async ({ taskId }, task) => {
          if (task.status?.state === TaskState.WORKING) await other.cancelTask(taskId);
        },
      });
      const thrown = await rejectedWith(run, TaskCanceledError);
      expect(thrown.reason).toBe(features.lifecycle ? "canceled" : undefined);
    });

    it("detaches when it is aborted: the task goes on", async () => {
      await using agent = await connectTo(target);
      const { taskId, error } = await abortRun(target, false);
      expect(error).toMatchObject({ name: "AbortError" });
      expect((await agent.getTask(taskId)).status?.state).toBe(TaskState.WORKING);
      expect((await agent.cancelTask(taskId)).status?.state).toBe(TaskState.CANCELED);
    });

    it("has the task canceled when it is aborted, where that was asked for", async () => {
      await using agent = await connectTo(target);
      const { taskId, error } = await abortRun(target, true);
      expect(error).toMatchObject({ name: "AbortError" });
      const end = agent.follow(taskId, { ...(features.resume ? { after: 0 } : {}) });
      await collect(end);
      expect(end.task?.status?.state).toBe(TaskState.CANCELED);
    });

    it("ends when its time is over, and tells the agent so where it can be told", async () => {
      await using agent = await connectTo(target);
      const thrown = await rejectedWith(agent.run("wait", { deadlineMs: 400 }), RunTimeoutError);
      const taskId = thrown.taskId ?? "";
      expect(thrown.task?.id).toBe(taskId);
      if (!features.lifecycle) await agent.cancelTask(taskId);
      const end = agent.follow(taskId, { ...(features.resume ? { after: 0 } : {}) });
      await collect(end);
      expect(end.task?.status?.state).toBe(TaskState.CANCELED);
    });

    it("does fifty at a time", async () => {
      await using agent = await connectTo(target);
      const results = await Promise.all(Array.from({ length: 50 }, () => agent.run("work")));
      expect(new Set(results.map(({ task }) => task?.id)).size).toBe(50);
      for (const result of results) {
        expect(result.artifact("story").text()).toBe(product.chunks.join(""));
      }
    });
  });
}

/** Aborts the run of a waiting task as soon as the task works. */
async function abortRun(
  target: ContractTarget,
  cancelOnAbort: boolean,
): Promise<{ readonly taskId: string; readonly error: unknown }> {
  await using agent = await connectTo(target);
  const controller = new AbortController();
  let taskId = "";
  const error: unknown = await agent
    .run("wait", {
      signal: controller.signal,
      cancelOnAbort,
      onProgress: (update) => {
        taskId = update.taskId;
        controller.abort();
      },
    })
    .catch((thrown: unknown) => thrown);
  return { taskId, error };
}
