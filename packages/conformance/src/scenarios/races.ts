import { findA2AError, formatTaskState } from "@a2a-connect/core";
import { stateOf } from "@a2a-connect/core/internal";
import { TaskState } from "@a2a-connect/proto";
import { newId, sendTask, settle, toRequest } from "../calls.ts";
import { expect } from "../expect.ts";
import { hello, helloTask, isEnded } from "../hello.ts";
import { type ScenarioGroup, scenarios } from "../scenario.ts";

/** How often a race is run: each time its order may be another. */
const rounds = 5;

/** What happens when two calls meet: whichever comes first, the task has one story. */
export const races: ScenarioGroup = scenarios("Calls at the same time", ({ verifies, anyAgent }) => {
  anyAgent(
    "A-31 A-32 B-2",
    "has one end when a cancel meets the end of the work, and keeps to it",
    async (stage) => {
      const { client } = stage;
      for (let round = 0; round < rounds; round++) {
        const { id } = await helloTask(stage, { configuration: { returnImmediately: true } });
        const outcome = await client.cancelTask({ id }).then(
          ({ status }) => status?.state,
          (error: unknown) => findA2AError(error)?.reason ?? String(error),
        );
        const task = await client.getTask({ id });
        const state = formatTaskState(stateOf(task));
        if (outcome === TaskState.CANCELED) {
          expect(state, "the cancel was answered with CANCELED").toBe("canceled");
        } else if (typeof outcome === "string") {
          expect(outcome).toBe("TASK_NOT_CANCELABLE");
          expect(state, "the cancel was refused").not.toBe("canceled");
        }
        // Only the state is final: a server may still be writing the last artifacts of its agent.
        if (isEnded(task)) {
          expect((await client.getTask({ id })).status?.state).toBe(task.status?.state);
        }
      }
    },
  );

  anyAgent("A-32", "has one end when two cancels meet", async (stage) => {
    const { client } = stage;
    const { id } = await helloTask(stage, { configuration: { returnImmediately: true } });
    const outcomes = await Promise.allSettled([client.cancelTask({ id }), client.cancelTask({ id })]);
    const task = await client.getTask({ id });
    for (const outcome of outcomes) {
      if (outcome.status === "rejected") {
        expect(findA2AError(outcome.reason)?.reason, String(outcome.reason)).toBe("TASK_NOT_CANCELABLE");
      } else if (isEnded(outcome.value)) {
        expect(outcome.value.status?.state).toBe(task.status?.state);
      }
    }
  });

  anyAgent(
    "A-1 D-1",
    "makes a task of its own for each of several hellos at the same time",
    async (stage) => {
      const messageIds = Array.from({ length: rounds }, newId);
      const tasks = await Promise.all(
        messageIds.map((messageId) => helloTask(stage, { messageId, metadata: { of: messageId } })),
      );
      expect(new Set(tasks.map(({ id }) => id)).size).toBe(rounds);
      for (const [index, { history }] of tasks.entries()) {
        const said = history.filter(({ messageId }) => messageIds.includes(messageId));
        expect(said.every(({ messageId }) => messageId === messageIds[index])).toBe(true);
      }
    },
  );

  anyAgent(
    "A-8 A-16",
    "answers two messages for a task at the same time with the task, or refuses them",
    async (stage) => {
      const { client } = stage;
      const { id, contextId } = await helloTask(stage, { configuration: { returnImmediately: true } });
      const outcomes = await Promise.allSettled(
        [1, 2].map(() => client.sendMessage(hello(stage, { taskId: id, contextId }))),
      );
      for (const outcome of outcomes) {
        if (outcome.status === "fulfilled") {
          expect(outcome.value.payload.value).toMatchObject({ id });
        } else if (findA2AError(outcome.reason)?.reason !== "UNSUPPORTED_OPERATION") {
          stage.note(
            `A message for a task at work is refused with ${outcome.reason}; UNSUPPORTED_OPERATION says more.`,
          );
        }
      }
      expect((await client.getTask({ id })).id).toBe(id);
    },
  );

  verifies("A-8 B-5", "takes one of two answers to a question", async ({ client }) => {
    for (let round = 0; round < rounds; round++) {
      const { id } = await sendTask(client, "ask Why?");
      const words = ["one", "other"];
      const outcomes = await Promise.allSettled(
        words.map((answer) => client.sendMessage(toRequest(answer, { taskId: id }))),
      );
      const refusals = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
      expect(refusals.map((error) => findA2AError(error)?.reason)).toStrictEqual(["UNSUPPORTED_OPERATION"]);
      const task = await settle(client, id);
      expect(task.status?.state).toBe(TaskState.COMPLETED);
      const taken = words[outcomes.findIndex(({ status }) => status === "fulfilled")];
      expect(task.artifacts.map(({ parts }) => parts[0]?.content.value)).toStrictEqual([taken]);
      expect(task.history.map(({ parts }) => parts[0]?.content.value)).toStrictEqual([
        "ask Why?",
        "Why?",
        taken,
      ]);
    }
  });
});
