import {
  bytes,
  fileUrl,
  findFieldViolations,
  formatTaskState,
  isSettled,
  json,
  text,
} from "@a2a-connect/core";
import { stateOf } from "@a2a-connect/core/internal";
import { type MessageSchema, type Part, Role, type SendMessageResponse, TaskState } from "@a2a-connect/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import {
  artifactTexts,
  expectCode,
  expectFields,
  expectReason,
  failureOf,
  firstTask,
  messageOf,
  newId,
  partData,
  readAll,
  sendTask,
  settle,
  startWorking,
  statesOf,
  taskOf,
  toRequest,
} from "../calls.ts";
import { findCardFacts } from "../card-facts.ts";
import { expect } from "../expect.ts";
import { endedTask, hello, helloPart, helloTask, requireForeignType, settledTask } from "../hello.ts";
import { capture } from "../raw-calls.ts";
import { jsonWires, type ScenarioGroup, scenarios } from "../scenario.ts";

/** A.1 */
export const sendMessage: ScenarioGroup = scenarios("A.1 SendMessage", ({ verifies, anyAgent }) => {
  const withPush = verifies.where({ server: "push" });
  const bare = verifies.where({ server: "bare" });

  verifies("A-1", "answers with a task or with a message", async ({ client }) => {
    expect(taskOf(await client.sendMessage(toRequest("task one"))).id).not.toBe("");
    expect(messageOf(await client.sendMessage(toRequest("echo two"))).role).toBe(Role.AGENT);
  });

  verifies.where({ places: jsonWires })("A-1", "puts exactly one member into the answer", async (stage) => {
    for (const [words, member] of [
      ["task one", "task"],
      ["echo two", "message"],
    ] as const) {
      const { result } = await capture(stage, (client) => client.sendMessage(toRequest(words)));
      expect(Object.keys(result)).toStrictEqual([member]);
    }
  });

  anyAgent.where({ places: jsonWires })(
    "A-1",
    "puts exactly one member into the answer to a hello",
    async (stage) => {
      const { result, text: body } = await capture(stage, (client) => client.sendMessage(hello(stage)));
      expect(
        ["task", "message"].filter((member) => member in (result ?? {})),
        body,
      ).toHaveLength(1);
    },
  );

  anyAgent(
    "A-1 A-2 A-5",
    "answers a hello with a message of the agent, or with a task that has ended or asks for something",
    async (stage) => {
      const { payload } = await stage.client.sendMessage(hello(stage));
      if (payload.case === "message") {
        expect(payload.value.role).toBe(Role.AGENT);
        return;
      }
      const state = stateOf(taskOf({ payload } as SendMessageResponse));
      expect(isSettled(state), `the answer came while the task was ${formatTaskState(state)}`).toBe(true);
    },
  );

  verifies("A-2 A-5", "waits until the task has ended, and returns all of it", async ({ client }) => {
    const task = await sendTask(client, "steps 2 50");
    expect(task.status?.state).toBe(TaskState.COMPLETED);
    expect(artifactTexts(task)).toStrictEqual(["step 1 of 2\n", "step 2 of 2\n"]);
  });

  verifies("A-2", "returns when the task asks for input or credentials", async ({ client }) => {
    expect((await sendTask(client, "ask Why?")).status?.state).toBe(TaskState.INPUT_REQUIRED);
    expect((await sendTask(client, "auth")).status?.state).toBe(TaskState.AUTH_REQUIRED);
  });

  verifies(
    "A-3",
    "answers with returnImmediately although the agent has not said a word",
    async ({ client }) => {
      const configuration = { returnImmediately: true };
      const { id, status } = await sendTask(client, "silent", { configuration });
      expect(status?.state).toBe(TaskState.SUBMITTED);
      await client.cancelTask({ id }); // what runs is not left running
    },
  );

  verifies("A-3", "goes on with the work after returnImmediately", async ({ client }) => {
    const { id } = await sendTask(client, "steps 2 50", { configuration: { returnImmediately: true } });
    const settled = await settle(client, id);
    expect(settled.status?.state).toBe(TaskState.COMPLETED);
    expect(artifactTexts(settled)).toStrictEqual(["step 1 of 2\n", "step 2 of 2\n"]);
  });

  anyAgent(
    "A-3",
    "answers a hello with returnImmediately with a task that can be read, and the work goes on",
    async (stage) => {
      const configuration = { returnImmediately: true };
      const { id } = await helloTask(stage, { configuration });
      expect((await stage.client.getTask({ id })).id).toBe(id);
      await settledTask(stage, { configuration });
    },
  );

  anyAgent.where({ when: ["streaming"] })(
    "A-4",
    "streams all of a hello with returnImmediately, too",
    async (stage) => {
      const configuration = { returnImmediately: true };
      const events = await readAll(stage.client.sendStreamingMessage(hello(stage, { configuration })));
      if (events[0]?.payload.case === "message") return;
      expect(isSettled(statesOf(events).at(-1) ?? 0)).toBe(true);
    },
  );

  verifies("A-4", "returns direct messages and whole streams with returnImmediately", async ({ client }) => {
    const configuration = { returnImmediately: true };
    const direct = messageOf(await client.sendMessage(toRequest("echo hello", { configuration })));
    expect(direct).toMatchObject({ role: Role.AGENT, taskId: "" });
    expect(direct.parts[0]?.content.value).toBe("hello");
    expect((await client.listTasks({ contextId: direct.contextId })).totalSize).toBe(0);
    const events = await readAll(client.sendStreamingMessage(toRequest("task all of it", { configuration })));
    expect(statesOf(events).at(-1)).toBe(TaskState.COMPLETED);
    expect(events.some(({ payload }) => payload.case === "artifactUpdate")).toBe(true);
  });

  withPush("A-4", "registers a webhook with returnImmediately, too", async ({ client }) => {
    const task = await sendTask(client, "task hooked", {
      configuration: {
        returnImmediately: true,
        taskPushNotificationConfig: { id: "hook", url: "https://example.com/hook" },
      },
    });
    const config = await client.getTaskPushNotificationConfig({ taskId: task.id, id: "hook" });
    expect(config.url).toBe("https://example.com/hook");
  });

  anyAgent("A-6", "refuses a task id that it has not given out", async (stage) => {
    const taskId = newId();
    await expectReason(stage.client.sendMessage(hello(stage, { taskId })), "TASK_NOT_FOUND");
    await expectReason(stage.client.getTask({ id: taskId }), "TASK_NOT_FOUND");
  });

  anyAgent(
    "A-7 B-2",
    "refuses a message for a task that has ended, and leaves the task as it is",
    async (stage) => {
      const { id } = await endedTask(stage);
      const before = await stage.client.getTask({ id });
      await expectReason(stage.client.sendMessage(hello(stage, { taskId: id })), "UNSUPPORTED_OPERATION");
      expect(await stage.client.getTask({ id })).toStrictEqual(before);
    },
  );

  for (const [words, state] of [
    ["task done", TaskState.COMPLETED],
    ["fail broken", TaskState.FAILED],
    ["reject no", TaskState.REJECTED],
  ] as const) {
    verifies("A-7", `refuses a message for a task that is ${formatTaskState(state)}`, async ({ client }) => {
      const task = await sendTask(client, words);
      expect(task.status?.state).toBe(state);
      const more = toRequest("more", { taskId: task.id });
      const { rawMessage } = await expectReason(client.sendMessage(more), "UNSUPPORTED_OPERATION");
      expect(rawMessage).toContain("has ended");
      expect(await client.getTask({ id: task.id })).toStrictEqual(task);
    });
  }

  verifies("A-7", "refuses a message for a canceled task", async ({ client }) => {
    const { id } = await sendTask(client, "ask Why?");
    await client.cancelTask({ id });
    await expectReason(client.sendMessage(toRequest("because", { taskId: id })), "UNSUPPORTED_OPERATION");
  });

  verifies("A-8", "refuses a message for a task at work, which goes on", async (stage) => {
    const { client } = stage;
    const { id } = await startWorking(stage);
    const more = toRequest("more", { taskId: id });
    for (const call of [client.sendMessage(more), client.sendStreamingMessage(more)]) {
      const { rawMessage } = await expectReason(call, "UNSUPPORTED_OPERATION");
      expect(rawMessage).toContain("takes no message");
    }
    expect((await client.getTask({ id })).status?.state).toBe(TaskState.WORKING);
    expect((await client.cancelTask({ id })).status?.state).toBe(TaskState.CANCELED);
  });

  anyAgent.where({ server: "bare" })(
    "A-9",
    "refuses a media type that its card does not name",
    async (stage) => {
      const parts = [helloPart(stage), bytes(new Uint8Array([1]), { mediaType: requireForeignType(stage) })];
      await expectReason(stage.client.sendMessage(toRequest("", { parts })), "CONTENT_TYPE_NOT_SUPPORTED");
    },
  );

  for (const [name, part] of [
    ["text of another type", text("<p>", { mediaType: "text/html" })],
    ["a URL of no type", fileUrl("https://example.com/file")],
  ] as const) {
    bare("A-9", `refuses ${name} where only text and JSON are taken`, async ({ client }) => {
      const request = toRequest("", { parts: [text("task fine"), part] });
      await expectReason(client.sendMessage(request), "CONTENT_TYPE_NOT_SUPPORTED");
    });
  }

  bare("A-9", "takes what the card declares", async ({ client }) => {
    const task = await sendTask(client, "", { parts: [text("task fine"), json({ a: 1 })] });
    expect(task.status?.state).toBe(TaskState.COMPLETED);
  });

  verifies("A-10", "tells the agent which media types the caller takes", async ({ client }) => {
    const acceptedOutputModes = ["text/plain", "image/png"];
    const { artifacts } = await sendTask(client, "seen", { configuration: { acceptedOutputModes } });
    expect(partData(artifacts[0]?.parts[0])).toMatchObject({ acceptedOutputModes });
  });

  verifies("A-11", "starts two tasks for two messages with the same id", async ({ client }) => {
    const messageId = newId();
    const one = await sendTask(client, "task twice", { messageId });
    const other = await sendTask(client, "task twice", { messageId });
    expect(one.id).not.toBe(other.id);
    expect(one.history[0]?.messageId).toBe(messageId);
    expect(other.history[0]?.messageId).toBe(messageId);
  });

  verifies("A-12", "puts results into artifacts", async ({ client }) => {
    expect(artifactTexts(await sendTask(client, "task the result"))).toStrictEqual(["the result"]);
  });

  const greeting = { messageId: "m", role: Role.USER };
  for (const [name, field, spoil] of [
    ["no message", "message", () => undefined],
    ["no message id", "message.messageId", (part) => ({ ...greeting, messageId: "", parts: [part] })],
    ["no role", "message.role", (part) => ({ ...greeting, role: Role.UNSPECIFIED, parts: [part] })],
    ["no parts", "message.parts", () => ({ ...greeting, parts: [] })],
    ["a part without content", "message.parts[1]", (part) => ({ ...greeting, parts: [part, {}] })],
  ] satisfies [string, string, (part: Part) => MessageInitShape<typeof MessageSchema> | undefined][]) {
    verifies("A-13 E-3 H-7", `refuses a send with ${name}, and does nothing`, async ({ client }) => {
      const contextId = newId();
      const message = spoil(text("task never"));
      const request = message === undefined ? {} : { message: { ...message, contextId } };
      for (const call of [() => client.sendMessage(request), () => client.sendStreamingMessage(request)]) {
        await expectFields(call(), field);
      }
      expect((await client.listTasks({ contextId })).tasks).toStrictEqual([]);
    });

    anyAgent("A-13 H-7", `calls a send with ${name} invalid`, async (stage) => {
      const message = spoil(helloPart(stage));
      await expectCode(
        stage.client.sendMessage(message === undefined ? {} : { message }),
        Code.InvalidArgument,
      );
    });
  }

  verifies("A-13", "names everything that is wrong at once", async ({ client }) => {
    const error = await failureOf(client.sendMessage({ message: { parts: [{}] } }));
    const fields = findFieldViolations(error).map(({ field }) => field);
    expect(fields).toStrictEqual(
      expect.arrayContaining(["message.messageId", "message.role", "message.parts[0]"]),
    );
  });

  withPush(
    "A-14",
    "registers the webhook that comes with a send, for either kind of send",
    async ({ client }) => {
      const configuration = { taskPushNotificationConfig: { url: "https://example.com/hook", token: "t" } };
      const sent = await sendTask(client, "task hooked", { configuration });
      const events = await readAll(client.sendStreamingMessage(toRequest("task hooked", { configuration })));
      for (const taskId of [sent.id, firstTask(events).id]) {
        const { configs } = await client.listTaskPushNotificationConfigs({ taskId });
        expect(configs).toMatchObject([{ taskId, url: "https://example.com/hook", token: "t" }]);
        expect(configs[0]?.id).not.toBe("");
      }
    },
  );

  withPush("A-14", "registers the webhook that comes with an answer", async ({ client }) => {
    const { id: taskId } = await sendTask(client, "ask Why?");
    const configuration = { taskPushNotificationConfig: { id: "late", url: "https://example.com/hook" } };
    await sendTask(client, "because", { taskId, configuration });
    const config = await client.getTaskPushNotificationConfig({ taskId, id: "late" });
    expect(config).toMatchObject({ taskId, id: "late", url: "https://example.com/hook" });
  });

  withPush("A-14", "refuses a webhook in a send that names a task", async ({ client }) => {
    const configuration = { taskPushNotificationConfig: { taskId: "t", url: "https://example.com/hook" } };
    const error = await failureOf(client.sendMessage(toRequest("task hooked", { configuration })));
    expect(findFieldViolations(error)).toMatchObject([
      { field: "configuration.taskPushNotificationConfig.taskId" },
    ]);
  });

  anyAgent.where({ when: ["no-push"], server: "no-push" })(
    "A-15",
    "refuses a webhook in a send when it has no push",
    async (stage) => {
      const configuration = { taskPushNotificationConfig: { url: "https://example.com/hook" } };
      const request = hello(stage, { configuration });
      await expectReason(stage.client.sendMessage(request), "PUSH_NOTIFICATION_NOT_SUPPORTED");
      if (findCardFacts(stage.target.card).has("streaming")) {
        await expectReason(stage.client.sendStreamingMessage(request), "PUSH_NOTIFICATION_NOT_SUPPORTED");
      }
    },
  );

  verifies(
    "A-16",
    "answers a message of a task with the task, also when the agent replies",
    async ({ client }) => {
      const { id } = await sendTask(client, "question Which one?");
      const task = taskOf(await client.sendMessage(toRequest("echo Thank you.", { taskId: id })));
      expect(task.id).toBe(id);
      expect(task.status?.state).toBe(TaskState.COMPLETED);
      expect(task.status?.message?.parts[0]?.content.value).toBe("Thank you.");
    },
  );
});
