import type { TaskStore } from "@a2a-connect/server";

/** The calls of a store that write: every boundary of them is a place to die at. */
export const writeKinds = [
  "commit",
  "claim",
  "putReply",
  "moveDelivery",
  "putPushConfig",
  "deletePushConfig",
  "expire",
] as const;

/** One of them. */
export type WriteKind = (typeof writeKinds)[number];

/** On which side of a call the process dies. */
export const sides = [
  /** Nothing has reached the store. */
  "before",
  /** The store has been asked and has written nothing yet; whoever did not wait for it has gone on. */
  "during",
  /** It has been stored, and nobody knows. */
  "after",
] as const;

/** Where the process dies: at the n-th call of a kind. */
export interface Failpoint {
  readonly kind: WriteKind;
  /** 1 for the first call since the failpoint was set. */
  readonly call: number;
  readonly side: (typeof sides)[number];
}

/** How often each kind was called since the failpoint was set. */
export type WriteCounts = Readonly<Record<WriteKind, number>>;

/** A store that ends its own process. */
export interface FailpointStore extends TaskStore {
  /** Sets the failpoint, or none, and counts from here on. */
  arm(failpoint: Failpoint | undefined): void;
  readonly counts: WriteCounts;
}

/**
 * Wraps a store, one that gathers writes until the end of the turn.
 *
 * @param die ends the process and does not come back
 */
export function createFailpointStore(store: TaskStore, die: () => never): FailpointStore {
  let armed: Failpoint | undefined;
  let counts = noCounts();

  async function write<T>(kind: WriteKind, call: () => Promise<T>): Promise<T> {
    counts[kind] += 1;
    const side = armed?.kind === kind && armed.call === counts[kind] ? armed.side : undefined;
    if (side === "before") die();
    const answer = call();
    // The store writes at the end of the turn; everything else that is ready to run has its go before.
    if (side === "during") process.nextTick(die);
    const result = await answer;
    if (side === "after") die();
    return result;
  }

  return {
    ...store,
    commit: (...args) => write("commit", () => store.commit(...args)),
    claim: (...args) => write("claim", () => store.claim(...args)),
    putReply: (...args) => write("putReply", () => store.putReply(...args)),
    moveDelivery: (...args) => write("moveDelivery", () => store.moveDelivery(...args)),
    putPushConfig: (...args) => write("putPushConfig", () => store.putPushConfig(...args)),
    deletePushConfig: (...args) => write("deletePushConfig", () => store.deletePushConfig(...args)),
    expire: (...args) => write("expire", () => store.expire(...args)),
    arm(failpoint) {
      armed = failpoint;
      counts = noCounts();
    },
    get counts() {
      return counts;
    },
  };
}

function noCounts(): Record<WriteKind, number> {
  return {
    commit: 0,
    claim: 0,
    putReply: 0,
    moveDelivery: 0,
    putPushConfig: 0,
    deletePushConfig: 0,
    expire: 0,
  };
}
