import {
  closeSync,
  copyFileSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { alice, createCommit } from "@a2a-connect/testing";
import { Code } from "@connectrpc/connect";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryDirectory, temporaryFile } from "../test-support/temporary-file.ts";
import { createSqliteTaskStore } from "./sqlite-task-store.ts";

/** What a `kill -9` leaves behind of a store with two tasks: everything that lies on the disk at that moment. */
async function leaveBehind(): Promise<string> {
  const from = temporaryFile();
  const store = createSqliteTaskStore({ file: from });
  for (const taskId of ["task-1", "task-2"]) await store.commit(createCommit({ taskId }));
  const to = temporaryDirectory();
  for (const name of readdirSync(dirname(from))) copyFileSync(join(dirname(from), name), join(to, name));
  await store.close();
  return join(to, basename(from));
}

function open(file: string, more = {}): ReturnType<typeof createSqliteTaskStore> {
  const store = createSqliteTaskStore({ file, ...more });
  onTestFinished(() => store.close());
  return store;
}

function failureOf(file: string): unknown {
  try {
    open(file);
  } catch (error) {
    return error;
  }
  return undefined;
}

describe("what a killed server left behind", () => {
  it("is opened when it is whole, and is one file when it has been closed", async () => {
    const file = await leaveBehind();
    expect(readdirSync(dirname(file)).sort()).toEqual(["tasks.db", "tasks.db-open", "tasks.db-wal"]);
    const store = createSqliteTaskStore({ file });
    expect(await store.find(alice, "task-2", "full")).toBeDefined();
    await store.close();
    expect(readdirSync(dirname(file))).toEqual(["tasks.db"]);
    expect(await open(file).find(alice, "task-2", "full")).toBeDefined();
  });

  it("is opened by a link to it, and the log is looked for where it is: beside the file itself", async () => {
    const file = await leaveBehind();
    const links = temporaryDirectory();
    const link = join(links, "link.db");
    symlinkSync(join("..", basename(dirname(file)), "between.db"), link);
    symlinkSync("tasks.db", join(dirname(file), "between.db"));
    const store = createSqliteTaskStore({ file: link });
    expect(await store.find(alice, "task-2", "full")).toBeDefined();
    expect([readdirSync(links), readdirSync(dirname(file)).sort()]).toEqual([
      ["link.db"],
      ["between.db", "tasks.db", "tasks.db-open", "tasks.db-wal"],
    ]);
    await store.close();
    expect(readdirSync(dirname(file)).sort()).toEqual(["between.db", "tasks.db"]);
  });

  it("is missed behind a link, too", async () => {
    const file = await leaveBehind();
    const link = join(temporaryDirectory(), "link.db");
    symlinkSync(file, link);
    rmSync(file);
    expect(String(failureOf(link))).toContain(`${file} is gone`);
  });

  for (const [what, damage, words] of [
    [
      "its log is gone",
      (file: string) => rmSync(`${file}-wal`),
      /tasks\.db-wal is gone: what was stored since/,
    ],
    [
      "its log is empty",
      (file: string) => truncateSync(`${file}-wal`),
      /tasks\.db-wal is empty: what was stored since/,
    ],
    ["the file is empty", (file: string) => truncateSync(file), /tasks\.db is empty: everything in it/],
    ["the file is gone", (file: string) => rmSync(file), /tasks\.db is gone: everything in it/],
  ] as const) {
    it(`is refused when ${what}, until the operator says to go on`, async () => {
      const file = await leaveBehind();
      damage(file);
      const before = readdirSync(dirname(file));
      const failure = failureOf(file);
      expect(failure).toMatchObject({ cause: { code: Code.DataLoss } });
      expect(String(failure)).toMatch(words);
      expect(String(failure)).toContain(`or remove ${file}-open to go on with what is there`);
      expect(readdirSync(dirname(file))).toEqual(before);
      rmSync(`${file}-open`);
      expect(await open(file).find(alice, "task-3", "full")).toBeUndefined();
    });
  }
});

describe("a file that is open", () => {
  for (const [what, damage] of [
    ["removed", (file: string) => rmSync(file)],
    ["replaced", (file: string) => copyFileSync(`${file}-wal`, `${file}.new`)],
    ["robbed of its log", (file: string) => rmSync(`${file}-wal`)],
  ] as const) {
    it(`is not written any more when it is ${what}, which is looked for once a second`, async () => {
      let now = 0;
      const file = temporaryFile();
      const store = open(file, { now: () => now });
      await store.commit(createCommit());
      const place = store.room?.().place;
      damage(file);
      if (what === "replaced") renameSync(`${file}.new`, file);
      await store.commit(createCommit({ taskId: "task-2" }));
      now = 1_000;
      for (const taskId of ["task-3", "task-4"]) {
        await expect(store.commit(createCommit({ taskId }))).rejects.toMatchObject({
          code: Code.DataLoss,
          rawMessage:
            "the file of the task store was removed or replaced while it was open; nothing was stored",
          cause: { message: expect.stringContaining("what was stored since then is lost") },
        });
      }
      expect(await store.find(alice, "task-1", "full")).toBeDefined();
      expect(await store.find(alice, "task-3", "full")).toBeUndefined();
      expect([store.room?.().place, place]).toEqual([place, expect.stringContaining("disk")]);
    });
  }
});

describe("a damaged file", () => {
  const pageSize = 4096;

  /** A closed file with a small task and many large ones; `count` of its pages are torn. */
  async function tear(first: number, count: number): Promise<string> {
    const file = temporaryFile();
    const store = createSqliteTaskStore({ file });
    await store.commit(createCommit({ taskId: "small" }));
    for (let at = 0; at < 200; at += 1)
      await store.commit(createCommit({ taskId: `large ${at}`, text: "x".repeat(2_000) }));
    await store.close();
    const fd = openSync(file, "r+");
    const noise = Buffer.alloc(pageSize, 0xa5);
    for (let page = first; page < first + count; page += 1)
      writeSync(fd, noise, 0, pageSize, page * pageSize);
    closeSync(fd);
    return file;
  }

  it("is refused at start, and the error names what is damaged and what to do", async () => {
    const failure = failureOf(await tear(100, 3));
    expect(failure).toMatchObject({ cause: { code: Code.DataLoss } });
    expect(String(failure)).toMatch(
      /it is damaged: some or all of [a-z_, ]*segments[a-z_, ]* is lost; restore a backup, take another file, or save/,
    );
  });

  it("is refused for the same reason again, and its log is not missed then", async () => {
    const file = await tear(100, 3);
    for (const left of ["open", "wal"]) writeFileSync(`${file}-${left}`, "left behind");
    const failure = String(failureOf(file));
    expect(failure).toContain("it is damaged");
    expect(String(failureOf(file))).toBe(failure);
  });

  it("is refused, too, when its first page is", async () => {
    expect(String(failureOf(await tear(0, 1)))).toContain(
      "restore a backup, take another file, or save what can be read",
    );
  });

  it("answers DataLoss for what is damaged, where it was not looked through", async () => {
    const file = await tear(100, 3);
    const store = open(file, { maxCheckedBytes: 0 });
    expect(await store.find(alice, "small", "full")).toBeDefined();
    const reads = Array.from({ length: 200 }, (_, at) => store.find(alice, `large ${at}`, "full"));
    const outcomes = await Promise.allSettled(reads);
    const codes = new Set(
      outcomes.map((outcome) => (outcome.status === "rejected" ? outcome.reason.code : "read")),
    );
    expect(codes).toContain(Code.DataLoss);
    expect(codes).not.toContain(Code.Unavailable);
  });
});
