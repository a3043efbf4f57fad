import { TaskState } from "@a2a-connect/proto";
import {
  artifactTexts,
  expectReason,
  newId,
  openReader,
  partData,
  sendTask,
  statesOf,
  taskOf,
  untilSeen,
} from "../calls.ts";
import { expect } from "../expect.ts";
import { endedTask } from "../hello.ts";
import { type ScenarioGroup, scenarios } from "../scenario.ts";

const { CANCELED, COMPLETED, WORKING, INPUT_REQUIRED } = TaskState;

/** A.3 */
export const taskOperations: ScenarioGroup = scenarios("A.3 One task by its id", ({ verifies, anyAgent }) => {
  const streamingAgent = anyAgent.where({ when: ["streaming"] });

  verifies("A-30", "returns status, artifacts and history", async ({ client }) => {
    const sent = await sendTask(client, "task result");
    const task = await client.getTask({ id: sent.id });
    expect(task).toStrictEqual(sent);
    expect(task.status?.state).toBe(COMPLETED);
    expect(artifactTexts(task)).toStrictEqual(["result"]);
    expect(task.history[0]?.parts[0]?.content.value).toBe("task result");
  });

  anyAgent("A-30 A-3", "returns the task of a hello as it was answered", async (stage) => {
    const sent = await endedTask(stage);
    const { id, contextId, status, artifacts } = await stage.client.getTask({ id: sent.id });
    expect([id, contextId, status?.state]).toStrictEqual([sent.id, sent.contextId, sent.status?.state]);
    expect(artifacts.map(({ parts }) => parts)).toStrictEqual(sent.artifacts.map(({ parts }) => parts));
  });

  anyAgent("A-30 A-31", "does not know a task that was never made", async ({ client }) => {
    const id = newId();
    await expectReason(client.getTask({ id }), "TASK_NOT_FOUND");
    await expectReason(client.cancelTask({ id }), "TASK_NOT_FOUND");
  });

  streamingAgent("A-35", "has nothing to subscribe to where there is no task", async ({ client }) => {
    await expectReason(client.subscribeToTask({ id: newId() }), "TASK_NOT_FOUND");
  });

  anyAgent("A-31 A-32", "does not cancel a task that has ended, and leaves it as it is", async (stage) => {
    const { id } = await endedTask(stage);
    const before = await stage.client.getTask({ id });
    const late = stage.client.cancelTask({ id });
    // A second cancel may be answered with the task as it is (spec §3.3.1).
    await (before.status?.state === CANCELED
      ? Promise.allSettled([late])
      : expectReason(late, "TASK_NOT_CANCELABLE"));
    expect(await stage.client.getTask({ id })).toStrictEqual(before);
  });

  streamingAgent("A-35", "refuses to subscribe to the task of a hello that has ended", async (stage) => {
    const { id } = await endedTask(stage);
    await expectReason(stage.client.subscribeToTask({ id }), "UNSUPPORTED_OPERATION");
  });

  verifies("A-31", "cancels a task that asks, and returns it", async ({ client }) => {
    const { id } = await sendTask(client, "ask Why?");
    const task = await client.cancelTask({ id });
    expect([task.id, task.status?.state]).toStrictEqual([id, CANCELED]);
    expect(await client.getTask({ id })).toStrictEqual(task);
  });

  verifies("A-31", "cancels a task at work, even one that never stops by itself", async ({ client }) => {
    const { id } = await sendTask(client, "hang", { configuration: { returnImmediately: true } });
    expect((await client.cancelTask({ id })).status?.state).toBe(CANCELED);
  });

  verifies("A-31", "does not cancel what has ended", async ({ client }) => {
    for (const words of ["task done", "fail broken", "reject no"]) {
      const { id, status } = await sendTask(client, words);
      await expectReason(client.cancelTask({ id }), "TASK_NOT_CANCELABLE");
      expect((await client.getTask({ id })).status).toStrictEqual(status);
    }
  });

  verifies("A-32", "leaves a canceled task as it is when it is canceled again", async ({ client }) => {
    const { id } = await sendTask(client, "ask Why?");
    const canceled = await client.cancelTask({ id });
    await expectReason(client.cancelTask({ id }), "TASK_NOT_CANCELABLE");
    expect(await client.getTask({ id })).toStrictEqual(canceled);
  });

  verifies("A-33", "hands the metadata of a cancel to the agent", async ({ client }) => {
    const configuration = { returnImmediately: true };
    const { id } = await sendTask(client, "until-canceled", { configuration });
    await untilSeen(client, id, ({ status }) => status?.state === WORKING);
    const why = "changed my mind";
    const { status, artifacts } = await client.cancelTask({ id, metadata: { why } });
    expect(status?.state).toBe(CANCELED);
    expect(partData(artifacts[0]?.parts[0])).toStrictEqual({ why });
  });

  verifies(
    "A-34 A-36",
    "begins a subscription with the task as it is, without a gap after it",
    async ({ client }) => {
      const { id } = await sendTask(client, "piece a");
      for (const [seen, chunk] of [
        [["a"], "b"],
        [["a", "b"], "c"],
      ] as const) {
        const left = new AbortController();
        const reader = openReader(client.subscribeToTask({ id }, left));
        const snapshot = taskOf(await reader.next());
        expect(artifactTexts(snapshot)).toStrictEqual(seen);
        expect(snapshot.status?.state).toBe(INPUT_REQUIRED);
        await sendTask(client, `piece ${chunk}`, { taskId: id });
        expect(statesOf([await reader.next()])).toStrictEqual([WORKING]);
        const { payload } = await reader.next();
        expect(payload.case === "artifactUpdate" && payload.value.artifact?.parts[0]?.content.value).toBe(
          chunk,
        );
        left.abort();
      }
      const reader = openReader(client.subscribeToTask({ id }));
      expect(artifactTexts(taskOf(await reader.next()))).toStrictEqual(["a", "b", "c"]);
      await sendTask(client, "task d", { taskId: id });
      expect(statesOf(await reader.rest())).toStrictEqual([WORKING, COMPLETED]);
    },
  );

  verifies("A-34", "misses nothing of a task that is busy while others subscribe", async ({ client }) => {
    const { id } = await sendTask(client, "stream 60 5", { configuration: { returnImmediately: true } });
    const readers = Array.from({ length: 5 }, async () => {
      const reader = openReader(client.subscribeToTask({ id }));
      const seen = artifactTexts(taskOf(await reader.next()));
      for (const { payload } of await reader.rest()) {
        if (payload.case === "artifactUpdate") {
          seen.push(String(payload.value.artifact?.parts[0]?.content.value));
        }
      }
      return seen;
    });
    for (const seen of await Promise.all(readers)) {
      expect(seen).toStrictEqual(artifactTexts(await client.getTask({ id })));
      expect(seen).toHaveLength(60);
    }
  });

  verifies("A-35", "refuses to subscribe to a task that has ended", async ({ client }) => {
    for (const words of ["task done", "fail broken", "reject no"]) {
      const { id } = await sendTask(client, words);
      await expectReason(client.subscribeToTask({ id }), "UNSUPPORTED_OPERATION");
    }
  });

  verifies("A-35", "ends a subscription when the task is canceled", async ({ client }) => {
    const { id } = await sendTask(client, "ask Why?");
    const reader = openReader(client.subscribeToTask({ id }));
    expect(taskOf(await reader.next()).status?.state).toBe(INPUT_REQUIRED);
    await client.cancelTask({ id });
    expect(statesOf(await reader.rest())).toStrictEqual([CANCELED]);
  });
});
