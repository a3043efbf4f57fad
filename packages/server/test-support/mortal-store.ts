import type { TaskStore } from "../src/index.ts";

/** A store as one process sees it, until that process dies. */
export interface MortalStore extends TaskStore {
  /** From now on nothing comes back, as if the process had been killed. */
  kill(): void;
  readonly dead: boolean;
}

/** When a process dies: before or after its commit of that number (from 1) was written. */
export interface Death {
  readonly commit: number;
  readonly written: boolean;
}

/** Gives a store to a process that dies at a commit, or when it is killed; what it had written before stays. */
export function createMortalStore(store: TaskStore, death?: Death): MortalStore {
  let dead = false;
  let commits = 0;
  const whileAlive =
    <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      if (dead) return new Promise(() => {});
      const result = await call(...args);
      return dead ? new Promise(() => {}) : result;
    };
  const mortal = Object.fromEntries(
    Object.entries(store).map(([name, call]) => [name, whileAlive(call)]),
  ) as unknown as TaskStore; // the same methods under the same names
  return {
    ...mortal,
    room: () => store.room?.() ?? { used: 0, free: Number.POSITIVE_INFINITY },
    commit: whileAlive(async (commit) => {
      commits += 1;
      if (commits !== death?.commit) return store.commit(commit);
      if (!death.written) {
        dead = true;
        return new Promise(() => {});
      }
      const result = await store.commit(commit);
      dead = true;
      return result;
    }),
    kill: () => {
      dead = true;
    },
    get dead() {
      return dead;
    },
  };
}
