import type { HttpHandler, HttpResponse } from "@a2a-connect/bindings";
import { a2aError } from "@a2a-connect/core";
import { ListTaskNotesResponseSchema, TaskNoteKind } from "@a2a-connect/proto/a2aconnect/notes/v1";
import { createTurnCount } from "@a2a-connect/testing";
import { fromBinary } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { systemClock } from "../engine/clock.ts";
import { createJournalCodec } from "../engine/durable/journal-codec.ts";
import type { LogEntry, TaskStore } from "../store/task-store.ts";
import { mountTaskNotes } from "./task-notes.ts";

const codec = createJournalCodec();

/** Notes that have this value. */
function notesOf(value: unknown, length = 1_000): LogEntry[] {
  const payload = codec.encode({ op: 'step "read"#1', kind: "value", value });
  return Array.from({ length }, (_, at) => ({
    sequence: at + 1,
    kind: "journal",
    payload,
    generation: undefined,
  }));
}

/** A kilobyte or so of the log, of which 64 KiB are shown. */
const repeating = notesOf(Array(200).fill("\u0001".repeat(1_000)));

const inJson = { type: "application/json", body: JSON.stringify({ taskId: "t", includePayloads: true }) };

/** The service over a task with these notes. @param onRead called for each page that is read */
function serve(entries: readonly LogEntry[], onRead: () => void = () => {}): HttpHandler {
  const store: Pick<TaskStore, "entries" | "weigh"> = {
    weigh: async () => ({}) as Awaited<ReturnType<TaskStore["weigh"]>>, // only that the task is there
    async entries() {
      onRead();
      return { entries, end: { sequence: entries.length, generation: 0 }, more: false };
    },
  };
  const [handler] = mountTaskNotes(
    { store, clock: systemClock, gates: [], isOfThisMachine: () => true },
    {},
  ).values();
  if (handler === undefined) throw new Error("the service has no method");
  return handler;
}

/** Asks for a page of these notes, over Connect. */
async function list(
  notes: readonly LogEntry[] | HttpHandler,
  countUnread: (bytes: number) => void = () => {},
  { type, body } = inJson,
): Promise<HttpResponse> {
  const handler = typeof notes === "function" ? notes : serve(notes);
  return handler({
    httpVersion: "1.1",
    url: "http://localhost/",
    method: "POST",
    header: new Headers({ "content-type": type }),
    body: (async function* () {
      yield new TextEncoder().encode(body);
    })(),
    signal: new AbortController().signal,
    countUnread,
  });
}

describe("a page of notes whose payloads are stored in far fewer bytes than are shown", () => {
  const characters = 17 * 64 * 1024; // the page ends with the note that brings them over 1 MiB

  it("counts with what it is made of, and then with its payloads until it is sent", async () => {
    let [counted, peak] = [0, 0];
    await list(repeating, (bytes) => {
      counted += bytes;
      peak = Math.max(peak, counted);
    });
    const stored = repeating.reduce((sum, { payload }) => sum + payload.length, 0);
    expect(counted).toBe(2 * characters);
    expect(peak).toBe(stored + 2 * characters);
  });

  it("is refused when there is no room for it", async () => {
    let counted = 0;
    const { status, body } = await list(repeating, (bytes) => {
      counted += bytes;
      if (counted > 2 ** 20) throw a2aError("CAPACITY", "too much is unread");
    });
    expect([status, body]).toEqual([429, expect.stringContaining("too much is unread")]);
  });

  it("is written in pieces", async () => {
    const { body } = await list(repeating);
    const pieces: Uint8Array[] = [];
    for await (const piece of body as AsyncIterable<Uint8Array>) pieces.push(piece);
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(2 ** 18);
    const { notes, hasMore } = JSON.parse(Buffer.concat(pieces).toString()) as {
      readonly notes: readonly { readonly payload: string }[];
      readonly hasMore: boolean;
    };
    expect(notes.reduce((sum, { payload }) => sum + payload.length, 0)).toBe(characters);
    expect(hasMore).toBe(true);
  });
});

it.each<[what: string, entries: readonly LogEntry[]]>([
  ["much that JSON leaves out", notesOf(Array(200).fill({ a: undefined, b: undefined, c: undefined }))],
  ["a megabyte of small values", notesOf(Array.from({ length: 200 }, (_, at) => at))],
])("makes a page of notes with %s in slices", async (_, entries) => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  count();
  await list(entries);
  isOver = true;
  expect(turns).toBeGreaterThan(30);
});

it("pages that have waited for others are made a few in a turn of the event loop", async () => {
  const read = createTurnCount();
  const handler = serve(notesOf({ a: 1 }, 1), read.count);
  await Promise.all(Array.from({ length: 200 }, () => list(handler)));
  expect(read.total).toBe(200);
  expect(read.mostInATurn).toBeLessThan(25);
});

it("a note of a later version has no kind", async () => {
  const payload = new TextEncoder().encode('{"type":"of a later version"}');
  const entry: LogEntry = { sequence: 7, kind: "command", payload, generation: undefined };
  const inBinary = { type: "application/proto", body: "\x12\x01t" }; // the id of the task
  const { status, body } = await list([entry], undefined, inBinary);
  const { notes } = fromBinary(ListTaskNotesResponseSchema, body as Uint8Array<ArrayBuffer>);
  expect([status, notes.map(({ sequence, kind }) => [sequence, kind])]).toEqual([
    200,
    [[7n, TaskNoteKind.UNSPECIFIED]],
  ]);
});
