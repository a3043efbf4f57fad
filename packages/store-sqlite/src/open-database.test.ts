import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { alice, createCommit } from "@a2a-connect/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryDirectory, temporaryFile } from "../test-support/temporary-file.ts";
import { createCheckBudget, openDatabase } from "./open-database.ts";
import { createSqliteTaskStore } from "./sqlite-task-store.ts";

describe("createSqliteTaskStore", () => {
  it("makes the file and its directories, for their owner alone", async () => {
    const directory = join(temporaryDirectory(), "a", "b");
    const file = join(directory, "tasks.db");
    await createSqliteTaskStore({ file }).close();
    expect(existsSync(file)).toBe(true);
    expect(statSync(directory).mode & 0o077).toBe(0);
  });

  it("gives each of many databases a smaller page cache, of 1 MiB at least", () => {
    const caches: number[] = [];
    const options = {
      durability: "power",
      maxFileBytes: undefined,
      maxCheckedBytes: 0,
      now: Date.now,
    } as const;
    const opened = Array.from({ length: 80 }, () =>
      openDatabase({ file: ":memory:", ...options }, (database) => {
        const { cache_size } = database.prepare("pragma cache_size").get() ?? {};
        caches.push(-Number(cache_size) / 1024);
      }),
    );
    for (const { close } of opened) close();
    expect(Math.max(...caches)).toBeLessThanOrEqual(16);
    expect(caches.slice(70)).toEqual(Array(10).fill(1));
    expect(caches.reduce((sum, each) => sum + each, 0)).toBeLessThan(350);
  });

  it("leaves one file behind when it is closed", async () => {
    const file = temporaryFile();
    const store = createSqliteTaskStore({ file });
    await store.commit(createCommit());
    expect(existsSync(`${file}-wal`)).toBe(true);
    await store.close();
    expect(existsSync(`${file}-wal`)).toBe(false);
  });

  it("refuses a file that another store has open, and opens it once that is closed", async () => {
    const file = temporaryFile();
    const first = createSqliteTaskStore({ file });
    expect(() => createSqliteTaskStore({ file })).toThrow(
      `${file}: another process or another store of this one has it open`,
    );
    await first.commit(createCommit());
    await first.close();
    const second = createSqliteTaskStore({ file });
    onTestFinished(() => second.close());
    expect(await second.find(alice, "task-1", "full")).toBeDefined();
  });

  it("refuses a file of a newer schema and leaves it as it is", async () => {
    const file = temporaryFile();
    await createSqliteTaskStore({ file }).close();
    change(file, "pragma user_version = 99");
    expect(() => createSqliteTaskStore({ file })).toThrow(
      "its schema has version 99 and this version of the store knows 11",
    );
    expect(read(file, "pragma user_version")).toEqual({ user_version: 99 });
  });

  it("refuses somebody else's database and leaves it as it is", () => {
    const file = temporaryFile();
    change(file, "create table tasks (name text); pragma user_version = 1");
    expect(() => createSqliteTaskStore({ file })).toThrow("it is a database, but not one of tasks");
    expect(read(file, "pragma journal_mode")).toEqual({ journal_mode: "delete" });
    expect(read(file, "select count(*) as tables from sqlite_schema")).toEqual({ tables: 1 });
  });

  const places: readonly (readonly [string, (directory: string) => string])[] = [
    [
      "a file that is no database",
      (directory) => {
        const file = join(directory, "notes.txt");
        writeFileSync(file, "not a database, and longer than the header of one would be: ".repeat(4));
        return file;
      },
    ],
    ["a directory", (directory) => directory],
    [
      "a path through a file",
      (directory) => {
        writeFileSync(join(directory, "file"), "");
        return join(directory, "file", "tasks.db");
      },
    ],
  ];
  for (const [what, place] of places) {
    it(`names ${what} in its error`, () => {
      const file = place(temporaryDirectory());
      expect(() => createSqliteTaskStore({ file })).toThrow(`cannot open the task store ${file}: `);
    });
  }

  it("names a file in a directory that is read-only in its error", {
    skip: process.getuid?.() === 0,
    meta: { skipReason: "the superuser may write into every directory" },
  }, () => {
    const directory = join(temporaryDirectory(), "read-only");
    mkdirSync(directory);
    chmodSync(directory, 0o500);
    const file = join(directory, "tasks.db");
    expect(() => createSqliteTaskStore({ file })).toThrow(`cannot open the task store ${file}: `);
  });
});

it("files that a process opens within a minute are checked together up to the limit", () => {
  let now = 1_000;
  const mayCheck = createCheckBudget(() => now);
  expect([mayCheck(600, 1_000), mayCheck(600, 1_000), mayCheck(400, 1_000), mayCheck(1, 1_000)]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  now += 60_001;
  expect(mayCheck(1_000, 1_000)).toBe(true);
});

function change(file: string, sql: string): void {
  using database = new DatabaseSync(file);
  database.exec(sql);
}

function read(file: string, sql: string): unknown {
  using database = new DatabaseSync(file);
  return { ...database.prepare(sql).get() };
}
