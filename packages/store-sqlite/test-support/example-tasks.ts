import { MessageSchema, TaskState } from "@a2a-connect/proto";
import type { TaskStore } from "@a2a-connect/server";
import type { EntryKind, LogTail } from "@a2a-connect/server/store";
import { alice, type CommitInit, createCommit, createPushConfig } from "@a2a-connect/testing";
import { create } from "@bufbuild/protobuf";

/** The tasks of `commitExamples`. */
export const exampleIds: readonly string[] = ["short", "long", "large", "asks"];

/** Files of older versions have these tasks; what they are is never changed. */
export async function commitExamples(store: TaskStore): Promise<void> {
  const chunks = Array.from({ length: 50 }, (): EntryKind => "artifact");
  await commitAll(store, "short", [{ kinds: ["task", "status", "artifact", "status"] }]);
  await commitAll(store, "long", [
    { kinds: ["task", "status"], keys: [{ key: "one", fingerprint: new Uint8Array([1]), generation: 0 }] },
    { kinds: [...chunks, "journal", ...chunks], text: "x".repeat(800) },
    { kinds: ["command", "input", "status"], snapshot: true },
    { kinds: [...chunks, "journal"] },
    { kinds: ["status"], state: TaskState.COMPLETED, at: 2_000 },
  ]);
  await commitAll(store, "large", [
    { kinds: ["task", "input", "artifact", "status"], text: "x".repeat(1_200_000), snapshot: true },
    { kinds: ["artifact", "journal"], text: "y".repeat(700_000) },
  ]);
  await commitAll(store, "asks", [
    { kinds: ["task", "status"], pushConfigs: [createPushConfig("asks", "a")], at: 500 },
    { kinds: ["input", "status"], state: TaskState.INPUT_REQUIRED, wakeAt: 9_000, at: 600 },
  ]);
  await store.claim(alice, "asks");
  const message = create(MessageSchema, { messageId: "reply" });
  await store.putReply(alice, { key: "two", fingerprint: new Uint8Array([2]) }, message, 9_000);
  await commitAll(store, "expires", [
    { kinds: ["task", ...chunks], state: TaskState.COMPLETED, at: 10, text: "z".repeat(500) },
    { kinds: chunks, state: TaskState.COMPLETED, at: 10 },
  ]);
  await store.expire({ finishedBefore: 100, now: 0, limit: 20 });
}

async function commitAll(store: TaskStore, taskId: string, commits: readonly CommitInit[]): Promise<void> {
  let tail: LogTail = { sequence: 0, generation: 0 };
  for (const init of commits) {
    const result = await store.commit(createCommit({ taskId, after: { tail, fence: 1 }, ...init }));
    if ("refused" in result) throw new Error(`the commit was refused: ${result.refused}`);
    tail = result.tail;
  }
}
