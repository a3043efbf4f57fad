import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setImmediate as nextTurn, setTimeout as pause } from "node:timers/promises";
import type { Flow, Ordeal } from "./ordeal.ts";

/** A TCP proxy that knows nothing of what it forwards, and makes connections go through ordeals. */
export interface ChaosProxy extends AsyncDisposable {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  /** Connections that there were. */
  readonly connections: number;
  /** Connections that came to a bad end. */
  readonly ended: number;
  /** Ends all connections that there are. */
  cut(): void;
}

/** How long a connection is silent before it counts as having done its work. */
const silenceMs = 2;

/**
 * Starts one on a free port of this machine, before the server at `target`.
 *
 * @param ordeals of the first connections, one each; those after them are whole
 */
export async function startChaosProxy(target: string, ordeals: readonly Ordeal[] = []): Promise<ChaosProxy> {
  const { hostname, port: targetPort } = new URL(target);
  const sockets = new Set<Socket>();
  let connections = 0;
  let ended = 0;

  const server = createServer((caller) => {
    const { request = {}, response = {} } = ordeals[connections] ?? {};
    connections += 1;
    const callee = connect(Number(targetPort), hostname);
    const both = [caller, callee];
    const closeBoth = () => {
      for (const socket of both) socket.destroy();
    };
    for (const socket of both) {
      sockets.add(socket);
      socket.setNoDelay(true); // pieces arrive as they were cut
      socket.on("error", closeBoth);
      socket.on("close", () => {
        sockets.delete(socket);
        closeBoth();
      });
    }
    const end = async ({ how }: NonNullable<Flow["end"]>): Promise<void> => {
      ended += 1;
      if (how === "stall") {
        await once(caller, "close");
      } else if (how === "fin") {
        caller.end();
        callee.destroy();
      } else {
        caller.resetAndDestroy();
        callee.destroy();
      }
    };
    void pass(caller, callee, request, end).catch(closeBoth);
    void pass(callee, caller, response, end).catch(closeBoth);
  });
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // of a TCP server
  return {
    url: `http://127.0.0.1:${port}`,
    get connections() {
      return connections;
    },
    get ended() {
      return ended;
    },
    cut,
    async [Symbol.asyncDispose]() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Passes bytes on until there are none, or until the flow ends as it is said to. */
async function pass(
  from: Socket,
  to: Socket,
  { pieceBytes = Number.POSITIVE_INFINITY, delayMs = 0, end }: Flow,
  onEnd: (end: NonNullable<Flow["end"]>) => Promise<void>,
): Promise<void> {
  if (end?.after === 0) {
    await onEnd(end);
    return;
  }
  let left = typeof end?.after === "number" ? end.after : Number.POSITIVE_INFINITY;
  let silence: NodeJS.Timeout | undefined;
  let ended: Promise<void> | undefined;
  const closed = once(to, "close").catch(() => {}); // once for all writes: each listener would stay
  for await (const chunk of from as AsyncIterable<Buffer>) {
    clearTimeout(silence);
    if (ended !== undefined) return ended;
    if (delayMs > 0) await pause(delayMs);
    for (const piece of cut(chunk.subarray(0, left), pieceBytes)) {
      left -= piece.length;
      if (!to.write(piece)) {
        const waiting = new AbortController(); // takes the listeners off a socket that is closed
        await Promise.race([once(to, "drain", { signal: waiting.signal }), closed]);
        waiting.abort();
      }
      if (pieceBytes < Number.POSITIVE_INFINITY) await nextTurn();
    }
    if (end !== undefined && left === 0) {
      await onEnd(end);
      return;
    }
    if (end?.after === "silence") {
      silence = setTimeout(() => {
        ended = onEnd(end).catch(() => {});
      }, silenceMs);
    }
  }
  clearTimeout(silence);
  to.end();
}

function* cut(chunk: Buffer, pieceBytes: number): Generator<Buffer> {
  for (let at = 0; at < chunk.length; at += pieceBytes) yield chunk.subarray(at, at + pieceBytes);
}
