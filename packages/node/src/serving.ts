import type { AgentServer, LogRecord, PushOptions, TaskStore } from "@a2a-connect/server";
import { createSqliteTaskStore } from "@a2a-connect/store-sqlite";
import { createGuardedPush, type GuardedPush, type GuardedPushOptions } from "./guarded-push.ts";
import { type Listener, listen } from "./listen.ts";
import type { CloseOptions, ListenOptions } from "./listen-options.ts";

/** What an agent holds while it is served. */
export interface AgentResources {
  /** Where its tasks live; when undefined, `file` is opened. */
  readonly store: TaskStore | undefined;
  /** File of the embedded SQLite store. */
  readonly file: string;
  readonly push: boolean | GuardedPushOptions | PushOptions;
}

/** The same with everything open, as a server takes it. */
export interface OpenedResources {
  readonly store: TaskStore;
  readonly push?: PushOptions;
}

/** What can be served: an agent, or several. It closes the stores that it was given. */
export type Servable = Pick<AgentServer, "handle" | "start" | "moveTo" | "drain" | "stop" | "close">;

/** What is being served. */
export interface Serving<Server> {
  readonly server: Server;
  readonly listener: Listener;
  /** Stops accepting, lets what runs finish within `graceMs`, makes it durable, and closes everything. */
  close(options?: CloseOptions): Promise<void>;
}

/** Where to listen, and who is told of what goes wrong. */
export interface ServingOptions extends Omit<ListenOptions, "onError" | "onWarning"> {
  readonly log: (record: LogRecord) => void;
}

/** How much later streams are left than executors: what these say when they are told to stop is still delivered. */
const lastWordsMs = 250;

/**
 * Opens what agents need, puts a server around them, and listens. Whatever fails on the way, nothing is left open.
 *
 * @param assemble makes the server around what was opened, in the order of `wanted`
 * @throws Error when the port or a store's file cannot be had, or `assemble` does not like its options
 */
export async function startServing<Server extends Servable>(
  wanted: readonly AgentResources[],
  assemble: (opened: readonly OpenedResources[]) => Server,
  options: ServingOptions,
): Promise<Serving<Server>> {
  const { log } = options;
  const pushes: (GuardedPush | undefined)[] = [];
  const stores: TaskStore[] = [];
  let server: Server | undefined;
  const closeAll = async (): Promise<void> => {
    try {
      await settleAll(server === undefined ? stores.map((store) => store.close()) : [server.close()]);
    } finally {
      await settleAll(pushes.map((push) => push?.close()));
    }
  };
  try {
    const opened: OpenedResources[] = [];
    for (const { store: given, file, push: wish } of wanted) {
      const push = wish === false ? undefined : createGuardedPush(wish === true ? {} : wish);
      pushes.push(push);
      const store = given ?? createSqliteTaskStore({ file });
      stores.push(store);
      opened.push({ store, ...(push === undefined ? {} : { push: push.options }) });
    }
    server = assemble(opened);
    await server.start();
    const listener = await listen(server.handle, {
      ...options,
      onError: (error) => log({ level: "error", message: "a response broke off", error }),
      onWarning: (message) => log({ level: "warn", message }),
    });
    server.moveTo(listener.url);
    return { server, listener, close: closeOnce(server, listener, closeAll) };
  } catch (error) {
    // A file that stays locked could not be served again.
    await closeAll().catch((failure: unknown) =>
      log({ level: "error", message: "what had been opened could not be closed", error: failure }),
    );
    throw error;
  }
}

/** @param closeAll closes what is left when nothing runs and nobody is connected any more */
function closeOnce(
  server: Servable,
  listener: Listener,
  closeAll: () => Promise<void>,
): (options?: CloseOptions) => Promise<void> {
  const stop = async ({ graceMs = 5_000, timeoutMs = 10_000 }: CloseOptions): Promise<void> => {
    const stopped = await Promise.allSettled([
      listener.close({ graceMs: graceMs + lastWordsMs, timeoutMs }),
      server.stop(graceMs),
    ]);
    await closeAll();
    throwFirst(stopped);
  };
  let closed: Promise<void> | undefined;
  return (options = {}) => {
    server.drain();
    closed ??= stop(options);
    return closed;
  };
}

/** Waits for all of them, whatever becomes of each. @throws what the first that failed has thrown */
async function settleAll(ends: readonly (Promise<void> | undefined)[]): Promise<void> {
  throwFirst(await Promise.allSettled(ends));
}

function throwFirst(settled: readonly PromiseSettledResult<unknown>[]): void {
  const failed = settled.find((each) => each.status === "rejected");
  if (failed !== undefined) {
    throw failed.reason;
  }
}
