import { json, text } from "@a2a-connect/core";
import { MessageSchema, type Part, TaskState } from "@a2a-connect/proto";
import { createEngineHarness, readStream, say, taskOf } from "@a2a-connect/testing";
import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { defineAgent } from "../../agent/agent-definition.ts";
import { weighMessage } from "../weight.ts";
import { ActiveBytes } from "./active-bytes.ts";

const kibibyte = 1_024;
const capacity = expect.objectContaining({ code: Code.ResourceExhausted });

describe("the weight of a message", () => {
  const weigh = (part: Part): number => weighMessage(create(MessageSchema, { parts: [part] }));

  it("is that of its text and bytes, and of the objects that its values are", () => {
    const empty = weigh(text(""));
    expect(weigh(text("x".repeat(1_000)))).toBe(empty + 1_000);
    const zeros = weigh(json(Array.from({ length: 1_000 }, () => 0)));
    expect(zeros).toBeGreaterThan(100 * 1_000);
    const names = weigh(json({ ["x".repeat(5_000)]: null }));
    expect(names - weigh(json({ x: null }))).toBe(4_999);
  });
});

describe("the tasks in memory", () => {
  const createActive = (maxActiveBytes: number, maxShare = 7 / 8) => {
    const active = new ActiveBytes({ maxActiveBytes, maxShare });
    return (share: string, bytes: number, isBounded = true) => {
      const task = active.open(share, isBounded);
      task.add(bytes);
      return task;
    };
  };

  it("are refused beyond the limit, until one has left", () => {
    const take = createActive(100 * kibibyte, 1);
    const first = take("alice", 60 * kibibyte);
    expect(() => take("alice", 41 * kibibyte)).toThrow(capacity);
    take("alice", 40 * kibibyte);
    first.end();
    first.end();
    take("bob", 60 * kibibyte);
    expect(() => take("bob", 17 * kibibyte)).toThrow(capacity);
  });

  it("leave a part of the room to other callers, however many one caller has", () => {
    const take = createActive(800 * kibibyte);
    for (let sent = 0; sent < 7; sent += 1) take("alice", 100 * kibibyte);
    expect(() => take("alice", 17 * kibibyte)).toThrow(capacity);
    take("bob", 80 * kibibyte);
  });

  it("are taken however large when there is no other, and however many when they are small", () => {
    const take = createActive(100 * kibibyte);
    const large = take("alice", 1_000 * kibibyte);
    large.add(1_000 * kibibyte);
    for (let sent = 0; sent < 1_000; sent += 1) take("alice", 16 * kibibyte);
    expect(() => take("bob", 17 * kibibyte)).toThrow(capacity);
  });

  it("count with what they have grown by, and are small no more", () => {
    const take = createActive(100 * kibibyte, 1);
    const growing = take("alice", 16 * kibibyte);
    const other = take("bob", 70 * kibibyte);
    growing.add(14 * kibibyte);
    expect(() => growing.add(kibibyte)).toThrow(capacity);
    expect(() => take("bob", 17 * kibibyte)).toThrow(capacity);
    other.end();
    growing.add(100 * kibibyte);
  });

  it("count without being refused when no caller loads them", () => {
    const take = createActive(100 * kibibyte, 1);
    take("alice", 90 * kibibyte);
    take("alice", 90 * kibibyte, false);
    expect(() => take("bob", 17 * kibibyte)).toThrow(capacity);
  });
});

describe("a message of many values", () => {
  const zeros = json(Array.from({ length: 1_000 }, () => 0)); // 2 KB in a request
  const detached = (words: string) => {
    const { message } = say([text(words), zeros]);
    return { message, configuration: { returnImmediately: true } };
  };

  for (const durable of [false, true]) {
    it(`is refused while others ${durable ? "of durable tasks " : ""}take the room, and no task is created; then it is taken`, async () => {
      const gate = Promise.withResolvers<void>();
      const { client } = await createEngineHarness({
        agent: {
          card: { name: "Slow" },
          ...(durable
            ? {
                durable,
                async *execute(task) {
                  yield task.working();
                  await gate.promise;
                },
              }
            : {
                async *execute(turn) {
                  yield turn.working();
                  await gate.promise;
                },
              }),
        },
        limits: { maxActiveBytes: 600 * kibibyte, maxShare: 1 },
      });
      const ids: string[] = [];
      const refused = async (): Promise<void> => {
        for (;;) ids.push(taskOf(await client.sendMessage(detached("hold"))).id);
      };
      await expect(refused()).rejects.toMatchObject({ code: Code.ResourceExhausted });
      expect(ids.length).toBeGreaterThan(1);
      expect(ids.length).toBeLessThan(6);
      expect((await client.listTasks({})).totalSize).toBe(ids.length);
      await client.sendMessage({ ...detached("small"), message: say("small").message });
      gate.resolve();
      for (const id of ids) {
        await expect.poll(async () => (await client.getTask({ id })).status?.state).toBe(TaskState.COMPLETED);
      }
      await client.sendMessage(detached("again"));
    });
  }
});

describe("a task of many values in the store", () => {
  const zeros = json(Array.from({ length: 1_000 }, () => 0)); // 11 KB in the store, 128 KB in memory
  const asker = defineAgent({
    card: { name: "Asker" },
    async *execute(turn) {
      yield turn.inputRequired("More?");
    },
  });
  const limits = { maxActiveBytes: 400 * kibibyte, maxShare: 1 };

  async function createIdle() {
    const { client } = await createEngineHarness({ agent: asker, limits });
    const ids: string[] = [];
    for (let sent = 0; sent < 5; sent += 1) {
      ids.push(taskOf(await client.sendMessage({ message: say([text("begin"), zeros]).message })).id);
    }
    return { client, ids };
  }

  it("is not loaded for a reader while others take the room", async () => {
    const { client, ids } = await createIdle();
    const readers = ids.map((id) => readStream((signal) => client.subscribeToTask({ id }, { signal })));
    const refused = () => readers.filter(({ open }) => !open);
    await expect
      .poll(() => refused().length + readers.flatMap(({ events }) => events).length)
      .toBe(ids.length);
    expect(refused().length).toBeGreaterThan(1);
    expect(refused().length).toBeLessThan(ids.length);
    for (const { ended } of refused()) {
      await expect(ended).rejects.toMatchObject({ code: Code.ResourceExhausted });
    }
    for (const reader of readers) reader.hangUp();
    await Promise.allSettled(readers.map(({ ended }) => ended));
    for (const id of ids) expect((await client.cancelTask({ id })).id).toBe(id);
  });

  it("takes no further message while others take the room, and loses nothing", async () => {
    const { client, ids } = await createIdle();
    const [id = "", other = ""] = ids;
    const reader = readStream((signal) => client.subscribeToTask({ id: other }, { signal }));
    await expect.poll(() => reader.events.length).toBe(1);
    const answer = { ...say([text("more"), zeros, zeros]).message, taskId: id };
    await expect(client.sendMessage({ message: answer })).rejects.toMatchObject({
      code: Code.ResourceExhausted,
    });
    reader.hangUp();
    await Promise.allSettled([reader.ended]);
    expect(taskOf(await client.sendMessage({ message: answer })).history.length).toBe(3);
  });

  it("takes messages until their values weigh too much, read from the store or not", async () => {
    const { client } = await createEngineHarness({ agent: asker, limits: { maxTaskBytes: 200 * kibibyte } });
    const { id } = taskOf(await client.sendMessage({ message: say([text("begin"), zeros]).message }));
    const answer = () =>
      client.sendMessage({ message: { ...say([text("more"), zeros]).message, taskId: id } });
    await answer();
    const reader = readStream((signal) => client.subscribeToTask({ id }, { signal })); // it stays in memory
    await answer();
    await answer();
    await expect(answer()).rejects.toMatchObject({ code: Code.ResourceExhausted });
    reader.hangUp();
    await Promise.allSettled([reader.ended]);
    await expect(answer()).rejects.toMatchObject({ code: Code.ResourceExhausted });
    expect((await client.getTask({ id })).status?.state).toBe(TaskState.INPUT_REQUIRED);
  });
});
