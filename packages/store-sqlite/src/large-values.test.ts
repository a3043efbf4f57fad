import { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import {
  type Message,
  MessageSchema,
  StreamResponseSchema,
  type Task,
  TaskSchema,
  TaskState,
} from "@a2a-connect/proto";
import type { TaskStore } from "@a2a-connect/server";
import type { StoredTask, TaskCommit } from "@a2a-connect/server/store";
import { alice, createCommit } from "@a2a-connect/testing";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { everything } from "../test-support/everything.ts";
import { startStore } from "../test-support/store-child.ts";
import { temporaryFile } from "../test-support/temporary-file.ts";
import { createSqliteTaskStore } from "./sqlite-task-store.ts";

const mebibyte = 2 ** 20;
const beginning = { sequence: 0, generation: 0 };

describe("a commit of several MiB", () => {
  it("is read as it was written: its entries, both halves of its snapshot, and what it weighs", async () => {
    const file = temporaryFile();
    const commit = createLarge();
    const store = openStore(file);
    await store.commit(commit);
    await expectStored(store, commit);
    await store.close();
    await expectStored(openStore(file), commit);
  });

  it("lets other commits be written before it is", async () => {
    const store = openStore();
    const done: string[] = [];
    const note = (name: string) => () => done.push(name);
    const large = store.commit(createLarge("large")).then(note("large"));
    for (let at = 0; at < 5; at += 1) {
      await store.commit(createCommit({ taskId: `small-${at}` })).then(note("small"));
    }
    await large;
    expect(done).toEqual(["small", "small", "small", "small", "small", "large"]);
  });

  it("comes before the next commit to its task", async () => {
    const store = openStore();
    const after = { tail: { sequence: 3, generation: 2 }, fence: 1 };
    const results = await Promise.all([store.commit(createLarge()), store.commit(createCommit({ after }))]);
    expect(results).toMatchObject([{ tail: { sequence: 3 } }, { tail: { sequence: 4 } }]);
  });

  it("leaves nothing behind when it is refused", async () => {
    const file = temporaryFile();
    const store = openStore(file);
    await store.commit(createCommit());
    expect(await store.commit(createLarge())).toHaveProperty("refused");
    await removed();
    await store.close();
    expect(countPieces(file)).toBe(0);
  });

  it("leaves nothing behind when its file is full, and what fits is taken afterwards", async () => {
    const store = openStore(temporaryFile(), 3 * mebibyte);
    await expect(store.commit(createLarge("large"))).rejects.toThrow("the task store is unavailable");
    await removed();
    const text = "x".repeat(mebibyte / 2);
    for (let at = 0; at < 3; at += 1) await store.commit(createCommit({ taskId: `task-${at}`, text }));
  });

  it("takes the place of the snapshot before it, whose pieces go", async () => {
    const file = temporaryFile();
    const store = openStore(file);
    const large = createLarge();
    await store.commit(large);
    const tail = { sequence: 3, generation: 2 };
    const second = createCommit({ after: { tail, fence: 1 }, snapshot: true });
    expect(await store.commit(second)).toHaveProperty("tail");
    await removed();
    expect((await store.find(alice, "task-1", "full"))?.snapshot).toEqual(second.snapshot);
    await store.close();
    expect(countPieces(file)).toBe(large.entries.length * 6);
  });

  it("keeps a value of an entry that its snapshot had, too, when the next snapshot comes", async () => {
    const store = openStore();
    const large = createLarge();
    const shared = large.entries[0]?.payload ?? expect.fail("there is an entry");
    await store.commit({ ...large, snapshot: { sequence: 3, head: shared, artifacts: undefined } });
    const after = { tail: { sequence: 3, generation: 2 }, fence: 1 };
    await store.commit(createCommit({ after, snapshot: true }));
    await removed();
    const { entries } = await store.entries(alice, "task-1", beginning, "all", 1);
    expectBytes(entries[0]?.payload, shared);
  });

  it("expires with its task", async () => {
    const file = temporaryFile();
    const store = openStore(file);
    await store.commit({ ...createLarge(), index: { ...createCommit().index, state: TaskState.COMPLETED } });
    let steps = 1;
    while (await store.expire({ finishedBefore: 5_000, now: 5_000, limit: 100 })) steps += 1;
    expect(steps).toBeGreaterThan(3);
    await store.close();
    expect(countPieces(file)).toBe(0);
  });

  it("leaves nothing behind in a file that is opened again after it was cut off", async () => {
    const file = temporaryFile();
    const store = openStore(file);
    const commit = store.commit(createLarge());
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
    await Promise.all([expect(commit).rejects.toThrow("the task store is closed"), store.close()]);
    expect(countPieces(file)).toBeGreaterThan(0);
    await openStore(file).close();
    expect(countPieces(file)).toBe(0);
  });

  it("is there as a whole or not at all when the process is killed in the middle", async () => {
    const file = temporaryFile();
    const child = startStore(
      { file },
      `
      const text = "x".repeat(3 * ${mebibyte});
      for (let at = 0; ; at += 1) {
        console.log(at);
        await store.commit(createCommit({ taskId: "task-" + at, kinds: ["task", "input"], text }));
      }
      `,
    );
    await child.printed(5);
    child.kill();
    const begun = (await child.ended).length;
    const store = openStore(file);
    for (let at = 0; at < begun - 1; at += 1) {
      expect((await store.find(alice, `task-${at}`, "full"))?.tail.sequence).toBe(2);
    }
    await store.commit(createLarge("after"));
    await expectStored(store, createLarge("after"));
    await store.close();
    using database = new DatabaseSync(file);
    const lost = database.prepare(
      "select count(*) as count from pieces where task not in (select number from tasks)",
    );
    expect(lost.get()?.["count"]).toBe(0);
  });
});

describe("commits of some hundred KiB", () => {
  const text = "x".repeat(300_000);

  it("do not keep a small commit to another task waiting", async () => {
    const store = openStore();
    const done: string[] = [];
    const commit = (taskId: string, text: string) =>
      store.commit(createCommit({ taskId, text })).then(() => done.push(taskId));
    const large = Array.from({ length: 20 }, (_, at) => commit(`large-${at}`, text));
    await Promise.all([...large, commit("small", "hello")]);
    expect(done).toEqual(["small", ...large.map((_, at) => `large-${at}`)]);
  });

  it("come before the next commit to their task", async () => {
    const store = openStore();
    const after = { tail: { sequence: 1, generation: 1 }, fence: 1 };
    const results = await Promise.all([
      store.commit(createCommit({ text })),
      store.commit(createCommit({ after })),
    ]);
    expect(results).toMatchObject([{ tail: { sequence: 1 } }, { tail: { sequence: 2 } }]);
  });
});

describe("reads at the same time", () => {
  it("take a turn of the event loop for some pieces when their values are large", async () => {
    const store = openStore();
    await store.commit(createLarge());
    // Three pieces of half a MiB exceed a MiB; both halves of the snapshot have seven.
    const turns = await countTurns(8, () => store.find(alice, "task-1", "full"));
    expect(turns).toBeGreaterThanOrEqual((8 * 7) / 3 - 1);
  });

  it("are done in a turn of the event loop each when they are lists, however small", async () => {
    const store = openStore();
    await store.commit(createCommit());
    const query = { ...everything, limit: 1, maxBytes: 1 };
    expect(await countTurns(50, () => store.list(query))).toBeGreaterThanOrEqual(49);
    expect(await countTurns(50, () => store.find(alice, "task-1", "full"))).toBeLessThan(5);
  });
});

describe("reads without history at the same time", () => {
  const reads: readonly (readonly [string, (store: TaskStore) => Promise<unknown>])[] = [
    ["a task", (store) => store.find(alice, "task-1", "summary")],
    ["a task with artifacts", (store) => store.find(alice, "task-1", "results")],
    ["a page of the log", (store) => store.entries(alice, "task-1", beginning, "summary", 10)],
    ["a list", (store) => store.list({ ...everything, limit: 5, maxBytes: mebibyte })],
  ];

  for (const [what, read] of reads) {
    it(`take few pieces in a turn of the event loop, although little is left of a value: ${what}`, async () => {
      const store = openStore();
      await store.commit(createChat(8 * mebibyte, 40_000));
      const pieces = countPiecesPerTurn();
      await Promise.all(Array.from({ length: 4 }, () => read(store)));
      const { most, all } = await pieces.end();
      expect(most).toBeLessThanOrEqual(3);
      expect(all).toBeGreaterThanOrEqual(4 * 16);
    });
  }

  it("count what they read of rows, and not only what is left of it", async () => {
    const store = openStore();
    await store.commit(createChat(400_000, 10));
    for (const [, read] of reads.slice(0, 3)) {
      expect(await countTurns(12, () => read(store))).toBeGreaterThanOrEqual(3);
    }
  });

  it("end the page of a list with a task whose pieces exceed it", async () => {
    const store = openStore();
    for (const taskId of ["task-1", "task-2"]) {
      await store.commit({ ...createChat(2 * mebibyte, 40_000), taskId });
    }
    const query = { ...everything, limit: 5, maxBytes: mebibyte };
    expect(await store.list(query)).toMatchObject({ tasks: [{ taskId: "task-2" }], more: true });
  });

  it("cut a history of very many messages in several turns", async () => {
    const store = openStore();
    const message = create(MessageSchema, { messageId: "m" });
    const history = Array.from({ length: 20_000 }, () => message);
    const { commit, bare } = createTaskCommit(
      createTask([...history, textMessage(mebibyte)], textMessage(40_000)),
    );
    await store.commit(commit);
    let found: StoredTask | undefined;
    const turns = await countTurns(1, async () => {
      found = await store.find(alice, "task-1", "summary");
    });
    expect(turns).toBeGreaterThanOrEqual(3);
    expectBytes(found?.snapshot?.head, bare);
  });
});

describe("large values that are read", () => {
  it("are left alone by a list without history", async () => {
    const file = temporaryFile();
    const store = openStore(file);
    const { commit, head, bare } = createTaskCommit(createTask([textMessage(2 * mebibyte)]));
    await store.commit(commit);
    await store.close();
    const opened = openStore(file);
    const pieces = countPiecesPerTurn();
    const found = await opened.find(alice, "task-1", "summary");
    const page = await opened.entries(alice, "task-1", beginning, "summary", 10);
    expect((await pieces.end()).all).toBe(0);
    expect(found?.snapshot?.head).toEqual(bare);
    const bareTask = fromBinary(TaskSchema, bare);
    expect(
      page.entries.map((entry) => fromBinary(StreamResponseSchema, entry.payload).payload.value),
    ).toEqual([bareTask]);
    expect((await opened.weigh(alice, "task-1"))?.bytes).toBe(head.length);
    expectBytes((await opened.find(alice, "task-1", "full"))?.snapshot?.head, head);
  });

  it("are read again when others take their place meanwhile", async () => {
    const store = openStore();
    const large = createLarge();
    await store.commit(large);
    const readings = Array.from({ length: 8 }, () => store.find(alice, "task-1", "full"));
    const after = { tail: { sequence: 3, generation: 2 }, fence: 1 };
    const second = createCommit({ after, snapshot: true });
    await store.commit(second);
    for (const task of await Promise.all(readings)) {
      const { snapshot } = task?.tail.sequence === 3 ? large : second;
      expectBytes(task?.snapshot?.head, snapshot?.head);
      expectBytes(task?.snapshot?.artifacts, snapshot?.artifacts);
    }
  });

  it("are lost when a piece is", async () => {
    const file = temporaryFile();
    const store = openStore(file);
    await store.commit(createLarge());
    await store.close();
    using database = new DatabaseSync(file);
    database.exec("delete from pieces where number = (select max(number) from pieces)");
    database.close();
    const opened = openStore(file);
    await expect(opened.find(alice, "task-1", "full")).rejects.toThrow("parts of a large value are missing");
    expect((await opened.find(alice, "task-1", "head"))?.snapshot?.head.length).toBe(2 * mebibyte);
  });
});

/** Turns of the event loop until so many reads that are asked for now have been done. */
async function countTurns(reads: number, read: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let counting = true;
  const count = async (): Promise<void> => {
    for (; counting; turns += 1) await nextTurn();
  };
  const counted = count();
  await Promise.all(Array.from({ length: reads }, read));
  counting = false;
  await counted;
  return turns;
}

/** Counts the pieces that are read from now on: all, and the most in one turn of the event loop. */
function countPiecesPerTurn() {
  using database = new DatabaseSync(":memory:");
  const get = vi.spyOn(Object.getPrototypeOf(database.prepare("select 1")), "get");
  onTestFinished(() => get.mockRestore());
  const perTurn: number[] = [];
  let counting = true;
  const endTurn = (): void => {
    perTurn.push(get.mock.results.filter(({ value }) => value !== undefined && "payload" in value).length);
    get.mockClear();
  };
  const counted = (async () => {
    for (; counting; endTurn()) await nextTurn();
  })();
  const end = async () => {
    counting = false;
    await counted;
    return { all: perTurn.reduce((sum, pieces) => sum + pieces, 0), most: Math.max(...perTurn) };
  };
  return { end };
}

function textMessage(length: number): Message {
  return create(MessageSchema, {
    messageId: "large",
    parts: [{ content: { case: "text", value: "x".repeat(length) } }],
  });
}

function createTask(history: readonly Message[], question?: Message): Task {
  const status = question && { state: TaskState.INPUT_REQUIRED, message: question };
  return create(TaskSchema, {
    id: "task-1",
    contextId: "context-1",
    history: [...history],
    ...(status && { status }),
  });
}

/** A commit of a task and its snapshot; `bare` is the snapshot without history. */
function createTaskCommit(task: Task) {
  const commit = createCommit({ kinds: ["task"] });
  const event = create(StreamResponseSchema, { payload: { case: "task", value: task } });
  const payload = toBinary(StreamResponseSchema, event);
  const head = toBinary(TaskSchema, task);
  return {
    commit: {
      ...commit,
      entries: commit.entries.map((entry) => ({ ...entry, payload })),
      snapshot: { sequence: 1, head, artifacts: undefined },
    },
    head,
    bare: toBinary(TaskSchema, { ...task, history: [] }),
  };
}

/** A task that asks a question, with so many bytes of history. */
function createChat(historyBytes: number, questionBytes: number): TaskCommit {
  return createTaskCommit(createTask([textMessage(historyBytes)], textMessage(questionBytes))).commit;
}

/** Bytes that tests share: megabytes take long to make. */
const filled = new Map<number, Uint8Array>();

/** @param seed has one length in all calls */
function fill(length: number, seed: number): Uint8Array {
  const bytes = filled.get(seed) ?? new Uint8Array(length).map((_, at) => (at * seed) % 251);
  filled.set(seed, bytes);
  return bytes;
}

/** Three entries of 3 MiB, in 6 pieces each, and a snapshot of 2 MiB and 1.5 MiB. */
function createLarge(taskId = "task-1"): TaskCommit {
  const kinds = ["task", "input", "artifact"] as const;
  const commit = createCommit({ taskId, kinds });
  return {
    ...commit,
    entries: commit.entries.map((entry, at) => ({ ...entry, payload: fill(3 * mebibyte, at + 3) })),
    snapshot: { sequence: 3, head: fill(2 * mebibyte, 7), artifacts: fill(1.5 * mebibyte, 11) },
  };
}

function openStore(file = temporaryFile(), maxFileBytes?: number): TaskStore {
  const store = createSqliteTaskStore({ file, maxFileBytes });
  onTestFinished(() => store.close());
  return store;
}

async function expectStored(store: TaskStore, { taskId, entries, snapshot }: TaskCommit): Promise<void> {
  const found = [];
  for (let after = beginning, more = true; more; ) {
    const page = await store.entries(alice, taskId, after, "all", 10);
    found.push(...page.entries);
    after = page.end;
    more = page.more;
  }
  expect(found.length).toBe(entries.length);
  for (const [at, { payload, ...entry }] of found.entries()) {
    expect(entries[at]).toMatchObject(entry);
    expectBytes(payload, entries[at]?.payload);
  }
  const task = await store.find(alice, taskId, "full");
  expectBytes(task?.snapshot?.head, snapshot?.head);
  expectBytes(task?.snapshot?.artifacts, snapshot?.artifacts);
  expect((await store.find(alice, taskId, "head"))?.snapshot?.artifacts).toBeUndefined();
  const afterSnapshot = (snapshot?.head.length ?? 0) + (snapshot?.artifacts?.length ?? 0);
  expect((await store.weigh(alice, taskId))?.bytes).toBe(afterSnapshot);
}

/** Without printing megabytes when they differ. */
function expectBytes(found: Uint8Array | undefined, expected: Uint8Array | undefined): void {
  expect(found?.length).toBe(expected?.length);
  expect(Buffer.compare(found ?? new Uint8Array(), expected ?? new Uint8Array())).toBe(0);
}

/** What no row names is removed after the answer, a piece in a turn or two. */
async function removed(): Promise<void> {
  for (let turn = 0; turn < 200; turn += 1) await nextTurn();
}

function countPieces(file: string): number {
  using database = new DatabaseSync(file);
  return Number(database.prepare("select count(*) as count from pieces").get()?.["count"]);
}
