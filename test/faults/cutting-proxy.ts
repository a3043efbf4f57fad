import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** After how many bytes a connection is cut; undefined: never in that direction. */
export interface Cut {
  readonly afterRequestBytes?: number;
  readonly afterResponseBytes?: number;
}

/** A TCP proxy that knows nothing of what it forwards, and cuts it off in the middle. */
export interface CuttingProxy extends AsyncDisposable {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  /** Cuts the next connections like this, one each; those after them are whole. */
  cutNext(...cuts: readonly Cut[]): void;
  /** Connections that were cut since the start. */
  readonly cuts: number;
  /** Bytes of responses forwarded since the start. */
  readonly responseBytes: number;
  /** Bytes of requests forwarded since the start. */
  readonly requestBytes: number;
}

/** Starts one on a free port of this machine, before the server at `target`. */
export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port: targetPort } = new URL(target);
  const waiting: Cut[] = [];
  const sockets = new Set<Socket>();
  let cuts = 0;
  let responseBytes = 0;
  let requestBytes = 0;

  const server = createServer((caller) => {
    const { afterRequestBytes, afterResponseBytes } = waiting.shift() ?? {};
    const callee = connect(Number(targetPort), hostname);
    const both = [caller, callee];
    const destroy = () => {
      for (const socket of both) socket.destroy();
    };
    const cut = () => {
      cuts += 1;
      destroy();
    };
    for (const socket of both) {
      sockets.add(socket);
      socket.on("error", destroy);
      socket.on("close", () => {
        sockets.delete(socket);
        destroy();
      });
    }
    forward(caller, callee, afterRequestBytes, cut, (bytes) => {
      requestBytes += bytes;
    });
    forward(callee, caller, afterResponseBytes, cut, (bytes) => {
      responseBytes += bytes;
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // of a TCP server
  return {
    url: `http://127.0.0.1:${port}`,
    cutNext: (...next) => void waiting.push(...next),
    get cuts() {
      return cuts;
    },
    get responseBytes() {
      return responseBytes;
    },
    get requestBytes() {
      return requestBytes;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Whatever still fits before the cut arrives, and then the end: the receiver sees exactly so many bytes. */
function forward(
  from: Socket,
  to: Socket,
  limit: number | undefined,
  cut: () => void,
  count: (bytes: number) => void,
): void {
  let left = limit ?? Number.POSITIVE_INFINITY;
  if (left === 0) {
    cut();
    return;
  }
  from.on("data", (chunk) => {
    const part = chunk.subarray(0, left);
    left -= part.length;
    count(part.length);
    if (left > 0) {
      to.write(part);
      return;
    }
    from.pause();
    to.write(part, cut);
  });
  from.on("end", () => to.end());
}
