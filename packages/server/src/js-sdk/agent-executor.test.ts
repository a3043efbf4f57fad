import { Role, TaskState } from "@a2a-connect/proto";
import { createEngineHarness, createTurnCount, say } from "@a2a-connect/testing";
import { expect, it } from "vitest";
import { countedPart } from "../../test-support/counted-data.ts";
import { sendTask, subscribe } from "../../test-support/tasks.ts";
import { fromAgentExecutor } from "./agent-executor.ts";
import type { SdkEvent, SdkTask } from "./sdk-types.ts";

it("a task with much data is converted in several turns of the event loop", async () => {
  const reads = createTurnCount();
  let isCounting = false;
  const lengths: (number | undefined)[] = [];
  const executor = {
    async execute({ task }: { readonly task?: SdkTask }, bus: { publish(event: SdkEvent): void }) {
      lengths.push(task?.history?.length);
      bus.publish({ kind: "statusUpdate", data: { status: { state: TaskState.INPUT_REQUIRED, message } } });
    },
    async cancelTask() {},
  };
  const { client } = await createEngineHarness({
    agent: { card: { name: "Agent" }, execute: fromAgentExecutor(executor as never) },
  });
  const send = (taskId: string) =>
    sendTask(client, say([countedPart(() => isCounting && reads.count())], { taskId }));
  const { id } = await send("");
  const reader = subscribe(client, id); // keeps the task in memory, with the messages as they are sent
  for (let message = 0; message < 20; message++) await send(id);
  isCounting = true;
  await sendTask(client, say("and now", { taskId: id }));
  reader.hangUp();
  expect(lengths.at(-1)).toBe(43); // with the questions
  expect(reads.total).toBeGreaterThanOrEqual(20);
  expect(reads.mostInATurn).toBeLessThan(5);
});

const ids = { messageId: "question", taskId: "", contextId: "" };
const message = {
  ...ids,
  role: Role.AGENT,
  parts: [{ content: { $case: "text" as const, value: "More?" } }],
  extensions: [],
  referenceTaskIds: [],
};
