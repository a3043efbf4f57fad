import { Code, ConnectError } from "@connectrpc/connect";
import { createMemoryTaskStore } from "../src/index.ts";
import type { CommitResult, TaskCommit, TaskStore } from "../src/store/index.ts";

/**
 * What becomes of a commit: `write` writes it, `lose-answer` writes it and rejects, everything else does as it says and
 * writes nothing.
 */
export type Fate = "write" | "lose-answer" | "conflict" | "fenced" | Error;

/** A store whose commits wait, fail or are refused when a test says so. */
export interface HeldStore extends TaskStore {
  /** Commits wait from now on, before they are written. */
  hold(): void;
  /** Lets go of them, in order. */
  release(): void;
  /** How many wait. */
  readonly waiting: number;
  /** Decides the fate of every commit from now on. */
  decide(fate: (commit: TaskCommit) => Fate): void;
  /** How often each method was called. */
  readonly calls: Readonly<Record<"find" | "claim" | "events" | "commit", number>>;
  /** Makes `claim` reject; undefined: no more. */
  failClaims(error: Error | undefined): void;
}

/** Wraps a store, by default an empty one in memory. */
export function createHeldStore(store: TaskStore = createMemoryTaskStore()): HeldStore {
  const calls = { find: 0, claim: 0, events: 0, commit: 0 };
  let gate: PromiseWithResolvers<void> | undefined;
  let waiting = 0;
  let claimError: Error | undefined;
  let fate: (commit: TaskCommit) => Fate = () => "write";

  async function commit(wanted: TaskCommit): Promise<CommitResult> {
    calls.commit += 1;
    waiting += 1;
    await gate?.promise;
    waiting -= 1;
    const decided = fate(wanted);
    if (decided instanceof Error) throw decided;
    if (decided === "conflict" || decided === "fenced") {
      return { refused: decided, tail: { sequence: wanted.expectedSequence, generation: 0 } };
    }
    const result = await store.commit(wanted);
    if (decided === "lose-answer") throw new ConnectError("the store does not answer", Code.Unavailable);
    return result;
  }

  return {
    ...store,
    commit,
    find(...args) {
      calls.find += 1;
      return store.find(...args);
    },
    async claim(...args) {
      calls.claim += 1;
      if (claimError !== undefined) throw claimError;
      return store.claim(...args);
    },
    events(...args) {
      calls.events += 1;
      return store.events(...args);
    },
    hold: () => {
      gate ??= Promise.withResolvers();
    },
    release: () => {
      gate?.resolve();
      gate = undefined;
    },
    get waiting() {
      return waiting;
    },
    decide: (decision) => {
      fate = decision;
    },
    calls,
    failClaims: (error) => {
      claimError = error;
    },
  };
}
