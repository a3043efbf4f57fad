// Several agents on one port: each answers over every wire, and nobody reaches the tasks of one through another.
import { findA2AError } from "@a2a-connect/core";
import type { ServedAgents } from "@a2a-connect/node";
import { type Task, type TaskPushNotificationConfig, TaskState } from "@a2a-connect/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { failureOf } from "../../packages/client/test-support/outcomes.ts";
import {
  type A2AClient,
  type Name,
  names,
  reach,
  say,
  serveBoth,
  tenantWays,
  ways,
} from "./hosted-agents.ts";

let served: ServedAgents<Name>;
beforeAll(async () => {
  served = await serveBoth({ push: { allow: ["localhost"] }, extendedCard: openCard() });
});
afterAll(() => served.close({ graceMs: 0 }));

describe.each(ways)("two agents over $title", (way) => {
  const clientOf = (name: Name) => reach(way, served.url, name);

  it.each(names)("each answer for themselves: %s", async (name) => {
    const { client, tenant } = clientOf(name);
    const task = await send(client, tenant, "go");
    expect(task.artifacts[0]?.parts[0]?.content).toEqual({ case: "text", value: name });
    expect(await client.getTask({ tenant, id: task.id })).toEqual(task);
    const { tasks } = await client.listTasks({ tenant, contextId: task.contextId });
    expect(tasks.map(({ id }) => id)).toEqual([task.id]);
  });

  it("keep tasks apart, whatever is done with an id (P-4)", async () => {
    const { client, tenant } = clientOf("alpha");
    const other = clientOf("beta");
    const { id } = await lonelyTask(client, tenant, other);
    const config = { tenant: other.tenant, taskId: id, url: "http://localhost:1/hook", id: "c" };
    const { client: beta, tenant: ofBeta } = other;
    expect(
      await reasonsOf([
        beta.getTask({ tenant: ofBeta, id }),
        beta.cancelTask({ tenant: ofBeta, id }),
        beta.sendMessage({ tenant: ofBeta, message: say("go", { taskId: id }) }),
        firstOf(beta.sendStreamingMessage({ tenant: ofBeta, message: say("go", { taskId: id }) })),
        firstOf(beta.subscribeToTask({ tenant: ofBeta, id })),
        beta.createTaskPushNotificationConfig(config),
        beta.getTaskPushNotificationConfig({ tenant: ofBeta, taskId: id, id: "c" }),
        beta.listTaskPushNotificationConfigs({ tenant: ofBeta, taskId: id }),
      ]),
    ).toEqual(new Set(["TASK_NOT_FOUND"]));
    expect((await client.getTask({ tenant, id })).status?.state).toBe(TaskState.INPUT_REQUIRED);
  });

  it("stream, are subscribed to and canceled", async () => {
    const { client, tenant } = clientOf("beta");
    const events = client.sendStreamingMessage({ tenant, message: say("wait") })[Symbol.asyncIterator]();
    const { payload } = (await events.next()).value ?? {};
    const id = payload?.case === "task" ? payload.value.id : "";
    const subscription = client.subscribeToTask({ tenant, id })[Symbol.asyncIterator]();
    expect((await subscription.next()).value?.payload).toMatchObject({ case: "task", value: { id } });
    expect((await client.cancelTask({ tenant, id })).status?.state).toBe(TaskState.CANCELED);
    for (const stream of [events, subscription]) {
      expect(await lastState(stream)).toBe(TaskState.CANCELED);
    }
  });

  it("have webhooks and an extended card of their own", async () => {
    for (const name of names) {
      const { client, tenant } = clientOf(name);
      const { id: taskId } = await send(client, tenant, "ask");
      const url = "http://localhost:1/hook";
      const created = await client.createTaskPushNotificationConfig({ tenant, taskId, id: "mine", url });
      expect(created).toMatchObject({ tenant, taskId, id: "mine", url });
      const { configs } = await client.listTaskPushNotificationConfigs({ tenant, taskId });
      expect(configs).toEqual([created]);
      // What an answer holds is all that the next request needs.
      expect(await client.getTaskPushNotificationConfig(idOf(created))).toEqual(created);
      await client.deleteTaskPushNotificationConfig(idOf(created));
      expect((await client.listTaskPushNotificationConfigs({ tenant, taskId })).configs).toEqual([]);
      const extended = await client.getExtendedAgentCard({ tenant });
      expect(extended.name).toBe("Extended");
      expect(extended.supportedInterfaces).toEqual(served.agents[name].card.supportedInterfaces);
    }
  });
});

describe("a task of one agent", () => {
  it("is the same by prefix and by tenant, over every wire", async () => {
    const [first, ...others] = ways.map((way) => reach(way, served.url, "alpha"));
    if (first === undefined) throw new Error("there are ways");
    const task = await send(first.client, first.tenant, "ask");
    for (const { client, tenant } of others) {
      expect(await client.getTask({ tenant, id: task.id })).toEqual(task);
    }
  });

  it("is the same below a prefix with the agent's own name as tenant", async () => {
    const { client } = reach(ways[1] ?? expect.unreachable(), served.url, "alpha");
    const task = await send(client, "alpha", "ask");
    expect(await client.getTask({ id: task.id })).toEqual(task);
  });
});

describe.each(tenantWays)("a request over $title", (way) => {
  it.each(["gamma", "tasks", "constructor", "__proto__", "ALPHA", "alpha/beta", "al\u0070ha "])(
    "for the tenant %j, which is no agent, finds nothing (P-4)",
    async (tenant) => {
      const { client } = reach(way, served.url, "alpha");
      expect(
        await reasonsOf([
          client.getTask({ tenant, id: "id-1" }),
          client.sendMessage({ tenant, message: say("go") }),
          firstOf(client.subscribeToTask({ tenant, id: "id-1" })),
        ]),
      ).toEqual(new Set(["TASK_NOT_FOUND"]));
    },
  );

  it("without a tenant is told what to send", async () => {
    const { client } = reach(way, served.url, "alpha");
    const calls = [client.listTasks({}), firstOf(client.sendStreamingMessage({ message: say("go") }))];
    for (const thrown of await Promise.all(calls.map(failureOf))) {
      const failure = ConnectError.from(thrown);
      expect(failure.code).toBe(Code.InvalidArgument);
      expect(failure.rawMessage).toContain("tenant: must name one of several agents");
      expect(failure.rawMessage).toContain("/.well-known/ai-catalog.json");
    }
  });
});

describe("a default agent", () => {
  it("answers requests without a tenant over every wire, and its tasks are the same by name", async () => {
    await using both = await serveBoth({ default: "beta" });
    for (const way of tenantWays) {
      const { client } = reach(way, both.url, "beta");
      const task = await send(client, "", "ask");
      expect(task.status?.message?.parts[0]?.content.value).toBe("beta asks");
      expect(await client.getTask({ tenant: "beta", id: task.id })).toEqual(task);
      expect((await send(client, "alpha", "go")).artifacts[0]?.parts[0]?.content.value).toBe("alpha");
      expect(await reasonsOf([client.getTask({ tenant: "gamma", id: task.id })])).toEqual(
        new Set(["TASK_NOT_FOUND"]),
      );
    }
  });
});

function openCard() {
  return { open: true, find: () => ({ name: "Extended" }) };
}

function idOf({ tenant, taskId, id }: TaskPushNotificationConfig) {
  return { tenant, taskId, id };
}

async function send(client: A2AClient, tenant: string, text: string): Promise<Task> {
  const { payload } = await client.sendMessage({ tenant, message: say(text) });
  return payload.case === "task" ? payload.value : expect.unreachable("the agent answers with tasks");
}

/** A task whose id the other agent has not given to one of its own yet. */
async function lonelyTask(
  client: A2AClient,
  tenant: string,
  other: { client: A2AClient; tenant: string },
): Promise<Task> {
  for (;;) {
    const task = await send(client, tenant, "ask");
    const failure = await other.client.getTask({ tenant: other.tenant, id: task.id }).catch((error) => error);
    if (failure instanceof ConnectError) return task;
  }
}

/** Why calls that are under way at the same time are refused. */
async function reasonsOf(calls: readonly Promise<unknown>[]): Promise<Set<string | undefined>> {
  const failures = await Promise.all(calls.map(failureOf));
  return new Set(failures.map((failure) => findA2AError(failure)?.reason));
}

async function firstOf(stream: AsyncIterable<unknown>): Promise<unknown> {
  for await (const event of stream) return event;
  return undefined;
}

async function lastState(
  stream: AsyncIterator<{ payload: { case?: string | undefined; value?: unknown } }>,
): Promise<unknown> {
  let last: unknown;
  for (let next = await stream.next(); next.done !== true; next = await stream.next()) {
    last = next.value.payload.value;
  }
  return (last as { status?: { state?: TaskState } }).status?.state;
}
