import { text } from "@a2a-connect/core";
import { Role, TaskState } from "@a2a-connect/proto";
import { type EngineHarness, readStream, say, taskOf, wordsOf } from "@a2a-connect/testing";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { startAgent, startScripted } from "../../test-support/agents.ts";
import { detached, sendStream, sendTask, stateOf } from "../../test-support/tasks.ts";

const withPush = { push: { fetch: async () => new Response() } };

describe("SendMessage", () => {
  it("waits until the task is terminal, and answers with all of it (A-1, A-2, A-5)", async () => {
    const { client, script, clock } = await startScripted();
    let answered = false;
    const answer = client.sendMessage(say("go")).finally(() => {
      answered = true;
    });
    const { turn, yields, returns } = await script.nextTurn();
    await yields(turn.working());
    await yields(turn.artifact({ id: "a", text: "result" }));
    await clock.advance(5_000);
    expect(answered).toBe(false);
    returns();
    const task = taskOf(await answer);
    expect(task.status?.state).toBe(TaskState.COMPLETED);
    expect(task.artifacts.map(({ artifactId, parts }) => [artifactId, parts])).toEqual([
      ["a", [text("result")]],
    ]);
    expect(task.history.map(({ role }) => role)).toEqual([Role.USER]);
  });

  for (const [question, state] of [
    ["inputRequired", TaskState.INPUT_REQUIRED],
    ["authRequired", TaskState.AUTH_REQUIRED],
  ] as const) {
    it(`answers at ${question} with the words that explain it (A-2, B-5, O-6)`, async () => {
      const { client } = await startAgent((turn) => [turn[question]("Which one?")]);
      const { status } = await sendTask(client);
      expect(status?.state).toBe(state);
      expect(status?.message?.parts).toEqual([text("Which one?")]);
    });
  }

  it("answers at once with returnImmediately, and the work goes on (A-3)", async () => {
    const { client, script, clock } = await startScripted();
    const answer = client.sendMessage(detached());
    const { turn, yields, returns } = await script.nextTurn();
    await yields(turn.working());
    const task = taskOf(await answer);
    expect([TaskState.SUBMITTED, TaskState.WORKING]).toContain(task.status?.state);
    returns();
    await clock.settle();
    expect(await stateOf(client, task.id)).toBe(TaskState.COMPLETED);
  });

  for (const returnImmediately of [false, true]) {
    it(`gives a direct Message whatever returnImmediately (${returnImmediately}) says (A-1, A-4, D-2)`, async () => {
      const { client } = await startAgent((turn) => [turn.reply("hello")]);
      const { payload } = await client.sendMessage({ ...say("hi"), configuration: { returnImmediately } });
      expect(payload).toMatchObject({
        case: "message",
        value: { role: Role.AGENT, parts: [text("hello")], taskId: "" },
      });
      expect(payload.case === "message" && payload.value.contextId).toMatch(/^id-/);
      expect((await client.listTasks({})).totalSize).toBe(0);
    });
  }

  it("gives a Task once there is one: a later reply is the message of COMPLETED (A-16)", async () => {
    const { client } = await startAgent((turn) =>
      turn.task === undefined ? [turn.inputRequired("Name?")] : [turn.reply(`Hello ${turn.text}`)],
    );
    const { id, contextId } = await sendTask(client, say("hi"));
    const task = await sendTask(client, say("Ada", { taskId: id }));
    expect(task).toMatchObject({ id, contextId, status: { state: TaskState.COMPLETED } });
    expect(task.status?.message?.parts).toEqual([text("Hello Ada")]);
  });

  for (const streaming of [false, true]) {
    describe(streaming ? "streamed" : "unary", () => {
      const sendTo = (client: EngineHarness["client"]) => async (request: ReturnType<typeof say>) => {
        if (!streaming) return client.sendMessage(request);
        for await (const event of client.sendStreamingMessage(request)) return event;
        throw new Error("the stream is empty");
      };

      it("refuses an unknown task, and one of somebody else, alike (A-6, A-27, O-4, B-7)", async () => {
        const harness = await startAgent((turn) => [turn.complete()]);
        const { id } = taskOf(await harness.clientOf("bob").sendMessage(say("hi")));
        const send = sendTo(harness.clientOf("alice"));
        for (const taskId of ["nope", id]) {
          const failure = await send(say("hi", { taskId, contextId: "wrong" })).catch(
            (error: unknown) => error,
          );
          expect(failure).toMatchObject({ code: Code.NotFound, rawMessage: "there is no such task" });
        }
      });

      it("refuses a message to a task that has ended (A-7, B-2)", async () => {
        const { client } = await startAgent((turn) => [turn.complete()]);
        const { id } = await sendTask(client, say("hi"));
        const before = await client.getTask({ id });
        await expect(sendTo(client)(say("more", { taskId: id }))).rejects.toMatchObject({
          code: Code.FailedPrecondition,
          rawMessage: expect.stringContaining("has ended"),
        });
        expect(await client.getTask({ id })).toEqual(before);
      });

      it("refuses a message to a task that is worked on (A-8)", async () => {
        const { client, script, clock } = await startScripted();
        const first = client.sendMessage(detached());
        await script.nextTurn();
        await clock.advance(200);
        const { id } = taskOf(await first);
        await expect(sendTo(client)(say("more", { taskId: id }))).rejects.toMatchObject({
          code: Code.FailedPrecondition,
          rawMessage: expect.stringContaining("takes no message"),
        });
        expect(script.begun).toBe(1);
      });

      it("refuses another context than the task's (B-6, B-7)", async () => {
        const { client } = await startAgent((turn) => [turn.inputRequired("?")]);
        const { id } = await sendTask(client, say("hi"));
        await expect(sendTo(client)(say("yes", { taskId: id, contextId: "other" }))).rejects.toMatchObject({
          code: Code.InvalidArgument,
        });
      });

      it("refuses parts of a media type that the agent does not take (A-9, A-27)", async () => {
        const { client } = await startAgent((turn) => [turn.complete()]);
        await expect(
          sendTo(client)(say([text("x", { mediaType: "application/x-foo" })])),
        ).rejects.toMatchObject({
          code: Code.InvalidArgument,
          rawMessage: expect.stringContaining("application/x-foo"),
        });
        expect((await client.listTasks({})).totalSize).toBe(0);
      });
    });
  }

  it("makes two tasks of one messageId (A-11)", async () => {
    const { client } = await startAgent((turn) => [turn.complete()]);
    const one = await sendTask(client, say("hi", { messageId: "same" }));
    const other = await sendTask(client, say("hi", { messageId: "same" }));
    expect(one.id).not.toBe(other.id);
  });

  it("tells the executor the output modes and metadata of the request (A-10)", async () => {
    const { client, script } = await startScripted();
    void client
      .sendMessage({
        ...say("go"),
        metadata: { k: 1 },
        configuration: { acceptedOutputModes: ["text/plain"] },
      })
      .catch(() => {});
    const { turn } = await script.nextTurn();
    expect(turn).toMatchObject({ acceptedOutputModes: ["text/plain"], metadata: { k: 1 }, text: "go" });
  });

  it("registers an inline webhook with the task (A-14), for streams too", async () => {
    const { client } = await startAgent((turn) => [turn.complete()], {}, withPush);
    const configuration = { taskPushNotificationConfig: { url: "https://example.com/hook", id: "hook" } };
    const { id } = await sendTask(client, { ...say("hi"), configuration });
    const stream = sendStream(client, { ...say("hi"), configuration });
    await stream.ended;
    const streamed = stream.events[0] === undefined ? "" : taskOf(stream.events[0]).id;
    for (const taskId of [id, streamed]) {
      const config = await client.getTaskPushNotificationConfig({ taskId, id: "hook" });
      expect(config).toMatchObject({ taskId, id: "hook", url: "https://example.com/hook" });
    }
  });

  it("refuses an inline webhook without a sender (A-15) and one that names a task (A-14)", async () => {
    const without = await startAgent((turn) => [turn.complete()]);
    const pushing = await startAgent((turn) => [turn.complete()], {}, withPush);
    const sendWith = ({ client }: EngineHarness, taskId: string) => {
      const taskPushNotificationConfig = { url: "https://example.com/hook", taskId };
      return client.sendMessage({ ...say("hi"), configuration: { taskPushNotificationConfig } });
    };
    await expect(sendWith(without, "")).rejects.toMatchObject({ code: Code.FailedPrecondition });
    await expect(sendWith(pushing, "t")).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: expect.stringContaining("configuration.taskPushNotificationConfig.taskId"),
    });
  });
});

describe("contexts and history", () => {
  it("makes ids without the signs of routes (D-1) and keeps the caller's context (D-3, D-5)", async () => {
    const { client } = await startAgent((turn) => [turn.complete()]);
    const first = await sendTask(client, say("1", { contextId: "c" }));
    const second = await sendTask(client, say("2", { contextId: "c" }));
    const other = await sendTask(client, say("3"));
    expect([first.contextId, second.contextId]).toEqual(["c", "c"]);
    expect(other.contextId).not.toBe("");
    expect(new Set([first.id, second.id, other.id]).size).toBe(3);
    for (const { id } of [first, second, other]) expect(id).not.toMatch(/[:/]/);
    const { tasks } = await client.listTasks({ contextId: "c" });
    expect(tasks.map(({ id }) => id).sort()).toEqual([first.id, second.id].sort());
  });

  it("infers the context from the task (D-4) and ignores referenced tasks that nobody knows (D-6)", async () => {
    const seen: string[] = [];
    const { client } = await startAgent((turn) => {
      seen.push(turn.contextId);
      return [turn.task === undefined ? turn.inputRequired("?") : turn.complete()];
    });
    const { id, contextId } = await sendTask(client, say("1", { referenceTaskIds: ["foreign"] }));
    const task = await sendTask(client, say("2", { taskId: id }));
    expect(task.contextId).toBe(contextId);
    expect(task.history.every((message) => message.contextId === contextId)).toBe(true);
    expect(seen).toEqual([contextId, contextId]);
  });

  it("puts the question between both messages, and progress nowhere (C-2, C-3, C-5)", async () => {
    const { client } = await startAgent(function* (turn) {
      yield turn.working("thinking");
      yield turn.task === undefined ? turn.inputRequired("Which?") : turn.complete("Done.");
    });
    const { id } = await sendTask(client, say("first", { messageId: "same" }));
    const task = await sendTask(client, say("second", { taskId: id, messageId: "same" }));
    const textOf = ({ parts }: { parts: { content: { value?: unknown } }[] }) =>
      parts.map(({ content }) => content.value).join("");
    expect(task.history.map(textOf)).toEqual(["first", "Which?", "second"]);
    expect(task.history.map(({ role }) => role)).toEqual([Role.USER, Role.AGENT, Role.USER]);
    expect(task.status?.message && textOf(task.status.message)).toBe("Done.");
  });

  for (const [historyLength, want] of [
    [undefined, 3],
    [0, 0],
    [1, 1],
    [2, 2],
    [99, 3],
  ] as const) {
    it(`gives ${want} messages for historyLength ${historyLength} (C-1, C-4, A-47)`, async () => {
      const { client } = await startAgent((turn) => [
        turn.task === undefined ? turn.inputRequired("Which?") : turn.complete(),
      ]);
      const given = historyLength === undefined ? {} : { historyLength };
      const { id } = await sendTask(client, say("1"));
      const sent = await sendTask(client, { ...say("2", { taskId: id }), configuration: given });
      const got = await client.getTask({ id, ...given });
      const [listed] = (await client.listTasks(given)).tasks;
      const all = await client.getTask({ id });
      for (const task of [sent, got, listed]) {
        expect(task?.history).toEqual(want === 0 ? [] : all.history.slice(-want));
      }
    });
  }

  it("cuts the history of a streamed snapshot, too (C-5)", async () => {
    const { client } = await startAgent((turn) => [
      turn.task === undefined ? turn.inputRequired("Which?") : turn.complete(),
    ]);
    const { id } = await sendTask(client, say("1"));
    const stream = readStream((signal) =>
      client.sendStreamingMessage(
        { ...say("2", { taskId: id }), configuration: { historyLength: 1 } },
        { signal },
      ),
    );
    await stream.ended;
    expect(wordsOf(stream.events)).toEqual(["task working", "completed"]);
    expect(stream.events[0] && taskOf(stream.events[0]).history).toHaveLength(1);
  });

  it("refuses a negative historyLength before any work (C-1, A-13)", async () => {
    const { client, script } = await startScripted();
    await expect(
      client.sendMessage({ ...say("hi"), configuration: { historyLength: -1 } }),
    ).rejects.toMatchObject({ code: Code.InvalidArgument });
    expect(script.begun).toBe(0);
  });
});
