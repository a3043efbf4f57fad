import { setImmediate as nextTurn } from "node:timers/promises";
import { encodeMessage } from "@a2a-connect/core/internal";
import { MessageSchema } from "@a2a-connect/proto";
import { say } from "@a2a-connect/testing";
import { create } from "@bufbuild/protobuf";
import { expect, it } from "vitest";
import { createMemoryTaskStore } from "../../store/memory-task-store.ts";
import type { LogEntry } from "../../store/task-store.ts";
import { encodeCommand } from "../command.ts";
import { readJournal } from "./journal.ts";
import { createJournalCodec } from "./journal-codec.ts";

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
  const reading = readJournal(source, { tenant: "", principal: "anonymous" }, "task", undefined).finally(
    () => {
      isRead = true;
    },
  );
  let turns = 0;
  for (; !isRead; turns += 1) await nextTurn();
  expect(turns).toBeGreaterThan(10); // of the event loop, one for each slice at least
  const { answers } = await reading;
  expect(answers.map(({ sequence, details }) => [sequence, details?.metadata])).toEqual(
    Array.from({ length: 20 }, (_, at) => [2 * at + 1, { at }]),
  );
});
