import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFile } from "../test-support/temporary-file.ts";
import { createGroupCommit, largeWriteBytes } from "./group-commit.ts";

/** So many pages of 4 KiB are moved under a load of large writes, and of small ones. */
const [largePages, smallPages] = [512, 2048];

/** With so many a log waits for no other one. */
const longestPages = 4_096;

/** A mebibyte of values, with what the transaction writes beside them. */
const mebibytePages = 260;

describe("the write-ahead log of a store", () => {
  for (const [kind, bytes, pages] of [
    ["large", largeWriteBytes, largePages],
    ["small", 0, smallPages],
  ] as const) {
    it(`is moved when ${kind} writes have filled ${pages} pages`, async () => {
      const { write, log } = openStore();
      const longest: number[] = [];
      for (let moves = 0; moves < 2; ) {
        await write(bytes, 1);
        longest[moves] = log().pages;
        await nextTurn();
        await nextTurn();
        if (log().isMoved) moves += 1;
      }
      for (const most of longest) {
        expect(most).toBeGreaterThanOrEqual(pages);
        expect(most).toBeLessThan(pages + mebibytePages);
      }
    });
  }

  it("is moved later when it could not be moved", async () => {
    const { write, log, database } = openStore();
    await write(largeWriteBytes, 3);
    database.exec("begin immediate"); // SQLite moves no log meanwhile
    await nextTurn();
    await nextTurn();
    database.exec("rollback");
    expect(log().isMoved).toBe(false);
    await write(largeWriteBytes, 1);
    await nextTurn();
    await nextTurn();
    expect(log().isMoved).toBe(true);
  });

  it("lets others be moved when its store closes while it waits", async () => {
    const [first, second] = [openStore(), openStore()];
    await Promise.all([first.write(largeWriteBytes, 3), second.write(largeWriteBytes, 3)]);
    for (const { database } of [first, second]) database.close();
    const third = openStore();
    await third.write(largeWriteBytes, 3);
    for (let turn = 0; turn < 4; turn += 1) await nextTurn();
    expect(third.log().isMoved).toBe(true);
  });
});

describe("the write-ahead logs of several stores", () => {
  it("are moved one in a turn of the event loop", async () => {
    const stores = Array.from({ length: 6 }, openStore);
    await Promise.all(stores.map(({ write }) => write(largeWriteBytes, 3)));
    const countMoved = () => stores.filter(({ log }) => log().isMoved).length;
    const moved = new Set([countMoved()]);
    while (!moved.has(6)) {
      await nextTurn();
      moved.add(countMoved());
    }
    expect([...moved]).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it("stay short under a steady load, however many stores there are", async () => {
    const stores = Array.from({ length: 24 }, openStore);
    let longest = 0;
    for (let round = 0; round < 24; round += 1) {
      await Promise.all(stores.map(({ write }) => write(largeWriteBytes, 1)));
      longest = Math.max(longest, ...stores.map(({ log }) => log().pages));
    }
    expect(longest).toBeGreaterThan(longestPages);
    expect(longest).toBeLessThan(longestPages + mebibytePages);
  });
});

function openStore() {
  const database = new DatabaseSync(temporaryFile());
  onTestFinished(() => {
    if (database.isOpen) database.close();
  });
  database.exec(`
    pragma locking_mode = exclusive;
    pragma journal_mode = wal;
    pragma synchronous = normal;
    create table parts (bytes blob);
  `);
  const writes = createGroupCommit(database, () => {});
  const insert = database.prepare("insert into parts (bytes) values (zeroblob(?))");
  const look = database.prepare("pragma wal_checkpoint(noop)");
  return {
    database,
    /** @param bytes what the store is told of the write */
    write: (bytes: number, mebibytes: number) =>
      writes.run({ bytes, write: () => insert.run(mebibytes * 1024 * 1024) }),
    log: () => {
      const { log, checkpointed } = look.get() ?? {};
      return { pages: Number(log), isMoved: log === checkpointed };
    },
  };
}
