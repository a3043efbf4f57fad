import type { TaskStore } from "@a2a-connect/server";
import type {
  CommitResult,
  Delivery,
  LogEntry,
  LogTail,
  Owner,
  TaskCommit,
  TaskQuery,
} from "@a2a-connect/server/store";
import { expect, it, onTestFinished } from "vitest";
import { alice, type CommitInit, createCommit } from "../task-commit.ts";

/** A new, empty store that a contract may write to. */
export interface OpenedTaskStore {
  readonly store: TaskStore;
  /** Opens the content of a closed store; absent for stores that keep nothing. */
  readonly reopen?: (() => Promise<TaskStore>) | undefined;
}

/** Opens a new, empty store; called inside a test, once or more. */
export type OpenTaskStore = () => Promise<OpenedTaskStore>;

/** Declares a test that gets an empty store, which is closed when the test ends. */
export type StoreTest = (title: string, test: (store: TaskStore) => Promise<void>) => void;

/** Tests of the stores that `open` opens. */
export function storeTest(open: OpenTaskStore): StoreTest {
  return (title, test) =>
    it(title, async () => {
      const { store } = await open();
      onTestFinished(() => store.close());
      await test(store);
    });
}

/** The end of a log without entries. */
export const noLog: LogTail = { sequence: 0, generation: 0 };

/** All tasks of alice. */
export const everything: TaskQuery = {
  owner: alice,
  contextId: undefined,
  state: undefined,
  since: undefined,
  after: undefined,
  limit: 100,
  maxBytes: 1_000_000,
  view: "full",
};

/** Owners who must not see what is alice's. */
export const strangers: readonly (readonly [who: string, Owner])[] = [
  ["another principal", { tenant: "", principal: "mallory" }],
  ["another tenant", { tenant: "acme", principal: "alice" }],
  ["an owner with the two swapped", { tenant: "alice", principal: "" }],
];

/** The end of a task's log and the current fence, as `createCommit` takes them. */
export interface Position {
  readonly tail: LogTail;
  readonly fence: number;
}

/** Commits what the store must accept; returns the position after it. */
export async function accepted(store: TaskStore, commit: TaskCommit): Promise<Position> {
  const result = await store.commit(commit);
  if ("refused" in result) expect.fail(`the commit was refused: ${result.refused}`);
  return { tail: result.tail, fence: commit.fence };
}

/** The same for a commit as `createCommit` makes it. */
export function committed(store: TaskStore, init: CommitInit = {}): Promise<Position> {
  return accepted(store, createCommit(init));
}

/**
 * The first ten of each kind that are due at a time (default: at any): first those due at once, by number; then
 * retries, by time.
 */
export async function readDue(
  store: TaskStore,
  now: number = Number.MAX_SAFE_INTEGER,
): Promise<readonly Delivery[]> {
  const latest = Number.MAX_SAFE_INTEGER;
  const { fresh, retries } = await store.dueDeliveries({ now, latest, after: 0, limit: 10 });
  return [...fresh, ...retries];
}

/** The refusal in a result; undefined when there is none. */
export function refusalOf(result: CommitResult): string | undefined {
  return "refused" in result ? result.refused : undefined;
}

/** The stored task, which must exist. */
export function present<Task>(task: Task | undefined): Task {
  if (task === undefined) expect.fail("the task is missing");
  return task;
}

/** All entries of a task's log, page by page. */
export async function readLog(store: TaskStore, owner: Owner, taskId: string): Promise<readonly LogEntry[]> {
  const found: LogEntry[] = [];
  for (let after = noLog; ; ) {
    const { entries, end, more } = await store.entries(owner, taskId, after, "all", 1_000);
    found.push(...entries);
    if (!more) return found;
    after = end;
  }
}

/** Sequences of the given entries. */
export function sequencesOf(entries: readonly { readonly sequence: number }[]): readonly number[] {
  return entries.map(({ sequence }) => sequence);
}
