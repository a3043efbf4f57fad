import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import {
  type TaskPushNotificationConfig,
  TaskPushNotificationConfigSchema,
  TaskState,
} from "@a2a-connect/proto";
import type { TaskCommit } from "@a2a-connect/server/store";
import { alice, createCommit, createPushConfig } from "@a2a-connect/testing";
import { toBinary } from "@bufbuild/protobuf";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFile } from "../test-support/temporary-file.ts";
import { schemaSteps } from "./schema.ts";
import { createSqliteTaskStore } from "./sqlite-task-store.ts";

/** SHA-256 of the released steps: a file out there was made by exactly these. */
const releasedSteps = ["672b4afa7fcf44c7162c54401135ad7c89b7e07f6758020051ac43466dee2934"];

describe("the schema", () => {
  it("has its released steps as they were", () => {
    const digests = schemaSteps.map((step) => createHash("sha256").update(step).digest("hex"));
    expect(digests.slice(0, releasedSteps.length)).toEqual(releasedSteps);
  });
});

describe("a file of version 1", () => {
  const working = createCommit({
    kinds: ["task", "input", "artifact", "journal"],
    state: TaskState.WORKING,
    snapshot: true,
    pushConfigs: [createPushConfig("task-1", "a"), createPushConfig("task-1", "b")],
  });
  const finished = createCommit({ taskId: "task-2", state: TaskState.COMPLETED, at: 500 });

  it("is opened with everything that is in it", async () => {
    const store = openOld([working, finished]);
    expect(await store.find(alice, "task-1", "full")).toEqual({
      owner: alice,
      taskId: "task-1",
      index: working.index,
      tail: { sequence: 4, generation: 2 },
      fence: 3,
      snapshot: working.snapshot,
      entries: [],
    });
    const noLog = { sequence: 0, generation: 0 };
    expect((await store.entries(alice, "task-1", noLog, "all", 10)).entries).toEqual(working.entries);
    const notes = (await store.entries(alice, "task-1", noLog, "notes", 10)).entries;
    expect(notes.map(({ kind }) => kind)).toEqual(["input", "journal"]);
    expect(await store.listPushConfigs(alice, "task-1", undefined, 10)).toEqual(working.pushConfigs);
    expect(await store.unfinished({ hasTimer: false, after: undefined, limit: 10 })).toEqual([
      { owner: alice, taskId: "task-1" },
    ]);
  });

  it("tells its webhooks of what comes after", async () => {
    const store = openOld([working, finished]);
    const due = { now: 1_000, latest: 1_000, after: 0, limit: 10 };
    expect((await store.dueDeliveries(due)).fresh).toEqual([]);
    const after = { tail: { sequence: 4, generation: 2 }, fence: 3 };
    expect(await store.commit(createCommit({ after }))).toMatchObject({ deliveryDue: true });
    expect((await store.dueDeliveries(due)).fresh).toMatchObject([
      { taskId: "task-1", config: { id: "a" }, next: 3, attempts: 0, dueAt: 0 },
      { taskId: "task-1", config: { id: "b" }, next: 3, attempts: 0, dueAt: 0 },
    ]);
  });

  it("takes keys and lets finished tasks expire", async () => {
    const store = openOld([working, finished]);
    const keys = [{ key: "one", fingerprint: new Uint8Array([1]), generation: 0 }];
    await store.commit(createCommit({ taskId: "task-3", keys }));
    expect(await store.findKey(alice, "one")).toMatchObject({ result: { taskId: "task-3" } });
    expect(await store.expire({ finishedBefore: 501, now: 0, limit: 100 })).toBe(false);
    expect(await store.find(alice, "task-2", "full")).toBeUndefined();
    expect(await store.find(alice, "task-1", "full")).toBeDefined();
  });
});

describe("a file of version 10, which has the configs of webhooks beside their cursors", () => {
  const due = { now: 1_000, latest: 1_000, after: 0, limit: 10 };
  const configs = ["a", "b", "c"].map((id) => createPushConfig("task-1", id));

  it("is opened with its webhooks and where they were", async () => {
    const store = openVersion10(configs);
    expect(await store.listPushConfigs(alice, "task-1", undefined, 10)).toEqual(configs);
    const isDue = { owner: alice, taskId: "task-1", bytes: 0 };
    const [first, second, third] = configs;
    expect(await store.dueDeliveries(due)).toEqual({
      fresh: [{ ...isDue, number: 2, config: second, next: 1, attempts: 0, dueAt: 0 }],
      retries: [{ ...isDue, number: 3, config: third, next: 1, attempts: 2, dueAt: 900 }],
      nextAt: undefined,
    });
    const after = { tail: { sequence: 1, generation: 1 }, fence: 1 };
    expect(await store.commit(createCommit({ after }))).toMatchObject({ deliveryDue: true });
    expect((await store.dueDeliveries(due)).fresh).toMatchObject([
      { number: 1, config: first, next: 2 },
      { number: 2, config: second, next: 1 },
    ]);
  });

  it("gives no webhook the number of one that was removed before", async () => {
    const store = openVersion10([]);
    await store.putPushConfig(alice, createPushConfig("task-1", "d"));
    const after = { tail: { sequence: 1, generation: 1 }, fence: 1 };
    await store.commit(createCommit({ after }));
    expect((await store.dueDeliveries(due)).fresh).toMatchObject([{ number: 6, config: { id: "d" } }]);
  });

  it("lets the webhooks of a task that was being removed expire", async () => {
    const file = temporaryFile();
    writeVersion10(file, configs);
    const store = createSqliteTaskStore({ file });
    expect(await store.expire({ finishedBefore: undefined, now: 0, limit: 100 })).toBe(false);
    await store.close();
    using database = new DatabaseSync(file);
    for (const table of ["push_configs", "deliveries"]) {
      expect(
        database
          .prepare(`select number from ${table}`)
          .all()
          .map(({ number }) => number),
      ).toEqual([1, 2, 3]);
    }
  });
});

/** Opens a file as version 1 of the schema would have left it, every task claimed twice. */
function openOld(commits: readonly TaskCommit[]): ReturnType<typeof createSqliteTaskStore> {
  const file = temporaryFile();
  writeOld(file, commits);
  const store = createSqliteTaskStore({ file });
  onTestFinished(() => store.close());
  return store;
}

function openVersion10(
  configs: readonly TaskPushNotificationConfig[],
): ReturnType<typeof createSqliteTaskStore> {
  const file = temporaryFile();
  writeVersion10(file, configs);
  const store = createSqliteTaskStore({ file });
  onTestFinished(() => store.close());
  return store;
}

/**
 * A file as version 10 of the schema would have left it: with these configs of a task, of which the first waits, the second is due
 * and the third will be tried again; with one of a task that is being removed; and after the removal of another one.
 */
function writeVersion10(file: string, configs: readonly TaskPushNotificationConfig[]): void {
  using database = new DatabaseSync(file);
  database.exec(schemaSteps.slice(0, 10).join(""));
  database.exec(`pragma application_id = ${0x41324143}; pragma user_version = 10`);
  database
    .prepare(`
      insert into tasks (number, task_id, tenant, principal, context_id, state, status_timestamp, sequence, generation, fence,
        snapshot_sequence, snapshot_generation, push_config_count)
      values (1, 'task-1', ?, ?, 'context-1', ${TaskState.WORKING}, 1000, 1, 1, 1, 0, 0, ?)`)
    .run(alice.tenant, alice.principal, configs.length);
  const insert = database.prepare("insert into push_configs values (?, ?, ?, ?, ?, ?, ?)");
  const cursors = [
    { next: 2, attempts: 0, dueAt: null },
    { next: 1, attempts: 0, dueAt: 0 },
    { next: 1, attempts: 2, dueAt: 900 },
  ] as const;
  for (const [at, { next, attempts, dueAt }] of cursors.entries()) {
    const config = configs[at];
    if (config === undefined) continue;
    const bytes = toBinary(TaskPushNotificationConfigSchema, config);
    insert.run(at + 1, 1, config.id, bytes, next, attempts, dueAt);
  }
  insert.run(4, 2, "e", new Uint8Array(9), 1, 0, 0);
  insert.run(5, 1, "f", new Uint8Array(9), 1, 0, 0);
  database.exec("delete from push_configs where number = 5; insert into doomed values (2)");
}

function writeOld(file: string, commits: readonly TaskCommit[]): void {
  using database = new DatabaseSync(file);
  const [first = ""] = schemaSteps;
  database.exec(`${first}; pragma application_id = ${0x41324143}; pragma user_version = 1`);
  const insertTask = database.prepare("insert into tasks values (?, ?, ?, ?, ?, ?, ?, null, ?, ?, 3, ?, ?)");
  const insertEntry = database.prepare("insert into entries values (?, ?, ?, ?, ?)");
  const insertSnapshot = database.prepare("insert into snapshots values (?, ?, ?)");
  const insertConfig = database.prepare("insert into push_configs values (?, ?, ?)");
  const kinds = ["task", "status", "artifact", "input", "command", "journal"];
  for (const [at, { owner, taskId, index, entries, snapshot, pushConfigs }] of commits.entries()) {
    const task = at + 1;
    let reached = 0;
    for (const { sequence, generation, kind, payload } of entries) {
      reached = generation ?? reached;
      insertEntry.run(task, sequence, reached, kinds.indexOf(kind), payload);
    }
    const folded = snapshot === undefined ? [0, 0] : [snapshot.sequence, reached];
    const { contextId, state, statusTimestamp } = index;
    const place = [owner.tenant, owner.principal, contextId, state, statusTimestamp];
    insertTask.run(task, taskId, ...place, entries.length, reached, ...folded);
    if (snapshot !== undefined) insertSnapshot.run(task, snapshot.head, snapshot.artifacts ?? null);
    for (const config of pushConfigs)
      insertConfig.run(task, config.id, toBinary(TaskPushNotificationConfigSchema, config));
  }
}
