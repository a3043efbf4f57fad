import { once } from "node:events";
import { Agent, request as httpRequest } from "node:http";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { PushSubscription } from "@a2a-connect/client/internal";
import { formatMessage } from "@a2a-connect/core/internal";
import { StreamResponseSchema, TaskState } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { createPushReceiver } from "./push-receiver.ts";

const notification = JSON.stringify(
  formatMessage(
    StreamResponseSchema,
    create(StreamResponseSchema, {
      payload: {
        case: "statusUpdate",
        value: { taskId: "t1", contextId: "c1", status: { state: TaskState.WORKING } },
      },
    }),
  ),
);

describe("createPushReceiver (N-7)", () => {
  it("gives what arrives, in order, with its event's number", async () => {
    await using receiver = await createPushReceiver();
    using subscription = receiver.open();
    expect((await send(subscription, { header: { "x-a2a-event-id": "7" } })).status).toBe(204);
    expect((await send(subscription)).status).toBe(204);
    const deliveries = subscription.deliveries[Symbol.asyncIterator]();
    expect((await deliveries.next()).value).toMatchObject({
      response: { payload: { case: "statusUpdate", value: { taskId: "t1" } } },
      eventId: 7,
    });
    expect((await deliveries.next()).value).toMatchObject({ eventId: undefined });
  });

  it("wakes whoever waits for a delivery, and ends when it is disposed of", async () => {
    await using receiver = await createPushReceiver();
    const subscription = receiver.open();
    const deliveries = subscription.deliveries[Symbol.asyncIterator]();
    const first = deliveries.next();
    await send(subscription);
    expect(await first).toMatchObject({ done: false });
    const second = deliveries.next();
    subscription[Symbol.dispose]();
    expect(await second).toEqual({ done: true, value: undefined });
    expect((await send(subscription)).status).toBe(404);
  });

  it("parses few notifications in a turn of the event loop, however many arrive at the same moment", async () => {
    await using receiver = await createPushReceiver();
    using subscription = receiver.open();
    const { url, token = "" } = subscription.config;
    const agent = new Agent({ keepAlive: false });
    const message = { messageId: "1", role: "ROLE_AGENT", parts: [{ text: "x".repeat(5_000) }] };
    const body = JSON.stringify({ message });
    const headers = { "x-a2a-notification-token": token, "content-length": body.length };
    const requests = await Promise.all(
      Array.from({ length: 60 }, async () => {
        const sent = httpRequest(url, { method: "POST", agent, headers });
        await new Promise((resolve) => sent.write(body.slice(0, -1), resolve));
        return sent;
      }),
    );
    const answers = requests.map(async (sent) => {
      const [response] = await once(sent, "response");
      response.resume();
      return response.statusCode;
    });
    for (let turn = 0; turn < 300; turn += 1) await nextTurn(); // the rest is read
    for (const sent of requests) sent.end("}");
    const deliveries = subscription.deliveries[Symbol.asyncIterator]();
    let [inTurn, most] = [0, 0];
    for (const _ of requests) {
      await deliveries.next();
      if (inTurn === 0) setImmediate(() => (inTurn = 0));
      inTurn += 1;
      most = Math.max(most, inTurn);
    }
    expect(await Promise.all(answers)).toEqual(requests.map(() => 204));
    expect(most).toBeLessThanOrEqual(13); // of 5 KB: 64 KiB in a turn
  });

  it("ends all subscriptions when it is closed", async () => {
    const receiver = await createPushReceiver();
    const { deliveries } = receiver.open();
    const next = deliveries[Symbol.asyncIterator]().next();
    await receiver.close();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it("lets a reader stop by itself", async () => {
    await using receiver = await createPushReceiver();
    using subscription = receiver.open();
    await send(subscription);
    for await (const { eventId } of subscription.deliveries) {
      expect(eventId).toBeUndefined();
      break;
    }
    const deliveries = subscription.deliveries[Symbol.asyncIterator]();
    const next = deliveries.next();
    await deliveries.return?.();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it("gives each subscription a path and a token of its own", async () => {
    await using receiver = await createPushReceiver();
    using first = receiver.open();
    using second = receiver.open();
    expect(first.config.url.startsWith(`${receiver.url}/`)).toBe(true);
    expect(first.config.url).not.toBe(second.config.url);
    expect(first.config.token).toMatch(/^[\w-]{32}$/);
    const response = await send(first, { header: { "x-a2a-notification-token": second.config.token ?? "" } });
    expect(response.status).toBe(401);
  });

  it("takes the token in the header of the official Go SDK, too", async () => {
    await using receiver = await createPushReceiver();
    using subscription = receiver.open();
    const token = subscription.config.token ?? "";
    const headers = { "content-type": "application/a2a+json", "a2a-notification-token": token };
    const { url } = subscription.config;
    expect((await fetch(url, { method: "POST", headers, body: notification })).status).toBe(204);
    headers["a2a-notification-token"] = "wrong";
    expect((await fetch(url, { method: "POST", headers, body: notification })).status).toBe(401);
  });

  for (const [what, init, status] of [
    ["a wrong token", { header: { "x-a2a-notification-token": "wrong" } }, 401],
    ["an empty token", { header: { "x-a2a-notification-token": "" } }, 401],
    [
      "a wrong token with nonsense",
      { header: { "x-a2a-notification-token": "wrong" }, body: "nonsense" },
      401,
    ],
    ["GET", { method: "GET" }, 405],
    ["PUT", { method: "PUT" }, 405],
    ["another path", { path: "/push/unknown" }, 404],
    ["a path below", { path: "/x" }, 404],
    ["no JSON", { body: "nonsense" }, 400],
    ["nothing", { body: "" }, 400],
    ["an event without content", { body: "{}" }, 400],
    ["JSON of another kind", { body: '{"jsonrpc":"2.0","id":1}' }, 400],
    ["a wrong field", { body: '{"task":{"id":1}}' }, 400],
    ["half a character", { body: Uint8Array.from([0x7b, 0xc3]) }, 400],
    ["too much", { body: JSON.stringify({ message: { parts: [{ text: "x".repeat(2_000) }] } }) }, 413],
  ] as const) {
    it(`answers ${status} to ${what}, and delivers nothing`, async () => {
      await using receiver = await createPushReceiver({ maxBodyBytes: 1_000 });
      using subscription = receiver.open();
      expect((await send(subscription, init)).status).toBe(status);
      await send(subscription, { header: { "x-a2a-event-id": "1" } });
      const deliveries = subscription.deliveries[Symbol.asyncIterator]();
      expect((await deliveries.next()).value?.eventId).toBe(1);
    });
  }

  it("refuses a wrong token before the body is sent", async () => {
    await using receiver = await createPushReceiver();
    using subscription = receiver.open();
    const status = await new Promise((resolve, reject) => {
      const sending = httpRequest(subscription.config.url, {
        method: "POST",
        headers: { "content-length": 1_000_000 },
      });
      sending.on("response", (response) => resolve(response.statusCode)).on("error", reject);
      sending.flushHeaders();
    });
    expect(status).toBe(401);
  });

  it("checks the sender's credentials, too, where there are some", async () => {
    await using receiver = await createPushReceiver();
    using subscription = receiver.open({ authentication: { scheme: "Bearer", credentials: "secret" } });
    expect(subscription.config.authentication).toEqual({ scheme: "Bearer", credentials: "secret" });
    for (const [authorization, status] of [
      ["Bearer secret", 204],
      ["bearer secret", 204],
      ["Bearer Secret", 401],
      ["secret", 401],
      ["", 401],
    ] as const) {
      expect((await send(subscription, { header: { authorization } })).status, authorization).toBe(status);
    }
  });

  it("tells senders to come again while nobody reads", async () => {
    await using receiver = await createPushReceiver({ maxPending: 2 });
    using subscription = receiver.open();
    using other = receiver.open();
    expect([(await send(subscription)).status, (await send(subscription)).status]).toEqual([204, 204]);
    const refused = await send(subscription);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "1"]);
    expect((await send(other)).status).toBe(204);
    await subscription.deliveries[Symbol.asyncIterator]().next();
    expect((await send(subscription)).status).toBe(204);
  });

  it("refuses very many values in few bytes before it builds them", async () => {
    await using receiver = await createPushReceiver();
    using subscription = receiver.open();
    const body = `{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"data":[[]${",[]".repeat(100_000)}]}]}}`;
    expect((await send(subscription, { body })).status).toBe(400);
  });

  it("keeps no more unread notifications than the bytes of one, and the values in them", async () => {
    await using receiver = await createPushReceiver({ maxBodyBytes: 4_000 });
    using subscription = receiver.open();
    const statuses = (content: object, times: number): Promise<number[]> => {
      const body = JSON.stringify({ message: { messageId: "m", role: "ROLE_AGENT", parts: [content] } });
      return Promise.all(
        Array.from({ length: times }, async () => (await send(subscription, { body })).status),
      );
    };
    expect((await statuses({ text: "x".repeat(1_000) }, 9)).filter((status) => status === 204)).toHaveLength(
      2,
    );
    const deliveries = subscription.deliveries[Symbol.asyncIterator]();
    await deliveries.next();
    await deliveries.next();
    expect((await statuses({ data: Array.from({ length: 30 }, () => 0) }, 9)).sort()).toEqual([
      204,
      ...Array.from({ length: 8 }, () => 503),
    ]);
  });

  it("reads leniently: fields and states that it does not know", async () => {
    await using receiver = await createPushReceiver();
    using subscription = receiver.open();
    const body = JSON.stringify({
      statusUpdate: { taskId: "t1", status: { state: "TASK_STATE_NEW" }, novelty: 1 },
    });
    expect((await send(subscription, { body })).status).toBe(204);
  });

  it("is told how it is reached from outside", async () => {
    await using receiver = await createPushReceiver({ publicUrl: "https://hooks.example.com/a2a/" });
    using subscription = receiver.open();
    expect(receiver.url).toBe("https://hooks.example.com/a2a");
    const { pathname } = new URL(subscription.config.url);
    expect((await send(subscription, { url: `http://localhost:${receiver.port}${pathname}` })).status).toBe(
      204,
    );
    await expect(createPushReceiver({ publicUrl: "hooks.example.com" })).rejects.toThrow("publicUrl");
  });

  it("takes a path of the caller's", async () => {
    await using receiver = await createPushReceiver({ path: "/hooks/" });
    using subscription = receiver.open();
    expect(receiver.url).toBe(`http://localhost:${receiver.port}/hooks`);
    expect((await send(subscription)).status).toBe(204);
  });
});

interface Sent {
  readonly method?: string;
  readonly header?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** In place of the subscription's, or below it. */
  readonly path?: string;
  readonly url?: string;
}

/** Notifies a webhook as an agent would. */
function send(
  { config }: PushSubscription,
  { method = "POST", header, body = notification, path, url }: Sent = {},
) {
  const target = path === "/x" ? `${config.url}/x` : new URL(path ?? config.url, config.url).href;
  return fetch(url ?? target, {
    method,
    headers: {
      "content-type": "application/a2a+json",
      "x-a2a-notification-token": config.token ?? "",
      ...header,
    },
    ...(method === "GET" ? {} : { body }),
  });
}
