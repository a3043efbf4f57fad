import { ListTasksResponseSchema, type StreamResponse, TaskSchema, TaskState } from "@a2a-connect/proto";
import { toJson } from "@bufbuild/protobuf";
import { newId, openReader, sendTask, taskOf, toRequest, untilSeen } from "../calls.ts";
import { expect } from "../expect.ts";
import { endedTask } from "../hello.ts";
import { NotApplicable, type ScenarioGroup, scenarios } from "../scenario.ts";

/** What is the same whichever wire it is done over (spec §5.1). */
export const oneTask: ScenarioGroup = scenarios("One task over all wires", ({ verifies, anyAgent }) => {
  verifies(
    "A-30 E-7",
    "reads and lists what was made over gRPC, with equal content",
    async ({ client, target }) => {
      const grpc = target.client("grpc");
      const contextId = newId();
      for (const words of ["parts", "stream 3", "ask Why?", "fail broken"]) {
        await sendTask(grpc, words, { contextId, metadata: { a_b: [null, 1.5, "ü"] } });
      }
      const request = { contextId, includeArtifacts: true };
      const list = await grpc.listTasks(request);
      expect(list.tasks).toHaveLength(4);
      const listed = await client.listTasks(request);
      expect(toJson(ListTasksResponseSchema, listed)).toStrictEqual(toJson(ListTasksResponseSchema, list));
      for (const { id } of list.tasks) {
        const task = toJson(TaskSchema, await client.getTask({ id }));
        expect(task).toStrictEqual(toJson(TaskSchema, await grpc.getTask({ id })));
      }
    },
  );

  anyAgent("A-30 E-7", "reads what a hello has made over another wire, with equal content", async (stage) => {
    const { target, wire } = stage;
    const other = target.wires.find((one) => one !== wire);
    if (other === undefined) throw new NotApplicable("the card has one wire only");
    const { id } = await endedTask({ target, client: target.client(other) });
    const there = await target.client(other).getTask({ id });
    expect(toJson(TaskSchema, await stage.client.getTask({ id }))).toStrictEqual(toJson(TaskSchema, there));
  });

  verifies("A-26 A-34 A-25", "streams what gRPC streams, event by event", async ({ client, target }) => {
    const { id } = await sendTask(client, "question What is first?");
    const readers = [target.client("grpc"), client].map((reader) =>
      openReader(reader.subscribeToTask({ id })),
    );
    const streams = await Promise.all(readers.map(async (reader) => [await reader.next()]));
    await sendTask(client, `piece ${"ü".repeat(2_000)}`, { taskId: id });
    await sendTask(client, "piece end", { taskId: id });
    await sendTask(client, "task done", { taskId: id });
    const rest = await Promise.all(readers.map((reader) => reader.rest()));
    const [left, right] = streams.map((first, index): StreamResponse[] => [...first, ...(rest[index] ?? [])]);
    expect(left).toHaveLength(10); // the task; each message: WORKING, a chunk, the next state
    expect(right).toStrictEqual(left);
  });

  verifies("A-31 A-35", "ends a stream of gRPC when the task is canceled", async ({ client, target }) => {
    const { id } = await sendTask(target.client("grpc"), "ask Why?");
    const reader = openReader(target.client("grpc").subscribeToTask({ id }));
    expect(taskOf(await reader.next()).status?.state).toBe(TaskState.INPUT_REQUIRED);
    const canceled = await client.cancelTask({ id });
    expect((await reader.rest()).map(({ payload }) => payload.value)).toMatchObject([
      { taskId: id, status: { state: TaskState.CANCELED } },
    ]);
    expect(await target.client("grpc").getTask({ id })).toStrictEqual(canceled);
  });

  verifies("A-22 A-31", "ends the stream of a sender whose task is canceled", async ({ client }) => {
    const reader = openReader(client.sendStreamingMessage(toRequest("until-canceled")));
    const { id } = taskOf(await reader.next());
    await untilSeen(client, id, ({ status }) => status?.state === TaskState.WORKING);
    expect((await client.cancelTask({ id })).status?.state).toBe(TaskState.CANCELED);
    expect((await reader.rest()).at(-1)?.payload.value).toMatchObject({
      status: { state: TaskState.CANCELED },
    });
  });
});
