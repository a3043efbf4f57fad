import { findA2AError } from "@a2a-connect/core";
import {
  type StreamResponse,
  TaskSchema,
  TaskState,
  TaskStateSchema,
  type TaskStatus,
} from "@a2a-connect/proto";
import { toJson } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import {
  artifactTexts,
  expectCode,
  expectFields,
  expectReason,
  failureOf,
  listedIds,
  newId,
  openReader,
  readAll,
  sendTask,
  startWorking,
  statesOf,
  taskOf,
  toRequest,
} from "../calls.ts";
import { expect } from "../expect.ts";
import { endedTask, hello, settledTask } from "../hello.ts";
import { callRaw, capture } from "../raw-calls.ts";
import { jsonWires, NotApplicable, type ScenarioGroup, type Stage, scenarios } from "../scenario.ts";
import { asCaller } from "../server-name.ts";

/** The numbers and names of the wire, written out once by hand. */
const names = [
  "TASK_STATE_UNSPECIFIED",
  "TASK_STATE_SUBMITTED",
  "TASK_STATE_WORKING",
  "TASK_STATE_COMPLETED",
  "TASK_STATE_FAILED",
  "TASK_STATE_CANCELED",
  "TASK_STATE_INPUT_REQUIRED",
  "TASK_STATE_REJECTED",
  "TASK_STATE_AUTH_REQUIRED",
];

/** A task in every state that there can be. */
const reach: Readonly<Record<string, (stage: Stage) => Promise<string>>> = {
  TASK_STATE_SUBMITTED: async ({ client }) =>
    (await sendTask(client, "silent", { configuration: { returnImmediately: true } })).id,
  TASK_STATE_WORKING: async (stage) => (await startWorking(stage)).id,
  TASK_STATE_COMPLETED: ({ client }) => idOf(client, "task done"),
  TASK_STATE_FAILED: ({ client }) => idOf(client, "fail broken"),
  TASK_STATE_CANCELED: async ({ client }) =>
    (await client.cancelTask({ id: await idOf(client, "ask Why?") })).id,
  TASK_STATE_INPUT_REQUIRED: ({ client }) => idOf(client, "ask Why?"),
  TASK_STATE_REJECTED: ({ client }) => idOf(client, "reject no"),
  TASK_STATE_AUTH_REQUIRED: ({ client }) => idOf(client, "auth"),
};

async function idOf(client: Stage["client"], words: string): Promise<string> {
  return (await sendTask(client, words)).id;
}

const statusesOf = (events: readonly StreamResponse[]): (TaskStatus | undefined)[] =>
  events.flatMap(({ payload }) =>
    payload.case === "task" || payload.case === "statusUpdate" ? [payload.value.status] : [],
  );

function expectStates(events: readonly StreamResponse[]): void {
  expect(statesOf(events)).toHaveLength(statusesOf(events).length);
  expect(statesOf(events)).not.toContain(TaskState.UNSPECIFIED);
}

function expectTimes(events: readonly StreamResponse[]): void {
  const statuses = statusesOf(events);
  const times = statuses.map((status) => (status?.timestamp ? timestampMs(status.timestamp) : Number.NaN));
  expect(times.filter(Number.isNaN), "statuses without a time").toHaveLength(0);
  expect(times).toStrictEqual(times.toSorted((one, other) => one - other));
}

/** B */
export const taskStates: ScenarioGroup = scenarios("B States", ({ verifies, anyAgent }) => {
  verifies("B-1", "has nine states, as they are numbered", async () => {
    expect(TaskStateSchema.values.map(({ number, name }) => [number, name])).toStrictEqual([
      ...names.entries(),
    ]);
  });

  for (const [number, name] of names.entries()) {
    const start = reach[name];
    if (start !== undefined) {
      verifies("B-1 B-4", `reaches ${name} and finds it by its number`, async (stage) => {
        const id = await start(stage);
        const task = await stage.client.getTask({ id });
        expect(task.status?.state).toBe(number);
        const { tasks } = await stage.client.listTasks({
          contextId: task.contextId,
          status: number as TaskState,
        }); // the numbers of the enum;
        expect(tasks.map((found) => found.id)).toStrictEqual([id]);
        await stage.client.cancelTask({ id }).catch(() => undefined); // what runs is not left running
      });

      verifies.where({ places: jsonWires })(
        "B-1 B-4 H-3",
        `writes ${name} by its name, and reads it by name and number`,
        async (stage) => {
          const id = await start(stage);
          const { result } = await capture(stage, (client) => client.getTask({ id }));
          expect(result.status.state).toBe(name);
          for (const status of [name, number]) {
            const list = await callRaw(stage, "listTasks", { contextId: result.contextId, status });
            expect(list.result.tasks.map((found: { id: string }) => found.id)).toStrictEqual([id]);
          }
          await stage.client.cancelTask({ id }).catch(() => undefined); // what runs is not left running
        },
      );
    }
  }

  anyAgent.where({ places: jsonWires })(
    "B-1 B-4 H-3",
    "writes the state of a hello by its name, and finds it by that",
    async (stage) => {
      const { id, contextId } = await endedTask(stage);
      const { result } = await callRaw(stage, "getTask", { id });
      expect(names.indexOf(result.status.state), `${result.status.state} is no state`).toBeGreaterThan(0);
      const { result: list, text } = await callRaw(stage, "listTasks", {
        contextId,
        status: result.status.state,
      });
      expect(
        list?.tasks?.map((found) => found.id),
        text,
      ).toStrictEqual([id]);
    },
  );

  // A query has names only (spec §11.5).
  anyAgent.where({ places: ["jsonrpc"] })("H-3", "reads the number of a state", async (stage) => {
    const { id, contextId, status } = await endedTask(stage);
    const { result, text } = await callRaw(stage, "listTasks", { contextId, status: status?.state });
    expect(
      result?.tasks?.map((found) => found.id),
      text,
    ).toStrictEqual([id]);
  });

  anyAgent("B-1 B-4", "finds the task of a hello by the number of its state", async (stage) => {
    const { id, contextId, status } = await endedTask(stage);
    expect(
      await listedIds(stage.client, {
        contextId,
        status: status?.state ?? TaskState.UNSPECIFIED,
      }),
    ).toStrictEqual([id]);
  });

  verifies("B-2", "takes a refinement as another task of the same context", async ({ client }) => {
    const first = await sendTask(client, "task draft");
    const { contextId } = first;
    const second = await sendTask(client, "task final", { contextId, referenceTaskIds: [first.id] });
    expect(second.contextId).toBe(contextId);
    expect(second.id).not.toBe(first.id);
    expect(await client.getTask({ id: first.id })).toStrictEqual(first);
  });

  verifies("B-3 B-5", "goes on from a question, and from WORKING to a question again", async ({ client }) => {
    const { id, contextId, status } = await sendTask(client, "question Which one?");
    expect(status?.state).toBe(TaskState.INPUT_REQUIRED);
    expect(status?.message?.parts[0]?.content.value).toBe("Which one?");
    const again = await sendTask(client, "sign-in Sign in.", { taskId: id });
    expect([again.id, again.contextId, again.status?.state]).toStrictEqual([
      id,
      contextId,
      TaskState.AUTH_REQUIRED,
    ]);
    expect(again.status?.message?.parts[0]?.content.value).toBe("Sign in.");
    await client.cancelTask({ id });
  });

  verifies(
    "B-4 B-9",
    "has a state and a time in every status, and times never go back",
    async ({ client }) => {
      for (const words of ["task result", "stream 3", "fail broken", "reject no", "ask Why?", "throw"]) {
        const events = await readAll(client.sendStreamingMessage(toRequest(words)));
        expectStates(events);
        expectTimes(events);
      }
    },
  );

  for (const [id, title, expectAll] of [
    ["B-4", "has a state in every status of a hello", expectStates],
    ["B-9", "has a time in every status of a hello, and times never go back", expectTimes],
  ] as const) {
    anyAgent.where({ when: ["streaming"] })(id, title, async (stage) => {
      const events = await readAll(stage.client.sendStreamingMessage(hello(stage)));
      if (events[0]?.payload.case === "message")
        throw new NotApplicable("the agent streams a message, not a task");
      expectAll(events);
    });
  }

  anyAgent("B-6", "refuses a message whose context is not that of its task", async (stage) => {
    const { id } = await settledTask(stage);
    await failureOf(stage.client.sendMessage(hello(stage, { taskId: id, contextId: newId() })));
  });

  verifies("B-6", "refuses a task with the context of another", async ({ client }) => {
    const { id } = await sendTask(client, "ask Why?");
    const request = toRequest("because", { taskId: id, contextId: newId() });
    for (const call of [client.sendMessage(request), client.sendStreamingMessage(request)]) {
      await expectFields(call, "message.contextId");
    }
    expect((await client.getTask({ id })).status?.state).toBe(TaskState.INPUT_REQUIRED);
  });

  verifies("B-7", "checks the context before it says that a task has ended", async ({ client }) => {
    const { id } = await sendTask(client, "task done");
    const error = await expectCode(
      client.sendMessage(toRequest("more", { taskId: id, contextId: newId() })),
      Code.InvalidArgument,
    );
    expect(findA2AError(error)?.reason).toBe("INVALID_PARAMS");
  });

  verifies.where({ server: "identity" })(
    "B-7 E-6",
    "says nothing about another caller's task, even where the message has other faults",
    async ({ target, wire }) => {
      const owner = target.client(wire, { headers: asCaller(newId()) });
      const stranger = target.client(wire, { headers: asCaller(newId()) });
      const { id } = await sendTask(owner, "task done");
      const asking = await sendTask(owner, "ask Why?");
      for (const request of [
        toRequest("more", { taskId: id }),
        toRequest("more", { taskId: id, contextId: newId() }),
        toRequest("more", { taskId: asking.id }),
        toRequest("more", { taskId: newId(), contextId: newId() }),
      ]) {
        for (const call of [stranger.sendMessage(request), stranger.sendStreamingMessage(request)]) {
          const { rawMessage } = await expectReason(call, "TASK_NOT_FOUND");
          expect(rawMessage).toBe("there is no such task");
        }
      }
      await expectReason(stranger.cancelTask({ id: asking.id }), "TASK_NOT_FOUND");
      await expectReason(stranger.subscribeToTask({ id: asking.id }), "TASK_NOT_FOUND");
      expect((await owner.getTask({ id: asking.id })).status?.state).toBe(TaskState.INPUT_REQUIRED);
    },
  );

  verifies(
    "B-8",
    "fails the task of an agent that throws, and keeps its words to itself",
    async ({ client }) => {
      const failed = await sendTask(client, "throw");
      expect(failed.status?.state).toBe(TaskState.FAILED);
      expect(failed.status?.message?.parts[0]?.content.value).toMatch(/./);
      expect(JSON.stringify(toJson(TaskSchema, failed))).not.toContain("on purpose");
    },
  );

  verifies("B-8", "fails the call when an agent throws before there is a task", async ({ client }) => {
    const error = await expectCode(client.sendMessage(toRequest("throw-now")), Code.Internal);
    expect(findA2AError(error)).toBeUndefined();
    expect(error.message).not.toContain("on purpose");
  });

  verifies("B-8", "names wrong output of an agent: a failed call, or a failed task", async ({ client }) => {
    await expectReason(client.sendMessage(toRequest("wrong")), "INVALID_AGENT_RESPONSE");
    const failed = await sendTask(client, "work-wrong");
    expect(failed.status?.state).toBe(TaskState.FAILED);
    expect(artifactTexts(failed)).toStrictEqual(["half"]);
  });

  verifies("B-3", "goes from AUTH_REQUIRED to WORKING when the caller comes back", async ({ client }) => {
    const { id } = await sendTask(client, "auth");
    const reader = openReader(client.subscribeToTask({ id }));
    expect(taskOf(await reader.next()).status?.state).toBe(TaskState.AUTH_REQUIRED);
    await sendTask(client, "done", { taskId: id });
    expect(statesOf(await reader.rest())).toStrictEqual([TaskState.WORKING, TaskState.COMPLETED]);
  });
});
