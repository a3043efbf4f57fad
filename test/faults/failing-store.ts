import type { TaskStore } from "@a2a-connect/server";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Random } from "./random.ts";

/** A storm: so many calls fail, then all is well again. */
export interface Storm {
  readonly random: Random;
  /** One call in so many fails. */
  readonly oneIn: number;
  /** Calls that fail before it is over. */
  readonly failures: number;
}

/** A store that cannot be reached from time to time. */
export interface FailingStore extends TaskStore {
  /** Begins a storm. */
  begin(storm: Storm): void;
  /** Calls that failed since the start; of those that write, with and without having written. */
  readonly failures: { readonly read: number; readonly unwritten: number; readonly written: number };
}

/**
 * Wraps a store. A call that fails rejects with `Unavailable`. One that writes may have reached the store, and only its
 * answer is lost: whoever called it cannot know.
 */
export function createFailingStore(store: TaskStore): FailingStore {
  const failures = { read: 0, unwritten: 0, written: 0 };
  let storm: (Storm & { left: number }) | undefined;

  function strikes(): boolean {
    if (storm === undefined || storm.left === 0 || storm.random.between(1, storm.oneIn) > 1) return false;
    storm.left -= 1;
    return true;
  }

  async function read<T>(call: () => Promise<T>): Promise<T> {
    if (!strikes()) return call();
    failures.read += 1;
    throw unavailable();
  }

  async function write<T>(call: () => Promise<T>): Promise<T> {
    if (!strikes()) return call();
    if (storm?.random.between(0, 1) === 1) {
      await call();
      failures.written += 1;
    } else failures.unwritten += 1;
    throw unavailable();
  }

  return {
    commit: (...args) => write(() => store.commit(...args)),
    claim: (...args) => write(() => store.claim(...args)),
    putReply: (...args) => write(() => store.putReply(...args)),
    moveDelivery: (...args) => write(() => store.moveDelivery(...args)),
    expire: (...args) => write(() => store.expire(...args)),
    putPushConfig: (...args) => write(() => store.putPushConfig(...args)),
    deletePushConfig: (...args) => write(() => store.deletePushConfig(...args)),
    noteLoads: (...args) => write(() => store.noteLoads(...args)),
    find: (...args) => read(() => store.find(...args)),
    list: (...args) => read(() => store.list(...args)),
    events: (...args) => read(() => store.events(...args)),
    entries: (...args) => read(() => store.entries(...args)),
    findKey: (...args) => read(() => store.findKey(...args)),
    findReply: (...args) => read(() => store.findReply(...args)),
    unfinished: (...args) => read(() => store.unfinished(...args)),
    weigh: (...args) => read(() => store.weigh(...args)),
    due: (...args) => read(() => store.due(...args)),
    dueDeliveries: (...args) => read(() => store.dueDeliveries(...args)),
    dueDeliveriesOf: (...args) => read(() => store.dueDeliveriesOf(...args)),
    findPushConfig: (...args) => read(() => store.findPushConfig(...args)),
    pushConfigIds: (...args) => read(() => store.pushConfigIds(...args)),
    listPushConfigs: (...args) => read(() => store.listPushConfigs(...args)),
    close: () => store.close(),
    begin(next) {
      storm = { ...next, left: next.failures };
    },
    failures,
  };
}

function unavailable(): ConnectError {
  return new ConnectError("the store cannot be reached", Code.Unavailable);
}
