import { settleAll } from "@a2a-connect/core/internal";
import type { AgentServer, AgentServerOptions, LogRecord, PushOptions, TaskStore } from "@a2a-connect/server";
import { handleOnceStarted } from "@a2a-connect/server/internal";
import { createSqliteTaskStore } from "@a2a-connect/store-sqlite";
import { isOwnMachine, withStrictTransport } from "./exposure.ts";
import { createGuardedFetch, type GuardedFetchOptions } from "./network/guarded-fetch.ts";
import { isWildcard, type Listener, listen } from "./port/listen.ts";
import type { CloseOptions, ListenOptions } from "./port/listen-options.ts";

/** Push notifications to webhooks on the public internet, and what `allow` adds to it (requirement N-6). */
export interface GuardedPushOptions extends Omit<PushOptions, "fetch" | "refuseUrl">, GuardedFetchOptions {}

/** What a server needs to send notifications, and how to close it. */
export interface GuardedPush {
  readonly options: PushOptions;
  /** Closes the connections. Call it when the server has sent its last notification. */
  close(): Promise<void>;
}

/**
 * Options of a server that tests webhooks when they are registered and at each connection to them. Options with a
 * `fetch` of their own are used unchanged.
 *
 * @throws Error when an entry of `allow` is malformed
 */
function createGuardedPush(options: PushOptions | GuardedPushOptions): GuardedPush {
  if ("fetch" in options) return { options, close: async () => {} };
  const { fetch, refuseUrl, close } = createGuardedFetch(options);
  return { options: { ...options, fetch, refuseUrl }, close };
}

/** The resources of an agent while it is served. */
export interface AgentResources {
  /** The store of its tasks; when undefined, `file` is opened. */
  readonly store: TaskStore | undefined;
  /** File of the embedded SQLite store. */
  readonly file: string;
  readonly push: boolean | GuardedPushOptions | PushOptions;
}

/** The same with everything open, in the form that a server takes. */
export interface OpenedResources {
  readonly store: TaskStore;
  readonly push?: PushOptions;
}

/** A server of one or several agents. It closes the stores that it was given. */
export type Servable = Pick<AgentServer, "handle" | "start" | "moveTo" | "drain" | "stop" | "close">;

/** What is being served. */
export interface Serving<Server> {
  readonly server: Server;
  readonly listener: Listener;
  /** Stops accepting calls, lets running work finish within `graceMs`, makes it durable, and closes everything. */
  close(options?: CloseOptions): Promise<void>;
}

/** Where to listen, where callers reach it, and what to call with errors. */
export interface ServingOptions
  extends Omit<ListenOptions, "onError" | "onWarning">,
    Pick<AgentServerOptions, "publicUrl"> {
  readonly log: (record: LogRecord) => void;
}

/** How much later streams are cut than executors have ended, so that the executors' last events are still delivered. */
const lastWordsMs = 250;

/**
 * Opens what agents need, makes a server for them, listens, and starts the server. Requests that come before it has started wait for
 * that. When a step fails, it closes everything again.
 *
 * The start runs tasks, and those that have begun may not go on after it fails: so it comes last.
 *
 * @param assemble makes the server from what was opened, in the order of `wanted`
 * @throws Error when the port cannot be bound, a store's file cannot be opened, or `assemble` throws for an option
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
  let listener: Listener | undefined;
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
    const started = Promise.withResolvers<void>();
    const handle = handleOnceStarted(() => started.promise, server.handle);
    const { host = "localhost", tls } = options;
    const isSecure = tls !== undefined && !isOwnMachine(host);
    listener = await listen(isSecure ? withStrictTransport(handle) : handle, {
      ...options,
      onError: (error) => log({ level: "error", message: "a response broke off", error }),
      onWarning: (message) => log({ level: "warn", message }),
    });
    server.moveTo(listener.url);
    const { publicUrl, trustedProxies = [] } = options;
    if (publicUrl === undefined && trustedProxies.length === 0 && isWildcard(listener.host)) {
      const message = `it listens on ${listener.host}, and its card says ${listener.url}, where only this machine finds it: set its public URL (publicUrl, --public-url)`;
      log({ level: "warn", message });
    }
    await server.start();
    started.resolve();
    return { server, listener, close: closeOnce(server, listener, closeAll) };
  } catch (error) {
    const cut = listener?.close({ timeoutMs: 0 }); // its callers would wait for ever
    // All is closed: a file that stays locked could not be served again.
    await settleAll([cut, closeAll()]).catch((failure: unknown) =>
      log({ level: "error", message: "opened resources could not be closed", error: failure }),
    );
    throw error;
  }
}

/** @param closeAll closes the rest when no work runs and no caller is connected any more */
function closeOnce(
  server: Servable,
  listener: Listener,
  closeAll: () => Promise<void>,
): (options?: CloseOptions) => Promise<void> {
  const stop = async ({ graceMs = 5_000, timeoutMs = 10_000 }: CloseOptions): Promise<void> => {
    const stopServer = async (): Promise<void> => {
      await server.stop(graceMs);
      void listener.close({ graceMs: lastWordsMs, timeoutMs }); // what is still open has nothing more to come
    };
    try {
      await settleAll([listener.close({ graceMs: graceMs + lastWordsMs, timeoutMs }), stopServer()]);
    } finally {
      await closeAll();
    }
  };
  let closed: Promise<void> | undefined;
  return (options = {}) => {
    server.drain();
    closed ??= stop(options);
    return closed;
  };
}
