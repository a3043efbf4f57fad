import { setImmediate as nextTurn } from "node:timers/promises";
import { decodeMessage, encodeMessage, ReadTurns } from "@a2a-connect/core/internal";
import { MessageSchema, Role } from "@a2a-connect/proto";
import { say } from "@a2a-connect/testing";
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { beginLongWork } from "../../../test-support/long-work.ts";
import { createMemoryTaskStore } from "../../store/memory-task-store.ts";
import type { LogEntry, TaskStore } from "../../store/task-store.ts";
import { TaskReadTurns } from "../capacity/task-read-turns.ts";
import { type Command, encodeCommand } from "../command.ts";
import { readJournal, readUntaken } from "./journal.ts";
import { createJournalCodec } from "./journal-codec.ts";

const task = { owner: { tenant: "", principal: "anonymous" }, taskId: "task", withDetails: true };

function sourceOf<Store extends TaskStore>(store: Store) {
  const reads = { tasks: new TaskReadTurns(store), lists: new ReadTurns(2), loads: new ReadTurns(4) };
  return { store, journalCodec: createJournalCodec(), reads };
}

/** A store whose log has answers, each with the details of its call. */
function storeOf(answers: readonly string[]) {
  const entries = answers.flatMap((words, at): LogEntry[] => {
    const message = create(MessageSchema, say(words).message);
    const call = encodeCommand({ type: "call", metadata: { at } });
    return [
      {
        sequence: 2 * at + 1,
        generation: undefined,
        kind: "input",
        payload: encodeMessage(MessageSchema, message),
      },
      { sequence: 2 * at + 2, generation: undefined, kind: "command", payload: call },
    ];
  });
  const end = { sequence: entries.length, generation: 1 };
  return { ...createMemoryTaskStore(), entries: async () => ({ entries, end, more: false }) };
}

it("a long journal is decoded in slices, and its newest answer has the details of its call", async () => {
  const store = storeOf(Array.from({ length: 20 }, (_, at) => `${at}${"x".repeat(100 * 1_024)}`));
  const source = sourceOf(store);
  let isRead = false;
  const reading = readJournal(source, { ...task, history: [] }, undefined).finally(() => {
    isRead = true;
  });
  let turns = 0;
  for (; !isRead; turns += 1) await nextTurn();
  expect(turns).toBeGreaterThan(10); // of the event loop, one for each slice at least
  const { answers } = await reading;
  expect(answers.map(({ sequence, details }) => [sequence, details?.metadata])).toEqual(
    Array.from({ length: 20 }, (_, at) => [2 * at + 1, at === 19 ? { at } : undefined]),
  );
});

it("a journal is read while other long work of its caller waits", async () => {
  const store = storeOf(Array.from({ length: 20 }, () => "x".repeat(100 * 1_024)));
  const work = beginLongWork("alice", 2_000);
  await readJournal(sourceOf(store), { ...task, history: [] }, "alice");
  expect(work.begun).toBeLessThan(1_000);
  await work.over;
});

it("nothing is kept of what came with answers for executors that do not use it, but grants are", async () => {
  const { entries, ...store } = storeOf(["one", "two"]);
  const log = (await entries()).entries;
  const grant = { type: "grant", grant: { reference: "key-1" } } as const;
  log.push({ sequence: 5, generation: undefined, kind: "command", payload: encodeCommand(grant) });
  const read = async (length: number) => {
    const end = { sequence: length, generation: 1 };
    const page = async () => ({ entries: log.slice(0, length), end, more: false });
    const source = sourceOf({ ...store, entries: page });
    const { answers } = await readJournal(source, { ...task, history: [], withDetails: false }, undefined);
    return answers.map(({ details }) => details);
  };
  expect(await read(4)).toEqual([undefined, undefined]);
  expect(await read(5)).toEqual([undefined, undefined, { grant: grant.grant }]);
});

it("a message of the journal is the one that the task has in memory; others count as memory", async () => {
  const texts = ["a".repeat(20_000), "b".repeat(20_000), "small", "c".repeat(20_000)];
  const source = sourceOf(storeOf(texts));
  const { entries } = await source.store.entries();
  const history = entries
    .filter(({ kind }) => kind === "input")
    .map(({ payload }) => decodeMessage(MessageSchema, payload));
  const same = await readJournal(source, { ...task, history }, undefined);
  expect(same.answers.map(({ message }) => history.indexOf(message))).toEqual([0, 1, 2, 3]);
  expect(same.messageMemory).toBe(0);
  const [, , , changed] = history;
  if (changed !== undefined) changed.parts = [];
  const { answers, messageMemory } = await readJournal(source, { ...task, history }, undefined);
  expect(answers.map(({ message }) => history.indexOf(message))).toEqual([0, 1, 2, -1]);
  expect(answers.map(({ message }) => message.parts[0]?.content.value)).toEqual(texts);
  expect(messageMemory).toBeGreaterThan(20_000);
  expect(messageMemory).toBeLessThan(21_000);
});

it("messages of one id are those that the task has in memory, also when answers came before messages to its inbox", async () => {
  const history = ["call", ...Array.from({ length: 20 }, (_, at) => `${at}`)].map((words) =>
    create(MessageSchema, say(words, { messageId: "same" }).message),
  );
  const inputs = history.slice(1).map((message) => encodeMessage(MessageSchema, message));
  const entries: LogEntry[] = [];
  const add = (entry: Pick<LogEntry, "kind" | "payload">) =>
    entries.push({ ...entry, sequence: entries.length + 2, generation: undefined });
  for (const [at, payload] of inputs.entries()) {
    const input = add({ kind: "input", payload }) + 1;
    if (at >= 10) add({ kind: "command", payload: encodeCommand({ type: "queued", input }) });
  }
  const end = { sequence: entries.length + 1, generation: 1 };
  const store = { ...createMemoryTaskStore(), entries: async () => ({ entries, end, more: false }) };
  const journal = await readJournal(sourceOf(store), { ...task, history }, undefined);
  const { answers, queued, messageMemory } = journal;
  const places = [...answers, ...queued].map(({ message }) => history.indexOf(message));
  expect(places).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
  expect([answers.length, queued.length, messageMemory]).toEqual([10, 10, 0]);
});

it("many messages of one id are found about as fast as those of other ids", async () => {
  const timeToRead = async (idOf: (at: number) => string) => {
    const history = Array.from({ length: 120_000 }, (_, at) =>
      create(MessageSchema, { messageId: idOf(at), role: Role.USER }),
    );
    const entries = history.map(
      (message, at): LogEntry => ({
        sequence: at + 1,
        generation: undefined,
        kind: "input",
        payload: encodeMessage(MessageSchema, message),
      }),
    );
    const end = { sequence: entries.length, generation: 1 };
    const store = { ...createMemoryTaskStore(), entries: async () => ({ entries, end, more: false }) };
    const before = process.cpuUsage();
    const { messageMemory } = await readJournal(sourceOf(store), { ...task, history }, undefined);
    expect(messageMemory).toBe(0);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const ofOther = await timeToRead((at) => `${at}`);
  expect(await timeToRead(() => "same")).toBeLessThan(4 * ofOther);
});

it("queued messages have what came with them until they are taken, and that of the newest turn for as long as it is", async () => {
  const log: readonly (string | Command)[] = [
    "first",
    { type: "call", metadata: { of: "the task" } },
    ...["one", "two", "three", "four"].flatMap((words, at): readonly (string | Command)[] => [
      words,
      { type: "queued", input: 3 + 2 * at, metadata: { of: words } },
    ]),
    { type: "turn", input: 3 },
    { type: "turn", input: 5 },
  ];
  const entries = log.map(
    (each, at): LogEntry => ({
      sequence: at + 1,
      generation: undefined,
      ...(typeof each === "string"
        ? { kind: "input", payload: encodeMessage(MessageSchema, create(MessageSchema, say(each).message)) }
        : { kind: "command", payload: encodeCommand(each) }),
    }),
  );
  const read = async (withDetails = true) => {
    const end = { sequence: entries.length, generation: 1 };
    const store = { ...createMemoryTaskStore(), entries: async () => ({ entries, end, more: false }) };
    const { queued, untaken } = await readJournal(
      sourceOf(store),
      { ...task, history: [], withDetails },
      undefined,
    );
    return {
      known: queued.map(({ details }) => details?.metadata?.["of"]),
      untaken: untaken.map(({ sequence }) => sequence),
    };
  };
  expect(await read()).toEqual({ known: [undefined, "two", "three", "four"], untaken: [7, 9] });
  const taken = createJournalCodec().encode({ op: "inbox.take#1", kind: "value", value: 7 });
  entries.push({ sequence: entries.length + 1, generation: undefined, kind: "journal", payload: taken });
  expect(await read()).toEqual({ known: [undefined, "two", undefined, "four"], untaken: [9] });
  expect(await read(false)).toEqual({ known: [undefined, undefined, undefined, undefined], untaken: [9] });
});

it("large results of steps are not decoded to find the messages that no turn or inbox took, or what a turn needs", async () => {
  const codec = createJournalCodec();
  const message = encodeMessage(MessageSchema, create(MessageSchema, say("words").message));
  const log: readonly Pick<LogEntry, "kind" | "payload">[] = [
    ...[1, 3].flatMap((input) => [
      { kind: "input" as const, payload: message },
      { kind: "command" as const, payload: encodeCommand({ type: "queued", input }) },
    ]),
    {
      kind: "journal",
      payload: codec.encode({ op: "step#1", kind: "value", value: { text: "inbox.".repeat(1_000) } }),
    },
    {
      kind: "journal",
      payload: codec.encode({
        op: "inbox.take#1",
        kind: "value",
        value: 1,
        at: 1_790_000_000_000,
        tookMs: 1_790_000_000.25,
        resumedAt: 1_790_000_000_000,
      }),
    },
  ];
  const entries = log.map((each, at): LogEntry => ({ ...each, sequence: at + 1, generation: undefined }));
  const end = { sequence: entries.length, generation: 1 };
  const store = { ...createMemoryTaskStore(), entries: async () => ({ entries, end, more: false }) };
  const decoded: string[] = [];
  const decode: typeof codec.decode = (...args) => {
    const record = codec.decode(...args);
    decoded.push(record.op);
    return record;
  };
  const source = { ...sourceOf(store), journalCodec: { ...codec, decode } };
  const untaken = await readUntaken(source, task.owner, task.taskId, undefined);
  expect(untaken.map(({ sequence }) => sequence)).toEqual([3]);
  const ofTurns = await readJournal(source, { ...task, history: [] }, undefined);
  expect(ofTurns.untaken.map(({ sequence }) => sequence)).toEqual([3]);
  expect(decoded).not.toContain("step#1");
  const { records } = await readJournal(source, { ...task, history: [], withDetails: false }, undefined);
  expect([...records.keys()]).toEqual(["step#1", "inbox.take#1"]);
});
