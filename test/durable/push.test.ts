// Webhooks over `kill -9`: every event, in order, at least once, and configs that nobody has to make again.

import { isDeepStrictEqual } from "node:util";
import { startReceiver } from "@a2a-connect/conformance";
import { TaskState } from "@a2a-connect/proto";
import { say, taskOf } from "@a2a-connect/testing";
import { expect, it } from "vitest";
import { startMortalAgent } from "./mortal-agent.ts";

/** Event ids that a webhook got, in order; one that came again counts once. */
function delivered(requests: readonly { readonly eventId: number; readonly path: string }[], path: string) {
  const ids = requests.filter((request) => request.path === path).map(({ eventId }) => eventId);
  return ids.filter((id, index) => id !== ids[index - 1]);
}

it("a webhook that was named in the send gets every event of a task that is killed in the middle", async () => {
  await using receiver = await startReceiver();
  const agent = await startMortalAgent();
  const configuration = {
    returnImmediately: true,
    taskPushNotificationConfig: { url: `${receiver.url}/steps` },
  };
  const { id } = taskOf(await (await agent.client()).sendMessage({ ...say("steps 5 100"), configuration }));
  const all = [1, 2, 3, 4, 5, 6, 7];
  await receiver.until((requests) => requests.length === 2);
  await agent.kill();
  await receiver.until((requests) => requests.length >= 4);
  await agent.kill();
  await receiver.until((requests) => requests.at(-1)?.eventId === all.length);
  expect(delivered(receiver.requests, "/steps")).toEqual(all);
  expect((await (await agent.client()).getTask({ id })).status?.state).toBe(TaskState.COMPLETED);
}, 60_000);

it("configs are there after a kill, and get what happens from then on", async () => {
  await using receiver = await startReceiver();
  const agent = await startMortalAgent();
  const before = await agent.client();
  const { id: taskId } = taskOf(await before.sendMessage(say("ask What?")));
  const config = await before.createTaskPushNotificationConfig({
    taskId,
    url: `${receiver.url}/late`,
    token: "the-token",
    authentication: { scheme: "Bearer", credentials: "the-credentials" },
  });
  await agent.kill();
  const after = await agent.client();
  expect((await after.listTaskPushNotificationConfigs({ taskId })).configs).toEqual([config]);
  await after.sendMessage(say("that", { taskId }));
  // Created and asked before the config was made: 1 and 2.
  await receiver.until((requests) => isDeepStrictEqual(delivered(requests, "/late"), [3, 4, 5]));
  expect(receiver.requests[0]?.head).toMatch(/^authorization: Bearer the-credentials$/im);
  expect(receiver.requests[0]?.head).toMatch(/^x-a2a-notification-token: the-token$/im);
}, 60_000);
