import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { apiKey, defaultScopes, hashApiKey, notesScope } from "@a2a-connect/auth";
import { A2AService, Role } from "@a2a-connect/proto";
import { type TaskNote, TaskNoteKind, TaskNotesService } from "@a2a-connect/proto/a2aconnect/notes/v1";
import { createMemoryTaskStore, defineAgent } from "@a2a-connect/server";

import { Code, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { type ServedAgent, serve } from "./serve.ts";

const booker = defineAgent({
  card: { name: "Booker" },
  durable: true,
  async *execute(task) {
    const offer = await task.step("search", () => ({ table: 7 }));
    await task.sleep(1);
    const answer = yield* task.ask({ text: `Table ${offer.table}?` });
    await task.step("book", () => `booked: ${answer.text}`);
    yield task.artifact({ text: "done" });
  },
});

async function start(options: Parameters<typeof serve>[1] = {}, agent = booker): Promise<ServedAgent> {
  const served = await serve(agent, { store: createMemoryTaskStore(), shutdown: false, ...options });
  onTestFinished(() => served.close({ graceMs: 0 }));
  return served;
}

/** A caller whose requests have these header fields. */
function callerOf({ url }: ServedAgent, fields: Readonly<Record<string, string>> = {}) {
  const transport = createConnectTransport({
    baseUrl: url,
    httpVersion: "1.1",
    interceptors: [
      (next) => (request) => {
        for (const [name, value] of Object.entries({ "a2a-version": "1.0", ...fields })) {
          request.header.set(name, value);
        }
        return next(request);
      },
    ],
  });
  const agent = createClient(A2AService, transport);
  return {
    notes: createClient(TaskNotesService, transport),
    async send(text: string, taskId = ""): Promise<string> {
      const { payload } = await agent.sendMessage({
        message: {
          messageId: crypto.randomUUID(),
          role: Role.USER,
          parts: [{ content: { case: "text", value: text } }],
          taskId,
        },
      });
      return payload.case === "task" ? payload.value.id : "";
    },
  };
}

const nameOf = (kind: TaskNoteKind) =>
  Object.entries(TaskNoteKind)
    .find(([, value]) => value === kind)?.[0]
    .toLowerCase();

describe("the notes of a task", () => {
  it("tell of its steps, sleeps and messages, and when its code was started again", async () => {
    const directory = mkdtempSync(join(tmpdir(), "a2a-notes-"));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    const file = join(directory, "tasks.sqlite");
    const first = await serve(booker, { file, shutdown: false });
    const taskId = await callerOf(first).send("a table");
    await first.close({ graceMs: 0 });
    const second = await serve(booker, { file, shutdown: false });
    onTestFinished(() => second.close({ graceMs: 0 }));
    const began = Date.now();
    const caller = callerOf(second);
    await caller.send("yes", taskId);
    const { notes, hasMore } = await caller.notes.listTaskNotes({ taskId });
    expect(notes.map(({ kind, name, generation }) => `${generation} ${nameOf(kind)} ${name}`.trim())).toEqual(
      [
        '1 result step "search"#1',
        "1 sleep sleep#1",
        "1 over sleep#1",
        "2 message",
        "3 over answer#1",
        '3 result step "book"#1',
      ],
    );
    expect(hasMore).toBe(false);
    const [search, sleep, , , answered] = notes;
    expect(search?.elapsed).toBeDefined();
    expect(sleep?.until).toBeDefined();
    expect(search?.recordedAt).toBeDefined();
    expect(search?.resumedAt).toBeUndefined();
    expect(Number(answered?.resumedAt?.seconds)).toBeGreaterThanOrEqual(Math.floor(began / 1_000));
  });

  it("have payloads when they are asked for", async () => {
    const caller = callerOf(await start());
    const taskId = await caller.send("a table");
    const plain = await caller.notes.listTaskNotes({ taskId });
    expect(plain.notes.map(({ payload }) => payload).join("")).toBe("");
    const { notes } = await caller.notes.listTaskNotes({ taskId, includePayloads: true });
    expect(notes[0]?.payload).toBe('{"table":7}');
  });

  it("with large results of steps are made one in a turn of the event loop, one page of a caller at a time", async () => {
    const agent = defineAgent({
      card: { name: "Large" },
      durable: true,
      async *execute(task) {
        for (const step of ["one", "two", "three", "four"]) {
          await task.step(step, () => Array.from({ length: 20_000 }, (_, index) => index));
        }
        yield task.artifact({ text: "done" });
      },
    });
    let pages = 0;
    const memory = createMemoryTaskStore();
    const entries: typeof memory.entries = (...args) => {
      pages += 1;
      return memory.entries(...args);
    };
    const caller = callerOf(await start({ store: { ...memory, entries } }, agent));
    const taskId = await caller.send("count");
    pages = 0;
    let turn = 0;
    let isOver = false;
    const count = (): void => {
      turn += 1;
      if (!isOver) setImmediate(count);
    };
    const turns: [turn: number, pages: number][] = [];
    const parse = JSON.parse;
    const spy = vi.spyOn(JSON, "parse").mockImplementation((text, reviver) => {
      if (text.length > 100_000) turns.push([turn, pages]);
      return parse(text, reviver);
    });
    count();
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => caller.notes.listTaskNotes({ taskId, includePayloads: true })),
    );
    isOver = true;
    spy.mockRestore();
    expect(answers.map(({ notes }) => notes.length)).toEqual([4, 4, 4]);
    expect(new Set(turns.map(([at]) => at)).size).toBe(12);
    expect(turns.map(([, page]) => page)).toEqual([1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3]);
  });

  it("have payloads that are made only as far as they are shown, and a page ends when it has a megabyte of them", async () => {
    const agent = defineAgent({
      card: { name: "Repeats" },
      durable: true,
      async *execute(task) {
        const text = "\u0001".repeat(1_000);
        for (let step = 0; step < 40; step += 1) await task.step("read", () => Array(1_000).fill(text));
        yield task.artifact({ text: "done" });
      },
    });
    const caller = callerOf(await start({}, agent));
    const taskId = await caller.send("read");
    const plain = await caller.notes.listTaskNotes({ taskId });
    expect(plain.notes).toHaveLength(40);
    let longest = 0;
    const stringify = JSON.stringify;
    const spy = vi.spyOn(JSON, "stringify").mockImplementation((...args) => {
      const text = stringify(...(args as Parameters<typeof stringify>));
      longest = Math.max(longest, text?.length ?? 0);
      return text;
    });
    onTestFinished(() => spy.mockRestore());
    const pages: TaskNote[][] = [];
    for (let pageToken = "", hasMore = true; hasMore; ) {
      const page = await caller.notes.listTaskNotes({ taskId, pageToken, includePayloads: true });
      pages.push(page.notes);
      ({ nextPageToken: pageToken, hasMore } = page);
    }
    expect(longest).toBeLessThan(2 ** 18);
    expect(pages.map((notes) => notes.length)).toEqual([17, 17, 6]);
    const notes = pages.flat();
    expect(notes.every(({ payload }) => payload.length === 2 ** 16)).toBe(true);
    expect(notes.map(({ sequence, generation }) => [sequence, generation])).toEqual(
      plain.notes.map(({ sequence, generation }) => [sequence, generation]),
    );
  });

  it("come in pages, over gRPC too, and later ones with the last token", async () => {
    const served = await start();
    const caller = callerOf(served);
    const taskId = await caller.send("a table");
    const all = await caller.notes.listTaskNotes({ taskId });
    const grpc = createClient(TaskNotesService, createGrpcTransport({ baseUrl: served.url }));
    const first = await grpc.listTaskNotes({ taskId, pageSize: 2 });
    expect([first.notes.length, first.hasMore]).toEqual([2, true]);
    const rest = await grpc.listTaskNotes({ taskId, pageToken: first.nextPageToken });
    expect([...first.notes, ...rest.notes]).toEqual(all.notes);
    await caller.send("yes", taskId);
    const later = await grpc.listTaskNotes({ taskId, pageToken: rest.nextPageToken });
    expect(later.notes.map(({ kind }) => nameOf(kind))).toEqual(["message", "over", "result"]);
    for (const request of [
      { taskId, pageSize: 1_001 },
      { taskId, pageToken: "x" },
    ]) {
      await expect(grpc.listTaskNotes(request)).rejects.toMatchObject({ code: Code.InvalidArgument });
    }
  });

  it("are those of the caller's own tasks, and from elsewhere only for those with the scope", async () => {
    const keys = {
      alice: { hash: await hashApiKey("alice") },
      bob: { hash: await hashApiKey("bob") },
      operator: { hash: await hashApiKey("operator"), scopes: [...defaultScopes, notesScope] },
    };
    const served = await start({ auth: { gates: { key: apiKey({ header: "X-Key", keys }) } } });
    const alice = callerOf(served, { "x-key": "alice" });
    const taskId = await alice.send("a table");
    expect((await alice.notes.listTaskNotes({ taskId })).notes).not.toEqual([]);
    const refusals: readonly [fields: Record<string, string>, code: Code][] = [
      [{}, Code.Unauthenticated],
      [{ "x-key": "bob" }, Code.NotFound],
      [{ "x-key": "operator" }, Code.NotFound],
      [{ "x-key": "alice", "x-forwarded-for": "192.0.2.1" }, Code.PermissionDenied],
    ];
    for (const [fields, code] of refusals) {
      await expect(callerOf(served, fields).notes.listTaskNotes({ taskId })).rejects.toMatchObject({ code });
    }
    const far = callerOf(served, { "x-key": "operator", via: "1.1 proxy" });
    const own = await far.send("a table");
    expect((await far.notes.listTaskNotes({ taskId: own })).notes).not.toEqual([]);
  });

  it("are not served without the inspector", async () => {
    const caller = callerOf(await start({ inspector: false }));
    const taskId = await caller.send("a table");
    await expect(caller.notes.listTaskNotes({ taskId })).rejects.toMatchObject({ code: Code.Unimplemented });
  });
});
