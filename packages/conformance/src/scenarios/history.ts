import type { Task } from "@a2a-connect/proto";
import { Code } from "@connectrpc/connect";
import { expectCode, firstTask, newId, readAll, sendTask, toRequest } from "../calls.ts";
import { expect } from "../expect.ts";
import { helloTask, settledTask } from "../hello.ts";
import { callRaw, callRest, capture } from "../raw-calls.ts";
import { jsonWires, type ScenarioGroup, scenarios } from "../scenario.ts";
import type { A2AClient } from "../target.ts";

/** The words of three turns, as they stand in the history. */
const words = ["ask Why?", "Why?", "because"];

/** C */
export const history: ScenarioGroup = scenarios("C History", ({ verifies, anyAgent }) => {
  for (const [historyLength, want] of [
    [undefined, words],
    [0, []],
    [1, words.slice(-1)],
    [2, words.slice(-2)],
    [3, words],
    [2_147_483_647, words],
  ] as const) {
    const limit = historyLength === undefined ? {} : { historyLength };
    verifies(
      "C-1 C-2 C-4",
      `has the newest ${historyLength ?? "messages"} of GetTask`,
      async ({ client }) => {
        const { id } = await answeredTask(client);
        expect(textsOf(await client.getTask({ id, ...limit }))).toStrictEqual(want);
      },
    );

    verifies(
      "C-1 C-2 C-4",
      `has the newest ${historyLength ?? "messages"} of SendMessage`,
      async ({ client }) => {
        expect(textsOf(await answeredTask(client, limit))).toStrictEqual(want);
      },
    );
  }

  anyAgent(
    "C-1 C-2 C-4",
    "has no more of the history of a hello than GetTask is asked for, the newest of it in order",
    async (stage) => {
      const { id } = await settledTask(stage);
      const read = async (historyLength: number) =>
        (await stage.client.getTask({ id, historyLength })).history.map(({ messageId }) => messageId);
      expect(await read(0)).toStrictEqual([]);
      const all = await read(2_147_483_647);
      expect(await read(1)).toStrictEqual(all.slice(-1));
      expect(await read(2)).toStrictEqual(all.slice(-2));
    },
  );

  anyAgent(
    "C-1 C-4",
    "has no more of the history of a hello than SendMessage is asked for",
    async (stage) => {
      for (const historyLength of [0, 1]) {
        const task = await helloTask(stage, { configuration: { historyLength } });
        expect(task.history.length).toBeLessThanOrEqual(historyLength);
      }
    },
  );

  anyAgent.where({ places: jsonWires })(
    "C-1 C-4",
    "has no messages in the member `history` of a hello when none are asked for",
    async (stage) => {
      const { id } = await settledTask(stage);
      const { result, text: body } = await callRaw(stage, "getTask", { id, historyLength: 0 });
      expect([result?.id, result?.history ?? []], body).toStrictEqual([id, []]);
      if (result.history !== undefined) stage.note("`history: []` should rather be left out (C-1).");
    },
  );

  anyAgent("C-3", "keeps what was said in a hello", async (stage) => {
    const messageId = newId();
    const { id } = await settledTask(stage, { messageId });
    const { history: kept } = await stage.client.getTask({ id, historyLength: 10 });
    expect(kept.map((message) => message.messageId)).toContain(messageId);
  });

  verifies("C-1 C-5", "shortens the snapshot that a stream begins with, too", async ({ client }) => {
    const { id } = await sendTask(client, "ask Why?");
    for (const [request, want] of [
      [toRequest("task result", { configuration: { historyLength: 0 } }), []],
      [toRequest("because", { taskId: id, configuration: { historyLength: 1 } }), ["because"]],
    ] as const) {
      const events = await readAll(client.sendStreamingMessage(request));
      expect(textsOf(firstTask(events))).toStrictEqual(want);
    }
  });

  verifies("C-1", "refuses a negative length", async ({ client }) => {
    const { id, contextId } = await sendTask(client, "task done");
    const configuration = { historyLength: -1 };
    for (const call of [
      () => client.getTask({ id, historyLength: -1 }),
      () => client.sendMessage(toRequest("task no", { contextId, configuration })),
    ]) {
      await expectCode(call(), Code.InvalidArgument);
    }
    expect((await client.listTasks({ contextId })).totalSize).toBe(1); // nothing was begun
  });

  verifies.where({ places: jsonWires })(
    "C-1 C-4",
    "has no member `history` when none is asked for, and all of it when nothing is said",
    async (stage) => {
      const { id } = await answeredTask(stage.client);
      const none = await capture(stage, (client) => client.getTask({ id, historyLength: 0 }));
      expect(none.result).not.toHaveProperty("history");
      const all = await capture(stage, (client) => client.getTask({ id }));
      expect(all.result.history).toHaveLength(3);
    },
  );

  verifies.where({ places: ["http-json"] })(
    "C-4 K-5",
    "tells historyLength=0 in a query from none",
    async ({ target, client }) => {
      const { id } = await answeredTask(client);
      expect((await callRest(target, "GET", `/tasks/${id}?historyLength=0`)).json.history).toBeUndefined();
      expect((await callRest(target, "GET", `/tasks/${id}?historyLength=1`)).json.history).toHaveLength(1);
      expect((await callRest(target, "GET", `/tasks/${id}`)).json.history).toHaveLength(3);
    },
  );

  verifies("C-2 A-11", "keeps two messages of the same id in one task", async ({ client }) => {
    const messageId = `tck-input-required-${newId()}`;
    const { id } = await sendTask(client, "one", { messageId });
    await sendTask(client, "two", { messageId, taskId: id });
    await sendTask(client, "three", { messageId, taskId: id });
    const { history: messages } = await client.getTask({ id });
    expect(messages.filter((message) => message.messageId === messageId).map(firstText)).toStrictEqual([
      "one",
      "two",
      "three",
    ]);
  });

  verifies(
    "C-5",
    "puts a question into the history when it is answered, and not before",
    async ({ client }) => {
      const { id, status, history: before } = await sendTask(client, "ask Why?");
      expect(before.map(firstText)).toStrictEqual(["ask Why?"]);
      const task = await sendTask(client, "because", { taskId: id });
      expect(textsOf(task)).toStrictEqual(words);
      expect(task.history[1]).toStrictEqual(status?.message);
    },
  );
});

async function answeredTask(
  client: A2AClient,
  configuration: { historyLength?: number } = {},
): Promise<Task> {
  const { id } = await sendTask(client, "ask Why?");
  return sendTask(client, "because", { taskId: id, configuration });
}

function textsOf(task: Task): unknown[] {
  return task.history.map(firstText);
}

function firstText({ parts }: Task["history"][number]): unknown {
  return parts[0]?.content.value;
}
