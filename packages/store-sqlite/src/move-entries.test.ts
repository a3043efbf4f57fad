import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import type { TaskStore } from "@a2a-connect/server";
import type { LogEntry, LogView } from "@a2a-connect/server/store";
import { alice, createCommit } from "@a2a-connect/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { commitExamples, exampleIds } from "../test-support/example-tasks.ts";
import { temporaryFile } from "../test-support/temporary-file.ts";
import { createSqliteTaskStore } from "./sqlite-task-store.ts";

const taskViews = ["full", "head", "results", "summary"] as const;
const logViews: readonly LogView[] = ["all", ...taskViews, "notes"];
const noLog = { sequence: 0, generation: 0 };

/** Tasks of 50 entries in a file that is being moved; a transaction moves a thousand entries. */
const manyTasks = 1_000;
const kills = process.env["A2A_LONG"] === "1" ? 10 : 4;

describe("a file of version 5, which has a row for each entry", () => {
  it("reads as if this version had written it", async () => {
    const old = openStore(openOld());
    const fresh = openStore(temporaryFile());
    await commitExamples(fresh);
    expect(await readAll(old)).toEqual(await readAll(fresh));
  });

  it("has no entries, and a row for about 64 KiB of each log", async () => {
    const file = openOld();
    await openStore(file).close();
    using database = new DatabaseSync(file);
    expect(database.prepare("select name from sqlite_schema where name like 'entries%'").all()).toEqual([]);
    const rows = database.prepare(
      "select count(*) as count from segments where task = (select number from tasks where task_id = ?)",
    );
    expect(rows.get("short")).toEqual({ count: 1 });
    expect(rows.get("long")).toEqual({ count: 2 });
    // The entries of each commit that are in pieces have a segment each.
    expect(rows.get("large")).toEqual({ count: 6 });
  });

  it("goes on and lets its tasks expire", async () => {
    const file = openOld();
    const store = openStore(file);
    for (const view of taskViews) expect((await store.find(alice, "asks", view))?.fence).toBe(2);
    const { tail } = (await store.find(alice, "asks", "full")) ?? expect.fail("the task is there");
    expect(await store.commit(createCommit({ taskId: "asks", after: { tail, fence: 2 } }))).toMatchObject({
      deliveryDue: true,
    });
    while (await store.expire({ finishedBefore: 3_000, now: 10_000, limit: 50 }));
    expect(await store.find(alice, "long", "full")).toBeUndefined();
    await store.close();
    using database = new DatabaseSync(file);
    const numbers = "select distinct task from segments where task not in (select number from tasks)";
    expect(database.prepare(numbers).all()).toEqual([]);
  });

  it("says how far it is when moving takes long", async () => {
    const written = vi.spyOn(process.stderr, "write").mockImplementation(() => true);
    onTestFinished(() => written.mockRestore());
    let now = 0;
    const file = openOld();
    await createSqliteTaskStore({ file, now: () => (now += 1_000) }).close();
    expect(written.mock.calls.at(-1)).toEqual([`${file}: moving the logs to a new format, 100 % done\n`]);
    written.mockClear();
    await createSqliteTaskStore({ file, now: () => (now += 1_000) }).close();
    expect(written).not.toHaveBeenCalled();
  });

  it("is moved to its end after many kills in the middle", { timeout: 180_000 }, async () => {
    const file = openOld();
    multiply(file, manyTasks);
    const left: number[] = [];
    for (let at = 0; at < kills; at += 1) {
      await openAndKill(file);
      using database = new DatabaseSync(file);
      expect({ ...database.prepare("pragma user_version").get() }).toEqual({ user_version: 6 });
      left.push(Number(database.prepare("select count(*) as count from entries").get()?.["count"]));
    }
    expect(left).toEqual(left.toSorted((one, other) => other - one));
    const store = createSqliteTaskStore({ file, now: () => 0 }); // says nothing
    onTestFinished(() => store.close());
    const example = createCommit({ taskId: "many", kinds: ["task", ...manyArtifacts] });
    for (let at = 0; at < manyTasks; at += 1) {
      const { entries } = await store.entries(alice, `many-${at}`, noLog, "all", 100);
      expect(entries.map(({ sequence }) => sequence)).toEqual(
        example.entries.map(({ sequence }) => sequence),
      );
      expect(joinPayloads(entries).equals(joinPayloads(example.entries))).toBe(true);
    }
    await store.close();
    using database = new DatabaseSync(file);
    expect({ ...database.prepare("pragma integrity_check").get() }).toEqual({ integrity_check: "ok" });
  });
});

const manyArtifacts = Array.from({ length: 49 }, () => "artifact" as const);

/** A file that `commitExamples` made with version 5, its last task half expired. */
function openOld(): string {
  const file = temporaryFile();
  const packed = readFileSync(new URL("../test-support/version-5.db.gz", import.meta.url));
  writeFileSync(file, gunzipSync(packed));
  return file;
}

/** Adds tasks with the same log, as version 5 would have stored them. */
function multiply(file: string, tasks: number): void {
  using database = new DatabaseSync(file);
  const { entries, owner, index } = createCommit({ taskId: "many", kinds: ["task", ...manyArtifacts] });
  database.exec("create temp table log (sequence integer, generation integer, kind integer, payload blob)");
  const insert = database.prepare("insert into log values (?, ?, ?, ?)");
  for (const { sequence, generation = 0, kind, payload } of entries)
    insert.run(sequence, generation, kind === "task" ? 0 : 2, payload);
  const { tenant, principal } = owner;
  const { contextId, state, statusTimestamp } = index;
  database
    .prepare(`
      with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n < ${tasks - 1})
      insert into tasks (number, task_id, tenant, principal, context_id, state, status_timestamp, sequence, generation,
        fence, snapshot_sequence, snapshot_generation)
      select 1000 + n, 'many-' || n, ?, ?, ?, ?, ?, 50, 50, 1, 0, 0 from numbers`)
    .run(tenant, principal, contextId, state, statusTimestamp);
  database.exec(`
    insert into entries (task, sequence, generation, kind, payload)
    select number, log.sequence, log.generation, kind, payload from tasks join log where number >= 1000`);
}

/**
 * Opens the file in a process of its own, which says how far it is at once, and is killed when it does. It stops after some
 * transactions, so that it does not end before it is killed on a busy machine.
 */
async function openAndKill(file: string): Promise<void> {
  const script = `
    import { createSqliteTaskStore } from "./src/index.ts";
    let calls = 0;
    const now = () => {
      calls += 1;
      if (calls > 8) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
      return calls * 1_000;
    };
    createSqliteTaskStore({ file: ${JSON.stringify(file)}, now });`;
  const child = spawn(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: fileURLToPath(new URL("..", import.meta.url)),
    stdio: ["ignore", "ignore", "pipe"],
  });
  child.stderr.once("data", () => child.kill("SIGKILL"));
  const [, signal] = await once(child, "exit");
  expect(signal).toBe("SIGKILL");
}

function joinPayloads(entries: readonly LogEntry[]): Buffer {
  return Buffer.concat(entries.map(({ payload }) => payload));
}

function openStore(file: string): TaskStore {
  const store = createSqliteTaskStore({ file });
  onTestFinished(() => store.close());
  return store;
}

/** Everything that callers may read of the examples, with digests in place of bytes. */
async function readAll(store: TaskStore): Promise<unknown> {
  const due = { now: 10_000, latest: 10_000, after: 0, limit: 10 };
  const tasks = exampleIds.map(async (taskId) => ({
    stored: await Promise.all(taskViews.map((view) => store.find(alice, taskId, view))),
    logs: await Promise.all(logViews.map((view) => readLog(store, taskId, view))),
    events: await readEvents(store, taskId),
    // A segment may begin before the snapshot, and is read as a whole.
    weight: { ...(await store.weigh(alice, taskId)), bytes: undefined },
    configs: await store.listPushConfigs(alice, taskId, undefined, 10),
  }));
  const all = {
    tasks: await Promise.all(tasks),
    keys: await Promise.all(["one", "two"].map((key) => store.findKey(alice, key))),
    reply: await store.findReply(alice, "two"),
    expired: await store.find(alice, "expires", "full"),
    unfinished: await store.unfinished({ hasTimer: false, after: undefined, limit: 10 }),
    due: await store.due(10_000, 10),
    deliveries: await store.dueDeliveries(due),
  };
  const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
  return JSON.parse(
    JSON.stringify(all, (_, value: unknown) => (value instanceof Uint8Array ? digest(value) : value)),
  );
}

async function readLog(store: TaskStore, taskId: string, view: LogView): Promise<readonly unknown[]> {
  const entries = [];
  for (let [after, more] = [noLog, true]; more; ) {
    const page = await store.entries(alice, taskId, after, view, 7);
    entries.push(...page.entries);
    ({ end: after, more } = page);
  }
  return entries;
}

async function readEvents(store: TaskStore, taskId: string): Promise<readonly unknown[]> {
  const events = [];
  for (let after = 0; ; after = events.at(-1)?.generation ?? 0) {
    const page = await store.events(alice, taskId, after, 7);
    if (page.length === 0) return events;
    events.push(...page);
  }
}
