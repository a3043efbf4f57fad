import { TaskState } from "@a2a-connect/proto";
import { artifactTexts, expectReason, newId, sendTask } from "../calls.ts";
import { expect } from "../expect.ts";
import { endedTask } from "../hello.ts";
import { type ScenarioGroup, scenarios } from "../scenario.ts";

const { COMPLETED } = TaskState;

/** A.3 */
export const getTask: ScenarioGroup = scenarios("A.3 GetTask", ({ verifies, anyAgent }) => {
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

  anyAgent("A-30 A-31", "answers TASK_NOT_FOUND for a task that does not exist", async ({ client }) => {
    const id = newId();
    await expectReason(client.getTask({ id }), "TASK_NOT_FOUND");
    await expectReason(client.cancelTask({ id }), "TASK_NOT_FOUND");
  });
});
