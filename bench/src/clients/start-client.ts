import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { ClientKind, ClientWire } from "./bench-client.ts";
import type { ClientReply, Spent, Work } from "./client-control.ts";

/** A client in a process of its own, on the core of the load. Disposing it ends the process. */
export interface ClientProcess extends AsyncDisposable {
  readonly kind: ClientKind;
  /** Does a piece of work and says what it took. */
  perform(work: Work): Promise<Spent>;
}

const script = fileURLToPath(new URL("client-process.ts", import.meta.url));
const timeoutMs = 60_000;

/**
 * Starts a client of the agent at this URL and waits until it is connected.
 *
 * @throws Error when it is not; what the process has to say about it goes to the standard error stream
 */
export async function startClient(kind: ClientKind, wire: ClientWire, url: string): Promise<ClientProcess> {
  const child = fork(script, [kind, wire, url], {
    env: { ...process.env, NODE_ENV: "production" },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const exited = once(child, "exit");

  async function receive(): Promise<ClientReply> {
    const received = once(child, "message", { signal: AbortSignal.timeout(timeoutMs) });
    const gone = exited.then(() => Promise.reject(new Error(`the client "${kind}" went away`)));
    const [reply] = await Promise.race([received, gone]);
    return reply as ClientReply; // client-process sends nothing else
  }

  async function stop(): Promise<void> {
    if (child.connected) {
      child.disconnect();
    }
    await exited;
  }

  try {
    await receive();
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
  return {
    kind,
    async perform(work) {
      child.send(work);
      const reply = await receive();
      if (reply.kind !== "spent") {
        throw new Error(`the client "${kind}" answered "${reply.kind}"`);
      }
      return reply.spent;
    },
    [Symbol.asyncDispose]: stop,
  };
}
