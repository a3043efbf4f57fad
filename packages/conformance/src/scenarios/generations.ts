import { findA2AError } from "@a2a-connect/core";
import { type StreamResponse, type Task, TaskState } from "@a2a-connect/proto";
import { Code } from "@connectrpc/connect";
import {
  expectFields,
  expectReason,
  firstTask,
  newId,
  openReader,
  readAll,
  sendTask,
  showCode,
  startWorking,
  taskOf,
  toRequest,
} from "../calls.ts";
import { expect } from "../expect.ts";
import { callRaw, capture } from "../raw-calls.ts";
import { jsonWires, type ScenarioGroup, type Stage, scenarios } from "../scenario.ts";
import { type A2AClient, meanwhile } from "../target.ts";

const { COMPLETED, INPUT_REQUIRED } = TaskState;

/** A caller of A2A 1.1. */
function draftClient({ target, wire }: Pick<Stage, "target" | "wire">): A2AClient {
  return target.client(wire, { version: "1.1" });
}

/** What each event of a stream says of its generation. */
function generationsOf(events: readonly StreamResponse[]): (bigint | undefined)[] {
  return events.map(({ payload }) =>
    payload.value === undefined || payload.case === "message" ? undefined : payload.value.generation,
  );
}

function counting(from: number, count: number): bigint[] {
  return Array.from({ length: count }, (_, index) => BigInt(from + index));
}

/** Every place where a caller can see the generation of a task. */
async function seenEverywhere(stage: Stage, client: A2AClient) {
  const events = await readAll(client.sendStreamingMessage(toRequest("stream 3")));
  const { id, contextId } = firstTask(events);
  const headers = { "last-event-id": "0" };
  const resumed = await readAll(client.subscribeToTask({ id }, { headers }));
  const waiting = await sendTask(client, "ask Why?", { contextId });
  const reader = openReader(client.subscribeToTask({ id: waiting.id }));
  const snapshot = taskOf(await reader.next());
  const followUp = await readAll(client.sendStreamingMessage(toRequest("so", { taskId: waiting.id })));
  const working = await startWorking(stage);
  return {
    events,
    resumed,
    followUp,
    subscribed: await reader.rest(),
    tasks: {
      sent: waiting,
      snapshot,
      got: await client.getTask({ id }),
      listed: (await client.listTasks({ contextId })).tasks.find((task) => task.id === id),
      withArtifacts: (await client.listTasks({ contextId, includeArtifacts: true })).tasks.find(
        (task) => task.id === id,
      ),
      canceled: await client.cancelTask({ id: working.id }),
    },
  };
}

/** A task that asks, and its generation. */
async function askingTask(client: A2AClient): Promise<Task> {
  const task = await sendTask(client, "ask Why?");
  expect(task.status?.state).toBe(INPUT_REQUIRED);
  return client.getTask({ id: task.id });
}

/** R */
export const generations: ScenarioGroup = scenarios("R A2A 1.1", ({ verifies }) => {
  const overJson = verifies.where({ places: jsonWires });

  verifies("R-1", "counts every event of a task from 1, wherever the task is seen", async (stage) => {
    const { events, resumed, followUp, subscribed, tasks } = await seenEverywhere(stage, draftClient(stage));
    expect(events.length).toBeGreaterThan(4);
    expect(generationsOf(events)).toStrictEqual(counting(1, events.length));
    expect(resumed).toStrictEqual(events);
    // A follow-up begins with the task at WORKING, which is the event after the question.
    const asked = Number(tasks.sent.generation);
    expect(asked).toBeGreaterThan(1);
    expect(generationsOf(followUp)).toStrictEqual(counting(asked + 1, followUp.length));
    expect(generationsOf(subscribed)).toStrictEqual(counting(asked + 1, subscribed.length));
    const newest = BigInt(events.length);
    expect(tasks.snapshot.generation).toBe(tasks.sent.generation);
    expect([tasks.got, tasks.listed, tasks.withArtifacts].map((task) => task?.generation)).toStrictEqual([
      newest,
      newest,
      newest,
    ]);
    expect(tasks.canceled.generation).toBe(4n); // created, working, an artifact, canceled
  });

  verifies("R-1", "tells the generation of a task that is sent and not waited for", async (stage) => {
    const client = draftClient(stage);
    const task = await sendTask(client, "task done", { configuration: { returnImmediately: true } });
    expect(task.generation).toBeGreaterThan(0n);
    const settled = await sendTask(client, "task done");
    expect(settled.generation).toBe((await client.getTask({ id: settled.id })).generation);
  });

  verifies("R-7", "shows no generation to callers of 1.0", async (stage) => {
    const { events, resumed, followUp, subscribed, tasks } = await seenEverywhere(stage, stage.client);
    for (const stream of [events, resumed, followUp, subscribed]) {
      expect(stream.length).toBeGreaterThan(0);
      expect(generationsOf(stream)).toStrictEqual(stream.map(() => 0n));
    }
    expect(Object.values(tasks).map((task) => task?.generation)).toStrictEqual(Array(6).fill(0n));
  });

  overJson(
    "R-7 R-5",
    "writes a generation as a string, and no such member for callers of 1.0",
    async (stage) => {
      for (const [version, wanted] of [
        ["1.0", undefined],
        ["1.1", "1"],
      ] as const) {
        const sent = await capture(
          stage,
          (client) => readAll(client.sendStreamingMessage(toRequest("task done"))),
          { version },
        );
        const found = /"generation":("?\d+"?)/.exec(sent.text)?.[1];
        expect(found).toBe(wanted === undefined ? undefined : `"${wanted}"`);
        const task = await capture(stage, (client) => client.sendMessage(toRequest("task done")), {
          version,
        });
        expect(typeof task.result.task["generation"]).toBe(wanted === undefined ? "undefined" : "string");
      }
    },
  );

  verifies("R-3", "answers at once without a generation, or with one that is past", async (stage) => {
    const { client } = stage;
    const task = await startWorking(stage);
    const draft = draftClient(stage);
    for (const currentGeneration of [undefined, 0n, 1n]) {
      const request = currentGeneration === undefined ? {} : { currentGeneration };
      expect((await draft.getTask({ id: task.id, ...request })).generation).toBe(2n);
    }
    await client.cancelTask({ id: task.id });
  });

  for (const ahead of [0n, 1n, 1_000n]) {
    verifies("R-3", `holds an answer until there are more than ${ahead} newer generations`, async (stage) => {
      const client = draftClient(stage);
      const { id, generation } = await askingTask(client);
      let held = true;
      const polled = meanwhile(
        client.getTask({ id, currentGeneration: generation + ahead }).finally(() => {
          held = false;
        }),
      );
      // Others are answered meanwhile; one that were not held would be, too.
      for (let call = 0; call < 5; call++) {
        await client.getTask({ id });
      }
      expect(held).toBe(true);
      await sendTask(client, "so", { taskId: id });
      // At the latest when the task has ended: WORKING, an artifact, COMPLETED.
      expect((await polled).generation).toBeGreaterThan(generation + (ahead > 1n ? 2n : ahead));
    });
  }

  verifies(
    "R-3",
    "answers at once when the task has ended, whichever generation the caller knows",
    async (stage) => {
      const client = draftClient(stage);
      const { id, generation } = await sendTask(client, "task done");
      for (const currentGeneration of [generation, generation + 1n, 2n ** 62n]) {
        expect((await client.getTask({ id, currentGeneration })).generation).toBe(generation);
      }
    },
  );

  verifies.where({ server: "short-poll" })(
    "R-3",
    "tells the task as it is when nothing happens for long",
    async (stage) => {
      const task = await askingTask(draftClient(stage));
      const polled = await draftClient(stage).getTask({ id: task.id, currentGeneration: task.generation });
      expect(polled).toStrictEqual(task);
    },
  );

  verifies("R-3", "ends with its caller, and leaves the task alone", async (stage) => {
    const client = draftClient(stage);
    const { id, generation: currentGeneration } = await askingTask(client);
    const left = new AbortController();
    const polled = meanwhile(client.getTask({ id, currentGeneration }, { signal: left.signal }));
    const other = meanwhile(client.getTask({ id, currentGeneration }));
    left.abort();
    await expect(polled).rejects.toThrow();
    await sendTask(client, "so", { taskId: id });
    expect((await other).generation).toBeGreaterThan(currentGeneration);
  });

  verifies("R-3", "refuses a negative generation, and does not know missing tasks", async (stage) => {
    const client = draftClient(stage);
    const { id } = await askingTask(client);
    await expectFields(client.getTask({ id, currentGeneration: -1n }), "currentGeneration");
    await expectReason(client.getTask({ id: newId(), currentGeneration: 1n }), "TASK_NOT_FOUND");
  });

  verifies("R-3 R-7", "does not hold callers of 1.0", async (stage) => {
    const { client } = stage;
    const { id } = await askingTask(client);
    for (const currentGeneration of [1_000n, -1n]) {
      expect((await client.getTask({ id, currentGeneration })).status?.state).toBe(INPUT_REQUIRED);
    }
  });

  overJson("R-3 R-5", "reads a generation as a number and as a string", async (stage) => {
    const { id, generation } = await sendTask(draftClient(stage), "task done");
    for (const known of [0, "0", Number(generation), String(generation)]) {
      const { status, result } = await callRaw(
        stage,
        "getTask",
        { id, currentGeneration: known },
        {
          "a2a-version": "1.1",
        },
      );
      expect([status, result["generation"]]).toStrictEqual([200, String(generation)]);
    }
  });

  verifies("R-4", "refuses a message from a caller who knows another generation", async (stage) => {
    const client = draftClient(stage);
    const task = await askingTask(client);
    for (const ifGenerationMatch of [task.generation - 1n, task.generation + 1n, 0n]) {
      const request = toRequest("because", { taskId: task.id, configuration: { ifGenerationMatch } });
      for (const send of [client.sendMessage(request), client.sendStreamingMessage(request)]) {
        const error = await expectReason(send, "TASK_GENERATION_MISMATCH");
        expect(showCode(error.code)).toBe(showCode(Code.Aborted));
        expect(findA2AError(error)?.metadata).toStrictEqual({
          taskId: task.id,
          expectedGeneration: String(ifGenerationMatch),
          currentGeneration: String(task.generation),
        });
      }
    }
    expect(await client.getTask({ id: task.id })).toStrictEqual(task);
  });

  overJson("R-4", "refuses it with the codes of the draft", async (stage) => {
    const { id } = await askingTask(draftClient(stage));
    const answer = await capture(
      stage,
      (client) =>
        client.sendMessage(toRequest("so", { taskId: id, configuration: { ifGenerationMatch: 1n } })),
      { version: "1.1" },
    );
    expect([answer.status, answer.error.code]).toStrictEqual(
      stage.wire === "jsonrpc" ? [200, -32010] : [409, 409],
    );
  });

  verifies("R-4", "takes one of two messages from callers who know the same generation", async (stage) => {
    const client = draftClient(stage);
    const { id, generation } = await askingTask(client);
    const answers = await Promise.allSettled(
      ["one", "other"].map((words) =>
        sendTask(client, words, { taskId: id, configuration: { ifGenerationMatch: generation } }),
      ),
    );
    const refused = answers.flatMap((answer) => (answer.status === "rejected" ? [answer.reason] : []));
    expect(refused.map((error) => findA2AError(error)?.reason)).toStrictEqual(["TASK_GENERATION_MISMATCH"]);
    const { history, status } = await client.getTask({ id });
    expect([status?.state, history.filter(({ taskId }) => taskId === id).length]).toStrictEqual([
      COMPLETED,
      3, // the task's own message, the question, one answer
    ]);
  });

  verifies("R-4 R-7", "asks nothing of new tasks, nor of callers of 1.0", async (stage) => {
    const configuration = { ifGenerationMatch: 77n };
    expect((await sendTask(draftClient(stage), "task done", { configuration })).status?.state).toBe(
      COMPLETED,
    );
    const { id } = await askingTask(stage.client);
    expect((await sendTask(stage.client, "so", { taskId: id, configuration })).status?.state).toBe(COMPLETED);
  });
});
