// What callers do wrong, or not at all: a run ends when it is to end, and says what was wrong.

import {
  type Answer,
  CallbackError,
  InputRequiredError,
  type Question,
  type RunOptions,
  RunTimeoutError,
} from "@a2a-connect/client";
import { connectAgent } from "@a2a-connect/node/client";
import { Role, TaskState } from "@a2a-connect/proto";
import { defineAgent } from "@a2a-connect/server";
import { type AgentHarness, startAgentHarness, wires } from "@a2a-connect/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failureOf, rejectedWith } from "../../packages/client/test-support/outcomes.ts";
import { createManualClock } from "./client-clocks.ts";
import { noteCalls } from "./contract-target.ts";
import { bindingOf } from "./interfaces.ts";
import { never } from "./scripted-task.ts";
import { watchRejections } from "./watch-rejections.ts";

watchRejections();

const asker = defineAgent({
  card: { name: "Asker", description: "Works a little, then asks for words or for credentials." },
  lifecycle: { asks: true, asksForAuth: true },
  *execute(turn) {
    yield turn.working();
    yield turn.append("story", "Once ");
    yield turn.text === "auth"
      ? turn.authRequired("Sign in, please.", { scheme: "oauth", url: "https://id.example/" })
      : turn.inputRequired("Which?");
  },
});

let harness: AgentHarness;

beforeAll(async () => {
  harness = await startAgentHarness({ agent: asker });
});

afterAll(() => harness[Symbol.asyncDispose]());

/** Each callback, with the words that make the agent come to it. */
const callbacks = [
  ["onTask", "input", (call) => ({ onTask: call })],
  ["onProgress", "input", (call) => ({ onProgress: call })],
  ["onArtifact", "input", (call) => ({ onArtifact: call })],
  ["onInputRequired", "input", (call) => ({ onInputRequired: call })],
  ["onAuthRequired", "auth", (call) => ({ onAuthRequired: call })],
] as const satisfies readonly (readonly [string, string, (call: () => Promise<never>) => RunOptions])[];

describe.each(wires)("over %s", (wire) => {
  const pinBinding = bindingOf[wire];

  describe.each(callbacks)("while %s does not return, a run ends", (_, words, withCallback) => {
    it("when its time is over", { timeout: 5_000 }, async () => {
      const clock = createManualClock();
      await using agent = await connectAgent(harness.url, { pinBinding, clock });
      const called = Promise.withResolvers<void>();
      const run = failureOf(
        agent.run(words, {
          deadlineMs: 30_000,
          ...withCallback(() => {
            called.resolve();
            return never;
          }),
        }),
      );
      await called.promise;
      await clock.advance(30_000);
      expect(await run).toBeInstanceOf(RunTimeoutError);
    });

    it("when its signal is aborted, and has the task canceled", { timeout: 5_000 }, async () => {
      await using agent = await connectAgent(harness.url, { pinBinding });
      const called = Promise.withResolvers<void>();
      const controller = new AbortController();
      const reason = new Error("we are going home");
      let taskId = "";
      const run = failureOf(
        agent.run(words, {
          signal: controller.signal,
          cancelOnAbort: true,
          onTask: ({ id }) => {
            taskId = id;
          },
          ...withCallback((...[task]: readonly unknown[]) => {
            if (taskId === "") taskId = (task as { readonly id: string }).id; // onTask itself is the one that hangs
            called.resolve();
            return never;
          }),
        }),
      );
      await called.promise;
      controller.abort(reason);
      expect(await run).toBe(reason);
      expect((await agent.getTask(taskId)).status?.state).toBe(TaskState.CANCELED);
    });

    it("when the client is closed", { timeout: 5_000 }, async () => {
      const agent = await connectAgent(harness.url, { pinBinding });
      const called = Promise.withResolvers<void>();
      const run = failureOf(
        agent.run(
          words,
          withCallback(() => {
            called.resolve();
            return never;
          }),
        ),
      );
      await called.promise;
      await agent.close();
      expect(String(await run)).toMatch(/client was closed/);
    });
  });

  it("a request for credentials tells which, and where to sign in", async () => {
    await using agent = await connectAgent(harness.url, { pinBinding });
    const asked: Question["auth"][] = [];
    const onAuthRequired = ({ auth }: Question) => {
      asked.push(auth);
      return { cancel: true } as const;
    };
    await failureOf(agent.run("auth", { onAuthRequired }));
    expect(asked).toEqual([{ scheme: "oauth", url: "https://id.example/" }]);
  });

  it.each(callbacks)(
    "a throw of %s ends the run, names the task and leaves it",
    async (name, words, withCallback) => {
      const calls: string[] = [];
      await using agent = await connectAgent(harness.url, { pinBinding, interceptors: [noteCalls(calls)] });
      const cause = new Error("nobody at home");
      const thrown = await rejectedWith(
        agent.run(
          words,
          withCallback(() => {
            throw cause;
          }),
        ),
        CallbackError,
      );
      expect(thrown.cause).toBe(cause);
      expect(thrown.taskId).not.toBe("");
      expect(thrown.message).toContain(name);
      expect(thrown.message).toContain(thrown.taskId);
      expect(thrown.hint).toContain(thrown.taskId);
      expect(calls).not.toContain("CancelTask");
    },
  );

  it.each<readonly [string, unknown]>([
    ["a number", 42],
    ["true", true],
    ["an object with nothing in it", {}],
    ["a cancel that is false", { cancel: false }],
    ["credentials that are not there yet", { resolved: false }],
    ["parts that are none", { parts: 42 }],
    ["a list of something else", [42]],
    ["a list of nothing", []],
  ])("%s is no answer: neither is it sent, nor is the task canceled", async (_, answer) => {
    const calls: string[] = [];
    await using agent = await connectAgent(harness.url, {
      pinBinding,
      interceptors: [noteCalls(calls)],
      retry: { giveUpAfterMs: 100 }, // nothing that is wrong here goes away by repeating it
    });
    const run = agent.run("input", { onInputRequired: () => answer as Answer }); // of a caller without types
    const { taskId, hint } = await rejectedWith(run, CallbackError);
    expect(hint).toContain(taskId);
    expect(calls).not.toContain("CancelTask");
    const { status, history } = await agent.getTask(taskId);
    expect(status?.state).toBe(TaskState.INPUT_REQUIRED);
    expect(history.filter(({ role }) => role === Role.USER)).toHaveLength(1);
  });

  it.each([
    ["undefined", undefined],
    ["null", null],
  ])("%s is nobody's answer", async (_, answer) => {
    await using agent = await connectAgent(harness.url, { pinBinding });
    const run = agent.run("input", { onInputRequired: () => answer as Answer }); // null: of a caller without types
    const { message } = await rejectedWith(run, InputRequiredError);
    expect(message).toContain("Which?");
  });
});
