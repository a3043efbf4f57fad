import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { TaskPushNotificationConfigSchema, TaskState } from "@a2a-connect/proto";
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

/** Opens a file as version 1 of the schema would have left it, every task claimed twice. */
function openOld(commits: readonly TaskCommit[]): ReturnType<typeof createSqliteTaskStore> {
  const file = temporaryFile();
  writeOld(file, commits);
  const store = createSqliteTaskStore({ file });
  onTestFinished(() => store.close());
  return store;
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
