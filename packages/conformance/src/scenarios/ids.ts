import { TaskState } from "@a2a-connect/proto";
import { Code } from "@connectrpc/connect";
import {
  failureOf,
  firstTask,
  listedIds,
  messageOf,
  newId,
  readAll,
  sendTask,
  showCode,
  toRequest,
} from "../calls.ts";
import { expect } from "../expect.ts";
import { hello, helloTask } from "../hello.ts";
import { type ScenarioGroup, scenarios } from "../scenario.ts";
import { asCaller } from "../server-name.ts";

/** D */
export const ids: ScenarioGroup = scenarios("D Context and task ids", ({ verifies, anyAgent }) => {
  verifies("D-1", "gives every task an id of its own that fits into a path", async ({ client }) => {
    const tasks = [await sendTask(client, "task one"), await sendTask(client, "task two")];
    const streamed = firstTask(await readAll(client.sendStreamingMessage(toRequest("task three"))));
    const all = [...tasks, streamed].map(({ id }) => id);
    expect(new Set(all).size).toBe(3);
    for (const id of all) {
      expect(id).toMatch(/^[\w-]{16,}$/);
      expect((await client.getTask({ id })).id).toBe(id);
    }
  });

  anyAgent("D-1 D-2", "gives the task of each hello an id of its own, and a context", async (stage) => {
    const tasks = [await helloTask(stage), await helloTask(stage)];
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(2);
    for (const { id, contextId } of tasks) {
      expect([id, contextId]).toStrictEqual([expect.stringMatching(/./), expect.stringMatching(/./)]);
      expect((await stage.client.getTask({ id })).id).toBe(id);
    }
  });

  anyAgent(
    "D-2 D-3",
    "keeps a context of the caller's in the answer to a hello, or refuses it",
    async (stage) => {
      const contextId = newId();
      const call = stage.client.sendMessage(hello(stage, { contextId }));
      const [outcome] = await Promise.allSettled([call]);
      if (outcome.status === "rejected") {
        const { code, message } = await failureOf(call);
        expect([Code.Unknown, Code.Internal, Code.Unavailable].map(showCode), message).not.toContain(
          showCode(code),
        );
        stage.note(`A context of the caller's is refused (D-3): ${message}`);
      } else {
        expect(outcome.value.payload.value).toMatchObject({ contextId });
      }
    },
  );

  anyAgent(
    "D-5",
    "starts another task for a second hello in the same context, and lists both",
    async (stage) => {
      const first = await helloTask(stage);
      const { contextId } = first;
      const second = await helloTask(stage, { contextId });
      expect(second.contextId).toBe(contextId);
      expect(second.id).not.toBe(first.id);
      expect((await listedIds(stage.client, { contextId })).toSorted()).toStrictEqual(
        [first.id, second.id].toSorted(),
      );
    },
  );

  anyAgent("D-6", "takes a reference to a task that it does not know", async (stage) => {
    const { payload } = await stage.client.sendMessage(hello(stage, { referenceTaskIds: [newId()] }));
    expect(payload.case).toMatch(/^(task|message)$/);
  });

  verifies("D-2", "makes a context for a message without one, and says which", async ({ client }) => {
    const task = await sendTask(client, "task one");
    const message = messageOf(await client.sendMessage(toRequest("echo two")));
    expect(task.contextId).toMatch(/./);
    expect(message.contextId).toMatch(/./);
    expect(task.contextId).not.toBe(message.contextId);
    expect(task.history[0]?.contextId).toBe(task.contextId);
  });

  verifies("D-3", "keeps a context of the caller's, in tasks, messages and streams", async ({ client }) => {
    const contextId = `my own / context: ${newId()}`;
    expect((await sendTask(client, "task one", { contextId })).contextId).toBe(contextId);
    expect(messageOf(await client.sendMessage(toRequest("echo two", { contextId }))).contextId).toBe(
      contextId,
    );
    for (const { payload } of await readAll(
      client.sendStreamingMessage(toRequest("task three", { contextId })),
    )) {
      expect(payload.value).toMatchObject({ contextId });
    }
  });

  verifies("D-4 B-5", "knows the context of a task that is named alone", async ({ client }) => {
    const asked = await sendTask(client, "ask Why?");
    const answered = await sendTask(client, "because", { taskId: asked.id });
    expect([answered.id, answered.contextId]).toStrictEqual([asked.id, asked.contextId]);
    expect(answered.history.map(({ contextId }) => contextId)).toStrictEqual(Array(3).fill(asked.contextId));
    expect(answered.status?.state).toBe(TaskState.COMPLETED);
  });

  verifies("D-5", "starts another task for a context without a task", async ({ client }) => {
    const contextId = newId();
    const made = [
      await sendTask(client, "ask Why?", { contextId }),
      await sendTask(client, "task", { contextId }),
    ];
    expect((await listedIds(client, { contextId })).toSorted()).toStrictEqual(
      made.map(({ id }) => id).toSorted(),
    );
    expect(new Set(made.map(({ id }) => id)).size).toBe(2);
  });

  verifies.where({ server: "identity" })(
    "D-6",
    "takes references to unknown and to foreign tasks alike",
    async ({ target, wire }) => {
      const stranger = target.client(wire, { headers: asCaller(newId()) });
      const foreign = await sendTask(stranger, "task theirs");
      const own = target.client(wire, { headers: asCaller(newId()) });
      for (const referenceTaskIds of [[newId()], [foreign.id]]) {
        const task = await sendTask(own, "task mine", { referenceTaskIds });
        expect(task.status?.state).toBe(TaskState.COMPLETED);
        expect(task.history[0]?.referenceTaskIds).toStrictEqual(referenceTaskIds);
      }
    },
  );
});
