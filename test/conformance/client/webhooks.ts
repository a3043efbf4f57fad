import { partText } from "@a2a-connect/core";
import { formatMessage } from "@a2a-connect/core/internal";
import { createPushReceiver } from "@a2a-connect/node/client";
import {
  type StreamResponse,
  StreamResponseSchema,
  type TaskPushNotificationConfig,
  TaskState,
} from "@a2a-connect/proto";
import { expect } from "vitest";
import { clientScenarios } from "./client-scenario.ts";
import { meetPeer } from "./every-operation.ts";
import { chunkEvent, peerTask, statusEvent, taskAfter, taskAnswer, taskEvent } from "./peer.ts";

const { WORKING, COMPLETED } = TaskState;

/** What comes by webhook, from agents and from others. */
export const webhooks = clientScenarios("The client's receiver of webhooks", (verifies) => {
  verifies(
    "N-7",
    "takes what the agent sends, each event once, and nothing from anybody else",
    async (wire) => {
      const told = [
        taskEvent(WORKING),
        chunkEvent("story", "once ", false),
        chunkEvent("story", "upon a time", true),
        statusEvent(COMPLETED),
      ];
      const answers: number[] = [];
      /** A notification that comes in the wrong order, twice, or from the wrong place ends as the agent's own do. */
      const deliver = async (config: TaskPushNotificationConfig): Promise<void> => {
        const [first, ...rest] = told.map((event, index) => ({ event, id: index + 1 }));
        const forged = chunkEvent("story", "lies", true);
        answers.push(await notify(config, forged, { token: "guess", id: 1 }));
        answers.push(await notify(config, forged, { token: undefined, id: 1 }));
        answers.push(
          await notify({ ...config, url: `${config.url}x` }, forged, { token: config.token, id: 1 }),
        );
        for (const each of [first, first, foreign(), ...rest.flatMap((one) => [one, one])]) {
          if (each !== undefined)
            answers.push(await notify(config, each.event, { token: config.token, id: each.id }));
        }
      };
      const delivered = Promise.withResolvers<void>();
      await using receiver = await createPushReceiver({ host: "127.0.0.1" });
      const { peer, agent } = await meetPeer(wire, {
        sendMessage: ({ configuration }) => {
          const config = configuration?.taskPushNotificationConfig;
          expect(config?.taskId).toBe("");
          if (config !== undefined) deliver(config).then(delivered.resolve, delivered.reject);
          return taskAnswer(peerTask(WORKING));
        },
        getTask: () => taskAfter(...told),
      });
      const chunks: string[] = [];
      const result = await agent.run("tell", {
        push: receiver,
        onArtifact: ({ artifact }) => void chunks.push(artifact === undefined ? "" : partText(artifact)),
      });
      expect(chunks).toEqual(["once ", "upon a time"]);
      expect(result.text()).toBe("once upon a time");
      await delivered.promise;
      expect(answers.slice(0, 3)).toEqual([401, 401, 404]);
      // Whatever the agent sends is acknowledged; after the end there is nobody any more.
      expect(answers.slice(3, -1).filter((status) => status !== 204)).toEqual([]);
      expect([204, 404]).toContain(answers.at(-1));
      expect(peer.requests.map(({ method }) => method)).toEqual(["SendMessage"]);
    },
  );
});

/** An event of a task that the webhook is not for. */
function foreign(): { readonly event: StreamResponse; readonly id: number } {
  const event = chunkEvent("story", "another story", true);
  if (event.payload.case === "artifactUpdate") event.payload.value.taskId = "task-2";
  return { event, id: 2 };
}

/** Posts a notification as an agent does. Resolves with the status of the answer. */
async function notify(
  { url }: Pick<TaskPushNotificationConfig, "url">,
  event: StreamResponse,
  { token, id }: { readonly token: string | undefined; readonly id: number },
): Promise<number> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/a2a+json",
      "x-a2a-event-id": String(id),
      ...(token === undefined ? {} : { "x-a2a-notification-token": token }),
    },
    body: JSON.stringify(formatMessage(StreamResponseSchema, event)),
  });
  return response.status;
}
