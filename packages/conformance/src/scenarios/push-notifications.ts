import { isLoopbackHost, parseMessage } from "@a2a-connect/core/internal";
import {
  type StreamResponse,
  StreamResponseSchema,
  type Task,
  type TaskPushNotificationConfigSchema,
  TaskState,
} from "@a2a-connect/proto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { readAll, sendTask, statesOf, toRequest, withinPatience } from "../calls.ts";
import { expect } from "../expect.ts";
import { settledTask } from "../hello.ts";
import { answer, cut, type RawRequest, startReceiver } from "../receiver.ts";
import { NotApplicable, type ScenarioGroup, type Stage, scenarios } from "../scenario.ts";

const secret = { token: "the token", authentication: { scheme: "bEARER", credentials: "the credentials" } };

/** N */
export const pushNotifications: ScenarioGroup = scenarios(
  "N Push notifications",
  ({ verifies, anyAgent }) => {
    const withPush = verifies.where({ server: "push" });
    const pushAgent = anyAgent.where({ server: "push", when: ["push"] });

    withPush(
      "N-1 N-4 A-14",
      "tells the webhook of a stream exactly what the stream says",
      async ({ client }) => {
        await using receiver = await startReceiver();
        const configuration = { taskPushNotificationConfig: { url: `${receiver.url}/hook` } };
        const events = await readAll(client.sendStreamingMessage(toRequest("stream 3 0", { configuration })));
        await receiver.until(({ length }) => length === events.length);
        expect(receiver.requests.map(eventOf)).toEqual(events);
        expect(receiver.requests.map(({ eventId }) => eventId)).toEqual(events.map((_, index) => index + 1));
        for (const { head } of receiver.requests) {
          expect(head).toMatch(/^POST \/hook HTTP\/1\.1\r\n/);
          expect(fieldOf(head, "content-type")).toBe("application/a2a+json");
        }
      },
    );

    withPush(
      "N-2 N-3 N-8",
      "sends the webhook its credentials and its token, and no chunks",
      async ({ client }) => {
        await using receiver = await startReceiver();
        const taskPushNotificationConfig = { url: `${receiver.url}/hook`, ...secret };
        await sendTask(client, "task done", { configuration: { taskPushNotificationConfig } });
        await receiver.until(({ length }) => length > 0);
        for (const { head, body } of receiver.requests) {
          expect(fieldOf(head, "authorization")).toBe("bEARER the credentials");
          expect(fieldOf(head, "x-a2a-notification-token")).toBe("the token");
          expect(fieldOf(head, "content-length")).toBe(String(body.length));
          expect(fieldOf(head, "transfer-encoding")).toBeUndefined();
        }
        expect(new Set(receiver.requests.map(({ connection }) => connection)).size).toBe(1);
      },
    );

    pushAgent(
      "N-1 N-4 A-14",
      "tells the webhook of a hello of its task up to the end, each time with one event",
      async (stage) => {
        const { task, requests } = await tellHello(stage);
        const events = requests.map(eventOf);
        for (const { payload } of events) {
          const value = payload.case === "task" ? { taskId: payload.value.id } : payload.value;
          expect(value).toMatchObject({ taskId: task.id });
        }
        expect(statesOf(events).at(-1)).toBe(task.status?.state);
      },
    );

    pushAgent("N-1", "posts to the webhook of a hello as application/a2a+json", async (stage) => {
      for (const { head } of (await tellHello(stage)).requests) {
        expect(head).toMatch(/^POST \/hook HTTP\/1\.1\r\n/);
        const type = fieldOf(head, "content-type") ?? "";
        expect(type).toMatch(/^application\/(a2a\+)?json\b/);
        if (type.startsWith("application/json")) {
          stage.note("Notifications are application/json, as 1.0.0 has it; 1.0.1 says application/a2a+json.");
        }
      }
    });

    pushAgent("N-2", "sends the webhook of a hello its credentials", async (stage) => {
      const authentication = { scheme: "Bearer", credentials: "the credentials" };
      for (const { head } of (await tellHello(stage, { authentication })).requests) {
        expect(fieldOf(head, "authorization")).toBe("Bearer the credentials");
      }
    });

    pushAgent("N-3", "sends the webhook of a hello its token", async (stage) => {
      for (const { head } of (await tellHello(stage, { token: "the token" })).requests) {
        const older = fieldOf(head, "x-a2a-notification-token");
        expect(older ?? fieldOf(head, "a2a-notification-token")).toBe("the token");
        if (older === undefined) {
          stage.note(
            "A webhook gets its token as A2A-Notification-Token; the known name is X-A2A-Notification-Token.",
          );
        }
      }
    });

    pushAgent("N-8", "sends the webhook of a hello no chunks", async (stage) => {
      for (const { head, body } of (await tellHello(stage)).requests) {
        expect(fieldOf(head, "content-length")).toBe(String(body.length));
        expect(fieldOf(head, "transfer-encoding")).toBeUndefined();
      }
    });

    withPush(
      "N-4 N-5 A-57",
      "tells each of several webhooks of everything, although one of them fails at first",
      async ({ client }) => {
        await using receiver = await startReceiver();
        await using failing = await startReceiver();
        failing.replyNext(answer(500), cut, answer(429));
        const { id: taskId } = await sendTask(client, "question Which one?");
        for (const [id, { url }] of Object.entries({ receiver, failing })) {
          await client.createTaskPushNotificationConfig({ taskId, id, url });
        }
        const { status } = await sendTask(client, "task this", { taskId });
        await receiver.until(({ length }) => length === 3);
        await failing.until(({ length }) => length === 6);
        const [first, ...rest] = receiver.requests.map(({ body }) => body.toString());
        expect(failing.requests.map(({ body }) => body.toString())).toEqual([
          first,
          first,
          first,
          first,
          ...rest,
        ]);
        expect(statesOf(receiver.requests.map(eventOf))).toEqual([TaskState.WORKING, status?.state]);
      },
    );

    withPush("N-6", "does not follow a redirect", async ({ client }) => {
      await using receiver = await startReceiver();
      await using elsewhere = await startReceiver();
      receiver.replyNext(answer(307, `Location: ${elsewhere.url}/\r\n`));
      const taskPushNotificationConfig = { url: receiver.url, ...secret };
      await sendTask(client, "task done", { configuration: { taskPushNotificationConfig } });
      await receiver.until((requests) => requests.some(({ eventId }) => eventId === 2));
      expect(receiver.requests.slice(0, 3).map(({ eventId }) => eventId)).toEqual([1, 1, 2]);
      expect(elsewhere.requests).toEqual([]);
    });

    withPush("A-56", "sends nothing more to a webhook that was deleted", async ({ client }) => {
      await using receiver = await startReceiver();
      const { id: taskId } = await sendTask(client, "question Which one?");
      for (const id of ["deleted", "kept"]) {
        await client.createTaskPushNotificationConfig({ taskId, id, url: `${receiver.url}/${id}` });
      }
      await client.deleteTaskPushNotificationConfig({ taskId, id: "deleted" });
      await sendTask(client, "task this", { taskId });
      await receiver.until(({ length }) => length >= 3);
      expect(receiver.requests.map(({ path }) => path)).toEqual(["/kept", "/kept", "/kept"]);
    });
  },
);

/**
 * Says hello with a webhook, and waits until that was told how it ended.
 *
 * @throws NotApplicable when the server cannot reach this machine, or may not
 */
async function tellHello(
  stage: Stage,
  secrets: MessageInitShape<typeof TaskPushNotificationConfigSchema> = {},
): Promise<{ task: Task; requests: readonly RawRequest[] }> {
  if (!isLoopbackHost(new URL(stage.target.url).hostname)) {
    throw new NotApplicable("the webhook is on this machine, which a server elsewhere cannot reach");
  }
  await using receiver = await startReceiver();
  const config = { ...secrets, url: `${receiver.url}/hook` };
  const task = await settledTask(stage, { configuration: { taskPushNotificationConfig: config } }).catch(
    (error: unknown) => {
      if (error instanceof NotApplicable) throw error;
      throw new NotApplicable(`the server takes no webhook on this machine: ${String(error)}`, {
        cause: error,
      });
    },
  );
  await withinPatience(
    receiver.until((requests) => statesOf(requests.map(eventOf)).at(-1) === task.status?.state),
    () => `the webhook was told ${receiver.requests.length} events, but not how the task ended`,
  );
  return { task, requests: receiver.requests };
}

function eventOf({ body }: RawRequest): StreamResponse {
  return parseMessage(StreamResponseSchema, JSON.parse(body.toString("utf8")));
}

function fieldOf(head: string, name: string): string | undefined {
  return new RegExp(`^${name}: (.*)$`, "im").exec(head)?.[1]?.trim();
}
