import { createMemoryTaskStore } from "@a2a-connect/server";
import { alice, createCommit } from "@a2a-connect/testing";
import { Code } from "@connectrpc/connect";
import { describe, expect, it } from "vitest";
import type { TaskStore } from "../store/task-store.ts";
import { TaskReads } from "./task-reads.ts";

const kib = 1024;

/** A store with one task, and how often the whole task was read. */
async function readsOf(textBytes: number) {
  const store = createMemoryTaskStore();
  await store.commit(createCommit({ kinds: ["task", "artifact"], text: "x".repeat(textBytes) }));
  let finds = 0;
  const counting: Pick<TaskStore, "find" | "weigh"> = {
    find(...args) {
      finds += 1;
      return store.find(...args);
    },
    weigh: store.weigh,
  };
  const turns: (string | undefined)[] = [];
  const nextTurn = async (share: string | undefined) => void turns.push(share);
  const reads = new TaskReads((share) => ({ store, clock: { nextTurn: () => nextTurn(share) } }), counting);
  const read = async (owner = alice) => {
    let counted = 0;
    const seen = await reads.read({ owner, share: "alice's" }, "task-1", "full", (bytes) => {
      counted += bytes;
    });
    return { ...seen, counted };
  };
  return { store, read, finds: () => finds, turns };
}

describe("a task that callers read at the same time", () => {
  it("is read once when it is large, and counts for each of them", async () => {
    const { read, finds, turns } = await readsOf(300 * kib);
    const first = await read();
    expect(new Set(turns)).toEqual(new Set(["alice's"]));
    const second = await read();
    expect(second.task).toBe(first.task);
    expect([second.counted, second.generation]).toEqual([first.counted, first.generation]);
    expect(first.counted).toBeGreaterThan(300 * kib);
    expect(finds()).toBe(1);
  });

  it("is read again when it has gone on", async () => {
    const { store, read } = await readsOf(300 * kib);
    const first = await read();
    const after = await store.find(alice, "task-1", "summary");
    await store.commit(createCommit({ kinds: ["artifact"], text: "more", ...(after && { after }) }));
    const second = await read();
    expect(second.task).not.toBe(first.task);
    expect(second.generation).toBe(first.generation + 1);
  });

  it("is no task for another caller", async () => {
    const { read } = await readsOf(300 * kib);
    const first = await read();
    await expect(read({ ...alice, principal: "bob" })).rejects.toMatchObject({ code: Code.NotFound });
    expect(first.task.id).toBe("task-1");
  });

  it("is read each time when it is small", async () => {
    const { read, finds } = await readsOf(kib);
    const all = [await read(), await read()];
    expect(all[0]?.task).not.toBe(all[1]?.task);
    expect(finds()).toBe(2);
  });
});
