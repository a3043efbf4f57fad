import { TaskState } from "@a2a-connect/proto";
import { expectReason, partData, sendTask, untilSeen } from "../calls.ts";
import { expect } from "../expect.ts";
import { endedTask } from "../hello.ts";
import { type ScenarioGroup, scenarios } from "../scenario.ts";

const { CANCELED, WORKING } = TaskState;

/** A.3 */
export const cancelTask: ScenarioGroup = scenarios("A.3 CancelTask", ({ verifies, anyAgent }) => {
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
});
