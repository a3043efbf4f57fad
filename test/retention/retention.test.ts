import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TaskState } from "@a2a-connect/proto";
import { defineAgent, type TaskStore } from "@a2a-connect/server";
import { createSqliteTaskStore } from "@a2a-connect/store-sqlite";
import { createEngineHarness, createFakeClock, readStream, say, taskOf } from "@a2a-connect/testing";
import { Code } from "@connectrpc/connect";
import { describe, expect, it, onTestFinished } from "vitest";

const minute = 60_000;
const isGone = { code: Code.NotFound, rawMessage: "there is no such task" };

/** Writes as many chunks of 1,000 bytes as the message says. */
const writer = defineAgent({
  card: { name: "Writer" },
  *execute(turn) {
    for (let at = 0; at < Number(turn.text); at += 1) yield turn.append("text", "x".repeat(1_000));
  },
});

/** The writer over a SQLite file. `pass` lets time pass, and resolves when the sweep at its end is over. */
async function openWriter() {
  const directory = mkdtempSync(join(tmpdir(), "a2a-retention-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const sqlite = createSqliteTaskStore({ file: join(directory, "tasks.sqlite") });
  let swept = Promise.withResolvers<void>();
  const store: TaskStore = {
    ...sqlite,
    async expire(expiry) {
      const more = await sqlite.expire(expiry);
      if (!more) {
        swept.resolve();
        swept = Promise.withResolvers();
      }
      return more;
    },
  };
  const clock = createFakeClock();
  const harness = await createEngineHarness({
    agent: writer,
    store,
    clock,
    retentionMs: minute,
  });
  onTestFinished(() => harness.server.close());
  const nextSweep = async (ms: number) => {
    const done = swept.promise;
    await clock.advance(ms);
    await done;
    await clock.settle();
  };
  await nextSweep(0);
  return {
    ...harness,
    nextSweep,
    write: async (chunks: number) => taskOf(await harness.client.sendMessage(say(`${chunks}`))),
    /** What the database takes on the disk, its log included. */
    diskBytes: () =>
      readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0),
  };
}

describe("retention over SQLite", () => {
  it("takes a finished task away from every operation, its place in lists included", async () => {
    const { client, write, nextSweep } = await openWriter();
    const { id, status } = await write(1_200);
    expect(status?.state).toBe(TaskState.COMPLETED);
    await nextSweep(minute);
    expect((await client.getTask({ id })).id).toBe(id);
    await nextSweep(minute);
    for (const call of [
      () => client.getTask({ id }),
      () => client.sendMessage(say("more", { taskId: id })),
      () => client.cancelTask({ id }),
      () => readStream((signal) => client.subscribeToTask({ id }, { signal })).ended,
    ]) {
      await expect(call()).rejects.toMatchObject(isGone);
    }
    const { tasks, totalSize } = await client.listTasks({});
    expect([tasks, totalSize]).toEqual([[], 0]);
  });

  it("stops the file from growing under a steady load", async () => {
    const { write, nextSweep, diskBytes, client } = await openWriter();
    const load = async (rounds: number) => {
      for (let round = 0; round < rounds; round += 1) {
        await Promise.all(Array.from({ length: 10 }, () => write(20)));
        await nextSweep(minute);
      }
      return diskBytes();
    };
    const warm = await load(25); // SQLite's own log has been written back and begun anew by then
    expect(await load(25)).toBeLessThan(1.05 * warm);
    expect((await client.listTasks({})).totalSize).toBeLessThanOrEqual(20);
  });
});
