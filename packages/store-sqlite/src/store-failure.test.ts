import { MessageSchema, TaskState } from "@a2a-connect/proto";
import type { TaskStore } from "@a2a-connect/server";
import { alice, createCommit, createPushConfig } from "@a2a-connect/testing";
import { create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it, onTestFinished } from "vitest";
import { everything } from "../test-support/everything.ts";
import { startStore } from "../test-support/store-child.ts";
import { temporaryFile } from "../test-support/temporary-file.ts";
import { createSqliteTaskStore } from "./sqlite-task-store.ts";

describe("a value that SQLite refuses", () => {
  it("fails its own commit as Internal, and none of the others", async () => {
    const { store } = openStore();
    const whole = createCommit({ taskId: "b", kinds: ["task", "status"] });
    const broken = { ...whole, index: { ...whole.index, statusTimestamp: 1.5 } };
    const commits = [createCommit({ taskId: "a" }), broken, createCommit({ taskId: "c" })];
    const [first, second, third] = await Promise.allSettled(commits.map((commit) => store.commit(commit)));
    expect([first?.status, third?.status]).toEqual(["fulfilled", "fulfilled"]);
    expect(second).toMatchObject({ status: "rejected", reason: { code: Code.Internal } });
    expect(await storedIds(store)).toEqual(["a", "c"]);
    expect(await store.commit(whole)).toMatchObject({ tail: { sequence: 2, generation: 2 } });
  });
});

describe("a full file", () => {
  it("fails the whole group as Unavailable, without a path, and then takes what fits", async () => {
    const { store, file } = openStore(256 * 1024);
    const big = createCommit({ taskId: "big", kinds: ["task", "artifact"], text: "x".repeat(300 * 1024) });
    const group = [createCommit({ taskId: "a" }), big, createCommit({ taskId: "c" })];
    const results = await Promise.allSettled(group.map((commit) => store.commit(commit)));
    for (const result of results) {
      const reason = result.status === "rejected" ? result.reason : undefined;
      if (!(reason instanceof ConnectError)) expect.fail("the commit has to fail as ConnectError");
      expect(reason.code).toBe(Code.Unavailable);
      expect(reason.rawMessage).toBe("the task store is unavailable; nothing was stored");
      expect(reason.message).not.toContain(file);
      expect(reason.cause).toMatchObject({ errcode: 13 });
    }
    expect(await storedIds(store)).toEqual([]);
    expect(await store.commit(createCommit({ taskId: "a" }))).toMatchObject({
      tail: { sequence: 1, generation: 1 },
    });
    expect(await storedIds(store)).toEqual(["a"]);
  });
});

describe("writes that are no commits and do not only remove", () => {
  it("fail as Unavailable in a full file, and leave everything as it was", async () => {
    const { store } = openStore(256 * 1024);
    const pushConfigs = [createPushConfig("task-1", "a")];
    await store.commit(createCommit({ pushConfigs, state: TaskState.COMPLETED }));
    const due = { now: 0, latest: 0, after: 0, limit: 10 };
    const {
      fresh: [delivery],
    } = await store.dueDeliveries(due);
    if (delivery === undefined) expect.fail("the delivery is due");
    const huge = "x".repeat(300 * 1024);
    const big = createCommit({ taskId: "big", kinds: ["task", "artifact"], text: huge });
    const reply = create(MessageSchema, { messageId: "reply" });
    const key = { key: "one", fingerprint: new Uint8Array([1]) };
    const results = await Promise.allSettled([
      store.putReply(alice, key, reply, 5_000),
      store.moveDelivery({ number: delivery.number, next: 2, attempts: 0, retryAt: undefined }),
      store.putPushConfig(alice, createPushConfig("task-1", "b")),
      store.commit(big),
    ]);
    const codes = results.map((result) => result.status === "rejected" && result.reason.code);
    expect(codes).toEqual(results.map(() => Code.Unavailable));
    expect(await store.findKey(alice, "one")).toBeUndefined();
    expect((await store.dueDeliveries(due)).fresh).toEqual([delivery]);
    expect(await store.listPushConfigs(alice, "task-1", undefined, 10)).toEqual(pushConfigs);
    expect(await store.putReply(alice, key, reply, 5_000)).toBe(true);
    await store.expire({ finishedBefore: 9_000, now: 0, limit: 100 });
    expect(await storedIds(store)).toEqual([]);
    expect(await store.findKey(alice, "one")).toBeDefined();
  });
});

describe("a disk that fails", () => {
  it("rejects as Unavailable every time, still reads, and loses nothing that was acknowledged", async () => {
    const file = temporaryFile();
    // The shell's limit on the size of files makes every write beyond it fail with EFBIG, in blocks of 512 or 1,024 bytes.
    const child = startStore(
      { file, limitFileBlocks: 1_000 },
      `
      let sequence = 0;
      const failures = [];
      while (failures.length < 3) {
        const after = { tail: { sequence, generation: sequence }, fence: 1 };
        await store.commit(createCommit({ after, text: "x".repeat(500) })).then(
          ({ tail }) => { sequence = tail.sequence; },
          ({ code, rawMessage, cause }) => failures.push({ code, rawMessage, errcode: cause.errcode & 0xff }),
        );
      }
      const { tail } = await store.find(alice, "task-1", "full");
      console.log(JSON.stringify({ sequence, failures, read: tail.sequence }));
      `,
    );
    const [line = "{}"] = await child.ended;
    const { sequence, failures, read } = JSON.parse(line);
    const failure = {
      code: Code.Unavailable,
      rawMessage: "the task store is unavailable; nothing was stored",
      errcode: 10,
    };
    expect(failures).toEqual([failure, failure, failure]);
    expect(sequence).toBeGreaterThan(10);
    expect(read).toBe(sequence);
    const store = createSqliteTaskStore({ file });
    onTestFinished(() => store.close());
    expect((await store.find(alice, "task-1", "full"))?.tail.sequence).toBe(sequence);
  });
});

function openStore(maxFileBytes?: number): { store: TaskStore; file: string } {
  const file = temporaryFile();
  const store = createSqliteTaskStore({ file, maxFileBytes });
  onTestFinished(() => store.close());
  return { store, file };
}

async function storedIds(store: TaskStore): Promise<readonly string[]> {
  const { tasks } = await store.list({ ...everything, limit: 100, maxBytes: 1e6, view: "full" });
  return tasks.map(({ taskId }) => taskId).sort();
}
