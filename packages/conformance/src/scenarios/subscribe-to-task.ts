import { TaskState } from "@a2a-connect/proto";
import { artifactTexts, expectReason, newId, openReader, sendTask, statesOf, taskOf } from "../calls.ts";
import { expect } from "../expect.ts";
import { endedTask } from "../hello.ts";
import { type ScenarioGroup, scenarios } from "../scenario.ts";

const { CANCELED, COMPLETED, WORKING, INPUT_REQUIRED } = TaskState;

/** A.3 */
export const subscribeToTask: ScenarioGroup = scenarios("A.3 SubscribeToTask", ({ verifies, anyAgent }) => {
  const streamingAgent = anyAgent.where({ when: ["streaming"] });

  streamingAgent("A-35", "has nothing to subscribe to where there is no task", async ({ client }) => {
    await expectReason(client.subscribeToTask({ id: newId() }), "TASK_NOT_FOUND");
  });

  streamingAgent("A-35", "refuses to subscribe to the task of a hello that has ended", async (stage) => {
    const { id } = await endedTask(stage);
    await expectReason(stage.client.subscribeToTask({ id }), "UNSUPPORTED_OPERATION");
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
