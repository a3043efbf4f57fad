import { findA2AError } from "@a2a-connect/core";
import { file_lf_a2a_v1_a2a } from "@a2a-connect/proto";
import { Code } from "@connectrpc/connect";
import { expectCode, expectFields, expectReason, failureOf, newId, sendTask } from "../calls.ts";
import { expect } from "../expect.ts";
import { endedTask } from "../hello.ts";
import { type ScenarioGroup, scenarios } from "../scenario.ts";
import type { A2AClient } from "../target.ts";

const url = "https://example.com/hook";

/** Expects each of the four operations to be refused for that reason. */
async function refuseAll(client: A2AClient, taskId: string, reason: string): Promise<void> {
  await expectReason(client.createTaskPushNotificationConfig({ taskId, url }), reason);
  await expectReason(client.getTaskPushNotificationConfig({ taskId, id: "hook" }), reason);
  await expectReason(client.listTaskPushNotificationConfigs({ taskId }), reason);
  await expectReason(client.deleteTaskPushNotificationConfig({ taskId, id: "hook" }), reason);
}

/** A.5 */
export const pushConfigs: ScenarioGroup = scenarios(
  "A.5 Push notification configs",
  ({ verifies, anyAgent }) => {
    const pushAgent = anyAgent.where({ server: "push", when: ["push"] });
    const withPush = verifies.where({ server: "push" });

    verifies.where({ server: "no-push" })(
      "A-50",
      "refuses all four operations when it has no push",
      async ({ client }) => {
        const { id: taskId } = await sendTask(client, "task plain");
        await refuseAll(client, taskId, "PUSH_NOTIFICATION_NOT_SUPPORTED");
      },
    );

    anyAgent.where({ when: ["no-push"], server: "no-push" })(
      "A-50",
      "refuses all four operations when its card declares no push",
      async ({ client }) => {
        await refuseAll(client, newId(), "PUSH_NOTIFICATION_NOT_SUPPORTED");
      },
    );

    // The tasks of these have ended, so that no server tells the address of them of anything.
    pushAgent(
      "A-51 A-52",
      "returns a webhook as it is stored, also for a task that has ended, with the caller's id or a new one",
      async (stage) => {
        const { client } = stage;
        const { id: taskId } = await endedTask(stage);
        const authentication = { scheme: "Bearer", credentials: "c" };
        const kept = await client.createTaskPushNotificationConfig({
          taskId,
          id: "mine",
          url,
          token: "t",
          authentication,
        });
        expect(kept).toMatchObject({ taskId, id: "mine", url });
        const named = await client.createTaskPushNotificationConfig({ taskId, url });
        expect(named.id).toMatch(/./);
        for (const { id } of [kept, named]) {
          expect(await client.getTaskPushNotificationConfig({ taskId, id })).toMatchObject({
            taskId,
            id,
            url,
          });
        }
      },
    );

    pushAgent(
      "A-51 A-54 A-55 A-56",
      "does not know the webhooks of a task that was never made",
      async ({ client }) => {
        await refuseAll(client, newId(), "TASK_NOT_FOUND");
      },
    );

    pushAgent("A-53", "tells webhooks of the same id apart by their tasks", async (stage) => {
      const tasks = [await endedTask(stage), await endedTask(stage)];
      for (const { id: taskId } of tasks) {
        const config = { taskId, id: "same", url: `${url}/${taskId}` };
        await stage.client.createTaskPushNotificationConfig(config);
      }
      for (const { id: taskId } of tasks) {
        const { configs } = await stage.client.listTaskPushNotificationConfigs({ taskId });
        expect(configs.map((config) => config.url)).toStrictEqual([`${url}/${taskId}`]);
      }
    });

    pushAgent("A-54", "fails to get a webhook that is not there", async (stage) => {
      const { id: taskId } = await endedTask(stage);
      await expectReason(
        stage.client.getTaskPushNotificationConfig({ taskId, id: "nope" }),
        "TASK_NOT_FOUND",
      );
    });

    pushAgent("A-55 A-57", "lists all webhooks of a task", async (stage) => {
      const { id: taskId } = await endedTask(stage);
      for (const id of ["a", "b", "c"]) {
        await stage.client.createTaskPushNotificationConfig({ taskId, id, url });
      }
      expect(await listedIds(stage.client, taskId)).toStrictEqual(["a", "b", "c"]);
    });

    pushAgent("A-56", "deletes a webhook for good, twice if need be", async (stage) => {
      const { client } = stage;
      const { id: taskId } = await endedTask(stage);
      for (const id of ["deleted", "kept"]) {
        await client.createTaskPushNotificationConfig({ taskId, id, url });
      }
      for (let round = 0; round < 2; round++) {
        const [outcome] = await Promise.allSettled([
          client.deleteTaskPushNotificationConfig({ taskId, id: "deleted" }),
        ]);
        // How the answer is written is for other scenarios: I-3, K-5.
        if (outcome.status === "rejected") expect(findA2AError(outcome.reason)).toBeUndefined();
        expect(await listedIds(client, taskId)).toStrictEqual(["kept"]);
      }
      await failureOf(client.getTaskPushNotificationConfig({ taskId, id: "deleted" }));
    });

    withPush(
      "A-51 N-9",
      "returns a webhook as it is stored, its secrets too, with the caller's id or a new one",
      async ({ client }) => {
        const { id: taskId } = await sendTask(client, "ask Why?");
        const given = {
          taskId,
          id: "mine",
          url,
          token: "t",
          authentication: { scheme: "Bearer", credentials: "c" },
        };
        const kept = await client.createTaskPushNotificationConfig(given);
        expect(kept).toMatchObject(given);
        const named = await client.createTaskPushNotificationConfig({ taskId, url });
        expect(named.id).toMatch(/./);
        for (const config of [kept, named]) {
          expect(await client.getTaskPushNotificationConfig({ taskId, id: config.id })).toStrictEqual(config);
        }
      },
    );

    withPush("A-51 N-6", "refuses a webhook whose URL is not valid, or not allowed", async ({ client }) => {
      const { id: taskId } = await sendTask(client, "task done");
      for (const bad of [
        "not a url",
        "ftp://example.com/",
        "https://169.254.169.254/",
        "http://localhost/",
      ]) {
        await expectFields(client.createTaskPushNotificationConfig({ taskId, url: bad }), "url");
      }
    });

    withPush("A-52", "keeps webhooks of a task that ends, and takes new ones", async ({ client }) => {
      const { id: taskId } = await sendTask(client, "ask Why?");
      await client.createTaskPushNotificationConfig({ taskId, id: "before", url });
      await sendTask(client, "because", { taskId });
      await client.createTaskPushNotificationConfig({ taskId, id: "after", url });
      const { configs } = await client.listTaskPushNotificationConfigs({ taskId });
      expect(configs.map(({ id }) => id).toSorted()).toStrictEqual(["after", "before"]);
    });

    withPush("A-53", "takes the same id for two tasks, and replaces it within one", async ({ client }) => {
      const tasks = [await sendTask(client, "task one"), await sendTask(client, "task two")];
      for (const { id: taskId } of tasks) {
        await client.createTaskPushNotificationConfig({ taskId, id: "same", url: `${url}/${taskId}` });
        await client.createTaskPushNotificationConfig({ taskId, id: "same", url: `${url}/${taskId}/new` });
      }
      for (const { id: taskId } of tasks) {
        const { configs } = await client.listTaskPushNotificationConfigs({ taskId });
        expect(configs.map((config) => config.url)).toStrictEqual([`${url}/${taskId}/new`]);
      }
    });

    withPush("A-54 A-55 A-56", "does not know the webhooks of another tenant's task", async ({ client }) => {
      const tenant = `t-${newId()}`;
      const { id: taskId } = await sendTask(client, "task done", { tenant });
      await client.createTaskPushNotificationConfig({ tenant, taskId, id: "hook", url });
      for (const call of [
        () => client.createTaskPushNotificationConfig({ taskId, url }),
        () => client.getTaskPushNotificationConfig({ taskId, id: "hook" }),
        () => client.listTaskPushNotificationConfigs({ tenant: "another", taskId }),
        () => client.deleteTaskPushNotificationConfig({ taskId, id: "hook" }),
      ]) {
        await expectReason(call(), "TASK_NOT_FOUND");
      }
      expect((await client.listTaskPushNotificationConfigs({ tenant, taskId })).configs).toHaveLength(1);
    });

    withPush("A-55 A-57", "lists all webhooks of a task, and pages where asked to", async ({ client }) => {
      const { id: taskId } = await sendTask(client, "task done");
      expect((await client.listTaskPushNotificationConfigs({ taskId })).configs).toStrictEqual([]);
      for (const id of ["a", "b", "c"]) {
        await client.createTaskPushNotificationConfig({ taskId, id, url });
      }
      const all = await client.listTaskPushNotificationConfigs({ taskId });
      expect(all.configs.map(({ id }) => id)).toStrictEqual(["a", "b", "c"]);
      expect(all.nextPageToken).toBe("");
      const first = await client.listTaskPushNotificationConfigs({ taskId, pageSize: 2 });
      expect(first.configs.map(({ id }) => id)).toStrictEqual(["a", "b"]);
      const second = await client.listTaskPushNotificationConfigs({
        taskId,
        pageSize: 2,
        pageToken: first.nextPageToken,
      });
      expect(second.configs.map(({ id }) => id)).toStrictEqual(["c"]);
      expect(second.nextPageToken).toBe("");
      for (const bad of [{ pageToken: "garbage" }, { pageSize: -1 }]) {
        await expectCode(client.listTaskPushNotificationConfigs({ taskId, ...bad }), Code.InvalidArgument);
      }
    });

    withPush(
      "A-56",
      "deletes a webhook for good, and does not mind deleting it again",
      async ({ client }) => {
        const { id: taskId } = await sendTask(client, "task done");
        await client.createTaskPushNotificationConfig({ taskId, id: "hook", url });
        for (let round = 0; round < 2; round++) {
          await client.deleteTaskPushNotificationConfig({ taskId, id: "hook" });
          await expectReason(client.getTaskPushNotificationConfig({ taskId, id: "hook" }), "TASK_NOT_FOUND");
        }
        expect((await client.listTaskPushNotificationConfigs({ taskId })).configs).toStrictEqual([]);
      },
    );

    verifies("A-58", "has one message for a webhook", async () => {
      const names = file_lf_a2a_v1_a2a.messages.map(({ name }) => name);
      expect(names).toContain("TaskPushNotificationConfig");
      expect(names).not.toContain("PushNotificationConfig");
      expect(names).not.toContain("CreateTaskPushNotificationConfigRequest");
    });
  },
);

async function listedIds(client: A2AClient, taskId: string): Promise<string[]> {
  return (await client.listTaskPushNotificationConfigs({ taskId })).configs.map(({ id }) => id).toSorted();
}
