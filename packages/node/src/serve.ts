import type { AgentCard } from "@a2a-connect/proto";
import {
  type AgentDefinition,
  type AgentServer,
  type AgentServerOptions,
  createAgentServer,
  type PushOptions,
  type SkillSwitches,
} from "@a2a-connect/server";
import { createSqliteTaskStore } from "@a2a-connect/store-sqlite";
import { compressionBrotli, compressionGzip } from "@connectrpc/connect-node";
import { createGuardedPush, type GuardedPushOptions } from "./guarded-push.ts";
import { type Listener, listen } from "./listen.ts";
import type { CloseOptions, ListenOptions } from "./listen-options.ts";

/** Everything the server and the listener may be told. */
export interface ServeOptions
  extends Omit<AgentServerOptions, "agent" | "push">,
    Omit<ListenOptions, "onError"> {
  /** File of the embedded SQLite store, when no `store` is given. Default `.a2a/<name of the agent>.sqlite`. */
  readonly file?: string;
  /**
   * Push notifications. `true` sends them to public https addresses only; options say what else may be reached
   * (`{ allow: ["localhost"] }`), or bring a `fetch` of their own. Default false: the capability is off.
   */
  readonly push?: boolean | GuardedPushOptions | PushOptions;
}

/** An agent that is being served. */
export interface ServedAgent extends AsyncDisposable {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** The public card as it is served. */
  readonly card: AgentCard;
  /** Switches skills off and on while the agent is served: changes the card, its version and its ETag. */
  readonly skills: SkillSwitches;
  /** Stops accepting, lets what runs finish within `graceMs`, makes it durable, and closes everything. */
  close(options?: CloseOptions): Promise<void>;
}

/** How much later streams are left than executors: what these say when they are told to stop is still delivered. */
const lastWordsMs = 250;

/**
 * Serves an agent on one port over gRPC, gRPC-Web, Connect, HTTP+JSON and JSON-RPC, with durable tasks.
 *
 * Nothing needs to be configured: any free port, and a SQLite file below the working directory. What an earlier process
 * left unfinished is dealt with before the first request.
 *
 * @throws Error when the port or the store's file cannot be had, or an option makes no sense
 */
export async function serve(agent: AgentDefinition, options: ServeOptions = {}): Promise<ServedAgent> {
  const {
    file = `.a2a/${fileName(agent.card.name)}.sqlite`,
    log = () => {},
    push = false,
    ...others
  } = options;
  const guarded = push === false ? undefined : createGuardedPush(push === true ? {} : push);
  let opened: Pick<AgentServer, "close"> | undefined = options.store;
  const closeAll = async (): Promise<void> => {
    try {
      await opened?.close();
    } finally {
      await guarded?.close();
    }
  };
  try {
    const store = options.store ?? createSqliteTaskStore({ file });
    opened = store;
    const wires = { compressions: [compressionGzip, compressionBrotli], ...options.wires };
    const server = createAgentServer({
      ...others,
      agent,
      store,
      wires,
      log,
      ...(guarded === undefined ? {} : { push: guarded.options }),
    });
    opened = server; // it closes its store
    const listener = await start(server, options, log);
    server.moveTo(listener.url);
    return present(server, listener, closeAll);
  } catch (error) {
    // A file that stays locked could not be served again.
    await closeAll().catch((failure: unknown) =>
      log({ level: "error", message: "what had been opened could not be closed", error: failure }),
    );
    throw error;
  }
}

/** @param closeAll closes what is left when nothing runs and nobody is connected any more */
function present(server: AgentServer, listener: Listener, closeAll: () => Promise<void>): ServedAgent {
  const stop = async ({ graceMs = 5_000, timeoutMs = 10_000 }: CloseOptions): Promise<void> => {
    const stopped = await Promise.allSettled([
      listener.close({ graceMs: graceMs + lastWordsMs, timeoutMs }),
      server.stop(graceMs),
    ]);
    await closeAll();
    const failed = stopped.find((each) => each.status === "rejected");
    if (failed !== undefined) {
      throw failed.reason;
    }
  };
  let closed: Promise<void> | undefined;
  const close = (options: CloseOptions = {}): Promise<void> => {
    server.drain();
    closed ??= stop(options);
    return closed;
  };
  return {
    url: listener.url,
    port: listener.port,
    get card() {
      return server.card;
    },
    skills: server.skills,
    close,
    [Symbol.asyncDispose]: () => close(),
  };
}

async function start(
  server: AgentServer,
  options: ServeOptions,
  log: NonNullable<ServeOptions["log"]>,
): Promise<Listener> {
  await server.start();
  return listen(server.handle, {
    ...options,
    onError: (error) => log({ level: "error", message: "a response broke off", error }),
  });
}

function fileName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-") || "agent";
}
