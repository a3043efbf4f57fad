import { setImmediate as nextTurn } from "node:timers/promises";
import { decodeMessage, encodeMessage } from "@a2a-connect/core/internal";
import { MessageSchema } from "@a2a-connect/proto";
import { say } from "@a2a-connect/testing";
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { createMemoryTaskStore } from "../../store/memory-task-store.ts";
import type { LogEntry } from "../../store/task-store.ts";
import { encodeCommand } from "../command.ts";
import { readJournal } from "./journal.ts";
import { createJournalCodec } from "./journal-codec.ts";

const task = { owner: { tenant: "", principal: "anonymous" }, taskId: "task" };

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

it("a long journal is decoded in slices, and each answer has the details of its call", async () => {
  const store = storeOf(Array.from({ length: 20 }, (_, at) => `${at}${"x".repeat(100 * 1_024)}`));
  const source = { store, journalCodec: createJournalCodec() };
  let isRead = false;
  const reading = readJournal(source, { ...task, history: [] }, undefined).finally(() => {
    isRead = true;
  });
  let turns = 0;
  for (; !isRead; turns += 1) await nextTurn();
  expect(turns).toBeGreaterThan(10); // of the event loop, one for each slice at least
  const { answers } = await reading;
  expect(answers.map(({ sequence, details }) => [sequence, details?.metadata])).toEqual(
    Array.from({ length: 20 }, (_, at) => [2 * at + 1, { at }]),
  );
});

it("a large message of the journal is the one that the task has in memory; a small one and a changed one are not", async () => {
  const texts = ["a".repeat(20_000), "b".repeat(20_000), "small", "c".repeat(20_000)];
  const source = { store: storeOf(texts), journalCodec: createJournalCodec() };
  const { entries } = await source.store.entries();
  const history = entries
    .filter(({ kind }) => kind === "input")
    .map(({ payload }) => decodeMessage(MessageSchema, payload));
  const [, , , changed] = history;
  if (changed !== undefined) changed.parts = [];
  const { answers } = await readJournal(source, { ...task, history }, undefined);
  expect(answers.map(({ message }) => history.indexOf(message))).toEqual([0, 1, -1, -1]);
  expect(answers.map(({ message }) => message.parts[0]?.content.value)).toEqual(texts);
});
