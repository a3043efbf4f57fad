import { json, text } from "@a2a-connect/core";
import { MessageSchema, type Part, TaskState } from "@a2a-connect/proto";
import { createEngineHarness, say, taskOf } from "@a2a-connect/testing";
import { create } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import { ActiveBytes, weighMessage } from "./active-bytes.ts";

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

describe("the messages of tasks that run or wait", () => {
  const createActive = (maxActiveBytes: number, maxShare = 7 / 8) =>
    new ActiveBytes({ maxActiveBytes, maxShare });

  it("are refused beyond the limit, until one has ended", () => {
    const active = createActive(100 * kibibyte, 1);
    const end = active.take("alice", 60 * kibibyte);
    expect(() => active.take("alice", 41 * kibibyte)).toThrow(capacity);
    active.take("alice", 40 * kibibyte);
    end();
    end();
    active.take("bob", 60 * kibibyte);
    expect(() => active.take("bob", 17 * kibibyte)).toThrow(capacity);
  });

  it("leave a part of the room to other callers, however many one caller sends", () => {
    const active = createActive(800 * kibibyte);
    for (let sent = 0; sent < 7; sent += 1) active.take("alice", 100 * kibibyte);
    expect(() => active.take("alice", 17 * kibibyte)).toThrow(capacity);
    active.take("bob", 80 * kibibyte);
  });

  it("are taken however large when there is no other, and however many when they are small", () => {
    const active = createActive(100 * kibibyte);
    active.take("alice", 1_000 * kibibyte);
    for (let sent = 0; sent < 1_000; sent += 1) active.take("alice", 16 * kibibyte);
    expect(() => active.take("bob", 17 * kibibyte)).toThrow(capacity);
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
