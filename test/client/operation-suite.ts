import { findA2AError, text } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import { describe, expect, it } from "vitest";
import { collect, failureOf } from "../../packages/client/test-support/outcomes.ts";
import { type ContractTarget, connectTo } from "./contract-target.ts";
import { extendedDescription, product } from "./contract-work.ts";

/** The operations, one by one. */
export function operationSuite(target: ContractTarget): void {
  const { features } = target;

  describe("the operations", () => {
    it("send a message and wait, or do not", async () => {
      await using agent = await connectTo(target);
      const waited = await agent.sendMessage("work");
      expect(waited.payload).toMatchObject({
        case: "task",
        value: { status: { state: TaskState.COMPLETED } },
      });
      const begun = await agent.sendMessage("wait", { returnImmediately: true });
      if (begun.payload.case !== "task") expect.unreachable();
      expect([TaskState.SUBMITTED, TaskState.WORKING]).toContain(begun.payload.value.status?.state);
      await agent.cancelTask(begun.payload.value.id);
      const direct = await agent.sendMessage([text("echo a "), text("b")]);
      expect(direct.payload.case).toBe("message");
    });

    it("send a message once, however often, under one key where the agent honours keys", async () => {
      await using agent = await connectTo(target);
      const message = { parts: "work", messageId: crypto.randomUUID(), contextId: crypto.randomUUID() };
      const options = { idempotencyKey: crypto.randomUUID() };
      const sent = await agent.sendMessage(message, options);
      const again = await agent.sendMessage(message, options);
      const { task } = await agent.run(message, options);
      const ids = [sent, again].map(({ payload }) => (payload.case === "task" ? payload.value.id : ""));
      expect(new Set([...ids, task?.id]).size).toBe(features.lifecycle ? 1 : 3);
    });

    it("are there as the generated client, too", async () => {
      await using agent = await connectTo(target);
      const { task } = await agent.run("work");
      expect((await agent.rpc.getTask({ id: task?.id ?? "" })).artifacts).toHaveLength(3);
    });

    it("get a task, with as much of its history as is asked for", async () => {
      await using agent = await connectTo(target);
      const { task } = await agent.run("work");
      const id = task?.id ?? "";
      expect((await agent.getTask(id)).artifacts).toHaveLength(3);
      const asked = features.emptyHistory ? 0 : 1;
      expect((await agent.getTask(id, { historyLength: asked })).history).toHaveLength(asked);
      expect(findA2AError(await failureOf(agent.getTask(crypto.randomUUID())))?.reason).toBe(
        "TASK_NOT_FOUND",
      );
    });

    it("cancel a task, and say when it has ended already", async () => {
      await using agent = await connectTo(target);
      const begun = await agent.sendMessage("wait", { returnImmediately: true });
      const id = begun.payload.case === "task" ? begun.payload.value.id : "";
      expect((await agent.cancelTask(id)).status?.state).toBe(TaskState.CANCELED);
      const { task } = await agent.run("work");
      expect(findA2AError(await failureOf(agent.cancelTask(task?.id ?? "")))?.reason).toBe(
        "TASK_NOT_CANCELABLE",
      );
    });

    it("list tasks over pages, or say that the agent cannot", async () => {
      await using agent = await connectTo(target);
      if (!features.since1) {
        const refused = await failureOf(collect(agent.listTasks()));
        expect(findA2AError(refused)?.reason).toBe("UNSUPPORTED_OPERATION");
        return;
      }
      const contextId = crypto.randomUUID();
      const ids: string[] = [];
      for (let task = 0; task < 5; task++) {
        ids.push((await agent.run({ parts: "work", contextId })).task?.id ?? "");
      }
      const listed = await collect(agent.listTasks({ contextId, pageSize: 2 }));
      expect(listed.map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
      const pages = await collect(agent.listTasks({ contextId, pageSize: 2 }).pages());
      expect(pages.map(({ tasks }) => tasks.length)).toEqual([2, 2, 1]);
      expect(pages[0]?.totalSize).toBe(5);
      const rest = agent.listTasks({ contextId, pageSize: 2, pageToken: pages[0]?.nextPageToken ?? "" });
      expect(await collect(rest)).toHaveLength(3);
      expect(await collect(agent.listTasks({ contextId, status: TaskState.FAILED }))).toEqual([]);
      const since = (ms: number) => collect(agent.listTasks({ contextId, since: new Date(Date.now() + ms) }));
      expect([await since(-3_600_001), await since(3_600_001)].map(({ length }) => length)).toEqual([5, 0]);
      const [withArtifacts] = await collect(agent.listTasks({ contextId, includeArtifacts: true }));
      expect(withArtifacts?.artifacts.map(({ name }) => name)).toEqual(["story", "table", "picture"]);
    });

    it("keep push configs", async () => {
      await using agent = await connectTo(target);
      const begun = await agent.sendMessage("wait", { returnImmediately: true });
      const taskId = begun.payload.case === "task" ? begun.payload.value.id : "";
      const url = "http://127.0.0.1:9/hook";
      const made = await agent.createPushConfig(taskId, { url, id: "one", token: "t" });
      expect(made).toMatchObject({ id: "one", taskId, url });
      await agent.createPushConfig(taskId, { url: `${url}/two` });
      expect(await agent.getPushConfig(taskId, "one")).toMatchObject({ id: "one", url });
      expect((await collect(agent.listPushConfigs(taskId))).map((config) => config.url).toSorted()).toEqual([
        url,
        `${url}/two`,
      ]);
      await agent.deletePushConfig(taskId, "one");
      expect(await collect(agent.listPushConfigs(taskId))).toHaveLength(1);
      expect(await failureOf(agent.getPushConfig(taskId, "one"))).toMatchObject({
        name: "ConnectError",
      });
      await agent.cancelTask(taskId);
    });

    it("fetch the extended card, which is the card from then on", async () => {
      await using agent = await connectTo(target);
      expect(agent.card.description).not.toBe(extendedDescription);
      const extended = await agent.getExtendedCard();
      expect(extended.description).toBe(extendedDescription);
      expect(agent.card).toBe(extended);
      expect((await agent.run("work")).artifact("story").text()).toBe(product.chunks.join(""));
    });

    it("end at once when the client is closed", async () => {
      const agent = await connectTo(target);
      const run = failureOf(agent.run("wait", { onProgress: () => void agent.close() }));
      expect(await run).toBeInstanceOf(Error);
      expect(await failureOf(agent.getTask("any"))).toBeInstanceOf(Error);
    });
  });
}
