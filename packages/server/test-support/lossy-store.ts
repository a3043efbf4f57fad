import { Code, ConnectError } from "@connectrpc/connect";
import { createMemoryTaskStore, type TaskStore } from "../src/index.ts";

/** An answer that is lost, so many calls after the one before. */
export interface Loss {
  readonly calls: number;
  /** Whether the store has done what it was asked. */
  readonly done: boolean;
}

/** A store of which some answers are lost: the call gets `Unavailable`. */
export interface LossyStore extends TaskStore {
  /** Whether no answers are lost at present. */
  isCalm: boolean;
}

/** Wraps a new store in memory; when all losses are over, it loses nothing more. */
export function createLossyStore(losses: readonly Loss[]): LossyStore {
  const store = createMemoryTaskStore();
  const left = [...losses];
  let calls = 0;

  function nextLoss(): Loss | undefined {
    if (lossy.isCalm || left[0] === undefined || calls++ < left[0].calls) return undefined;
    calls = 0;
    return left.shift();
  }

  const losing =
    <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      const loss = nextLoss();
      const result = loss?.done === false ? undefined : await call(...args);
      if (loss !== undefined) throw new ConnectError("the store does not answer", Code.Unavailable);
      return result as Result; // undefined only when it is lost
    };

  const calling = Object.fromEntries(
    Object.entries(store).map(([name, call]) => [name, losing(call)]),
  ) as unknown as TaskStore; // the same methods under the same names
  const room = () => store.room?.() ?? { used: 0, free: Number.POSITIVE_INFINITY };
  const lossy: LossyStore = { ...calling, room, close: () => store.close(), isCalm: false };
  return lossy;
}
