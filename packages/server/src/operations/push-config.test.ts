import { anonymousPrincipal, findA2AError, findFieldViolations } from "@a2a-connect/core";
import { createEngineHarness, say, taskOf } from "@a2a-connect/testing";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { sendTask } from "../../test-support/tasks.ts";
import type { AgentDefinition } from "../agent/agent-definition.ts";
import type { PushOptions } from "../push/push-options.ts";

const url = "https://example.com/hook";

/** Asks after every message. */
const askingAgent: AgentDefinition = {
  card: { name: "Agent" },
  async *execute(turn) {
    yield turn.inputRequired("and then?");
  },
};

async function harnessWith(
  push: boolean,
  options: Partial<PushOptions> = {},
  agent: AgentDefinition = { card: { name: "Agent" }, execute: () => [] },
) {
  const refuseUrl = (each: string) => (each.includes("169.254") ? "is not allowed" : undefined);
  const harness = await createEngineHarness({
    agent,
    ...(push ? { push: { fetch: async () => new Response(), refuseUrl, ...options } } : {}),
  });
  const { id: taskId } = await sendTask(harness.client);
  return { ...harness, taskId };
}

// What the specification says of it stands in packages/conformance/src/scenarios, over all wires and stores.

describe("push configs", () => {
  it("are refused when they are too large for a list of them", async () => {
    const { client, taskId } = await harnessWith(true, { maxConfigBytes: 200 });
    const create = (length: number) =>
      client.createTaskPushNotificationConfig({ taskId, url, token: "t".repeat(length) });
    const refusal = await create(200).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: Code.InvalidArgument });
    expect(findFieldViolations(refusal)).toMatchObject([
      { description: expect.stringMatching(/limit .* is 200$/) },
    ]);
    expect(await create(50)).toMatchObject({ url });
    expect((await client.listTaskPushNotificationConfigs({ taskId })).configs).toHaveLength(1);
  });

  it("are refused with a host that is longer than a domain name", async () => {
    const { client, taskId } = await harnessWith(true);
    const long = `https://${"\u4e00\u4e01".repeat(131)}/`;
    const refusal = await client
      .createTaskPushNotificationConfig({ taskId, url: long })
      .catch((error: unknown) => error);
    expect(findFieldViolations(refusal)).toMatchObject([
      { field: "url", description: expect.stringContaining("a host of at most 255 characters") },
    ]);
  });

  it("are not there for others, and not on unknown tasks (A-51, A-54, A-55, A-56, O-4)", async () => {
    const { client, clientOf, taskId } = await harnessWith(true);
    await client.createTaskPushNotificationConfig({ taskId, url, id: "a" });
    for (const [caller, task] of [
      [clientOf("eve"), taskId],
      [client, "nope"],
    ] as const) {
      const outcomes = await Promise.allSettled([
        caller.createTaskPushNotificationConfig({ taskId: task, url }),
        caller.getTaskPushNotificationConfig({ taskId: task, id: "a" }),
        caller.listTaskPushNotificationConfigs({ taskId: task }),
        caller.deleteTaskPushNotificationConfig({ taskId: task, id: "a" }),
      ]);
      const reasons = outcomes.map((each) => each.status === "rejected" && findA2AError(each.reason)?.reason);
      expect(reasons).toEqual(outcomes.map(() => "TASK_NOT_FOUND"));
    }
    await expect(client.getTaskPushNotificationConfig({ taskId, id: "none" })).rejects.toMatchObject({
      code: Code.NotFound,
    });
  });

  it("show their secrets to their owner, unless they are redacted (N-9)", async () => {
    const secret = { token: "t", authentication: { scheme: "Bearer", credentials: "c" } };
    const redacted = { token: "", authentication: { scheme: "Bearer", credentials: "" } };
    for (const [redactCredentials, shown] of [
      [false, secret],
      [true, redacted],
    ] as const) {
      const { client, store, taskId } = await harnessWith(true, { redactCredentials });
      const created = await client.createTaskPushNotificationConfig({ taskId, url, id: "a", ...secret });
      const found = await client.getTaskPushNotificationConfig({ taskId, id: "a" });
      const { configs } = await client.listTaskPushNotificationConfigs({ taskId });
      expect([created, found, ...configs]).toMatchObject([shown, shown, shown]);
      const stored = await store.findPushConfig(
        { tenant: "", principal: anonymousPrincipal.id },
        taskId,
        "a",
      );
      expect(stored).toMatchObject(secret);
    }
  });

  it("are bounded for each task, whatever they come by; one that replaces another is always taken", async () => {
    const { client, taskId, store } = await harnessWith(true, { maxConfigsPerTask: 3 }, askingAgent);
    const create = (id: string) => client.createTaskPushNotificationConfig({ taskId, url, id });
    const send = (id: string) =>
      client.sendMessage({
        ...say("more", { taskId }),
        configuration: { taskPushNotificationConfig: { url, id } },
      });
    const ids = Array.from({ length: 20 }, (_, at) => `c${at}`);
    const outcomes = await Promise.allSettled(ids.map((id, at) => (at === 10 ? send(id) : create(id))));
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(3);
    const owner = { tenant: "", principal: anonymousPrincipal.id };
    const stored = await store.listPushConfigs(owner, taskId, undefined, 10);
    expect(stored).toHaveLength(3);
    for (const call of [create("new"), send("new")]) {
      const error = await call.catch((reason: unknown) => reason);
      expect(findA2AError(error)).toMatchObject({ reason: "TASK_TOO_LARGE", metadata: { taskId } });
      expect(error).toMatchObject({ code: Code.ResourceExhausted });
    }
    const [first] = stored ?? [];
    const id = first?.id ?? "";
    await create(id);
    await send(id);
    await client.deleteTaskPushNotificationConfig({ taskId, id });
    await send("new");
    await expect(create("newer")).rejects.toMatchObject({ code: Code.ResourceExhausted });
    expect(await store.listPushConfigs(owner, taskId, undefined, 10)).toHaveLength(3);
  });

  it("at their bound do not keep a repeated request from its answer", async () => {
    const { client, taskId } = await harnessWith(true, { maxConfigsPerTask: 1 }, askingAgent);
    const send = () =>
      client.sendMessage(
        { ...say("more", { taskId }), configuration: { taskPushNotificationConfig: { url } } },
        { headers: { "idempotency-key": "0123456789abcdef" } },
      );
    const first = taskOf(await send());
    expect(taskOf(await send()).id).toBe(first.id);
  });

  for (const [field, bad] of [
    ["token", { token: "a\r\nb" }],
    ["authentication.scheme", { authentication: { scheme: "Bear\0er", credentials: "c" } }],
    ["authentication.credentials", { authentication: { scheme: "Bearer", credentials: "\u20ac" } }],
  ] as const) {
    it(`refuse a ${field} that no header can carry, without repeating it (N-2, N-3, O-10)`, async () => {
      const { client, taskId } = await harnessWith(true);
      const call = client.createTaskPushNotificationConfig({ taskId, url, ...bad });
      const error = await call.catch((reason: unknown) => reason);
      expect(findFieldViolations(error)).toMatchObject([{ field }]);
    });
  }

  for (const bad of [
    "no url",
    "ftp://example.com",
    "/hook",
    "javascript:alert(1)",
    "http://169.254.169.254/",
    "https://user:secret@example.com/",
  ]) {
    it(`refuse the address ${bad} and name the field (N-6, A-13)`, async () => {
      const { client, taskId } = await harnessWith(true);
      await expect(client.createTaskPushNotificationConfig({ taskId, url: bad })).rejects.toMatchObject({
        code: Code.InvalidArgument,
        rawMessage: expect.stringContaining("url"),
      });
    });
  }
});
