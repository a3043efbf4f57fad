import type { TaskStore } from "@a2a-connect/server";
import type { CommitResult, TaskClaim, TaskCommit } from "@a2a-connect/server/store";
import type { FakeClock } from "@a2a-connect/testing";
import { Code, ConnectError } from "@connectrpc/connect";

/** What does not work: nothing at all does, nothing is written, or what is written is not answered. */
export type Breakage = "all" | "writes" | "answers";

/** A process as far as its store is concerned. */
export interface Process {
  /** Whether it is still there. One that is gone does nothing any more and hears nothing. */
  readonly alive: boolean;
  /** A write begins or is done. @returns whether the process dies at this point */
  diesAt(when: "before" | "after"): boolean;
}

/** Told of what is durable, in the very moment at which it becomes so. */
export interface StoreWitness {
  committed(commit: TaskCommit): void;
  claimed(taskId: string, claim: TaskClaim): void;
}

/** One store that all processes share, and what goes wrong with it. */
export interface FaultStore {
  /** The store as a process sees it. */
  connect(process: Process): TaskStore;
  broken: Breakage | undefined;
}

/** What a process that is gone waits for. */
export function never(): Promise<never> {
  return new Promise(() => {});
}

/** Wraps a store. @param latency turns of the event loop before each commit is written */
export function createFaultStore(
  inner: TaskStore,
  clock: FakeClock,
  witness: StoreWitness,
  latency: number,
): FaultStore {
  const faults: FaultStore = { connect, broken: undefined };

  /** Keeps the clock from thinking that nothing goes on, while a store takes a turn of the event loop of its own. */
  async function settled<Value>(answer: Promise<Value>): Promise<Value> {
    let open = true;
    const close = () => {
      open = false;
    };
    answer.then(close, close);
    await Promise.resolve();
    while (open) await clock.nextTurn();
    return answer;
  }

  function connect(process: Process): TaskStore {
    function assertWorking(...kinds: readonly (Breakage | undefined)[]): void {
      if (faults.broken !== undefined && kinds.includes(faults.broken)) {
        throw new ConnectError("the store cannot be reached", Code.Unavailable);
      }
    }
    function read<Args extends readonly unknown[], Value>(method: (...args: Args) => Promise<Value>) {
      return async (...args: Args): Promise<Value> => {
        if (!process.alive) return never();
        assertWorking("all");
        const value = await settled(method(...args));
        return process.alive ? value : never();
      };
    }
    function write<Args extends readonly unknown[], Value>(
      method: (...args: Args) => Promise<Value>,
      turns = 0,
    ) {
      return async (...args: Args): Promise<Value> => {
        for (let turn = 0; turn < turns; turn++) await clock.nextTurn();
        if (!process.alive || process.diesAt("before")) return never();
        assertWorking("all", "writes");
        const value = await settled(method(...args));
        if (!process.alive || process.diesAt("after")) return never();
        assertWorking("answers");
        return value;
      };
    }
    return {
      commit: write(async (commit: TaskCommit): Promise<CommitResult> => {
        const result = await inner.commit(commit);
        if (!("refused" in result)) witness.committed(commit);
        return result;
      }, latency),
      claim: write(async (...args: Parameters<TaskStore["claim"]>) => {
        const claimed = await inner.claim(...args);
        if (claimed !== undefined) witness.claimed(args[1], claimed);
        return claimed;
      }),
      putReply: write(inner.putReply),
      moveDelivery: write(inner.moveDelivery),
      expire: write(inner.expire),
      putPushConfig: write(inner.putPushConfig),
      deletePushConfig: write(inner.deletePushConfig),
      noteLoads: write(inner.noteLoads),
      find: read(inner.find),
      list: read(inner.list),
      events: read(inner.events),
      entries: read(inner.entries),
      findKey: read(inner.findKey),
      findReply: read(inner.findReply),
      unfinished: read(inner.unfinished),
      // Processes die so often here that tasks would be given up. What becomes of those is tested beside the engine.
      weigh: read(async (...args: Parameters<TaskStore["weigh"]>) => {
        const weight = await inner.weigh(...args);
        return weight && { ...weight, loads: Math.min(weight.loads, 1) };
      }),
      due: read(inner.due),
      dueDeliveries: read(inner.dueDeliveries),
      dueDeliveriesOf: read(inner.dueDeliveriesOf),
      findPushConfig: read(inner.findPushConfig),
      listPushConfigs: read(inner.listPushConfigs),
      pushConfigIds: read(inner.pushConfigIds),
      close: async () => {},
    };
  }
  return faults;
}
