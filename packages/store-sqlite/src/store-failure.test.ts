import { TaskState } from "@a2a-connect/proto";
import type { TaskStore } from "@a2a-connect/server";
import { alice, createCommit } from "@a2a-connect/testing";
import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, it, onTestFinished } from "vitest";
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
    expect(await store.commit(whole)).toEqual({ tail: { sequence: 2, generation: 2 } });
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
    expect(await store.commit(createCommit({ taskId: "a" }))).toEqual({
      tail: { sequence: 1, generation: 1 },
    });
    expect(await storedIds(store)).toEqual(["a"]);
  });
});

describe("a disk that fails", () => {
  it("rejects as Unavailable every time, still reads, and loses nothing that was acknowledged", async () => {
    const file = temporaryFile();
    // The shell's limit on the size of files makes every write beyond it fail with EFBIG, in blocks of 512 or 1,024 bytes.
    const child = startStore(
      { file, limitFileBlocks: 500 },
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
  const query = {
    owner: alice,
    contextId: undefined,
    state: TaskState.SUBMITTED,
    since: undefined,
    after: undefined,
  } as const;
  const { tasks } = await store.list({ ...query, limit: 100, view: "full" });
  return tasks.map(({ taskId }) => taskId).sort();
}
