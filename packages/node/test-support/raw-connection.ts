import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type ConnectionOptions, connect as connectTls } from "node:tls";

/** A connection on which a test writes exactly the bytes it means. */
export interface RawConnection extends Disposable {
  readonly socket: Socket;
  write(text: string | Uint8Array): Promise<void>;
  /** Everything received so far, as soon as it contains `part`. */
  until(part: string): Promise<string>;
  /** Everything received until the server closed the connection. */
  closed(): Promise<string>;
}

/** Over TLS if it has a `ca`. */
export async function openRawConnection(
  port: number,
  options: Pick<ConnectionOptions, "ca" | "ALPNProtocols"> & { readonly allowHalfOpen?: boolean } = {},
): Promise<RawConnection> {
  const place = { port, host: "127.0.0.1", ...options };
  const tls = options.ca;
  const socket =
    tls === undefined
      ? connect({ ...place, noDelay: true })
      : connectTls({ ...place, servername: "localhost" });
  let received = "";
  socket.setEncoding("latin1");
  socket.on("data", (text: string) => {
    received += text;
  });
  socket.on("error", () => undefined);
  await once(socket, tls === undefined ? "connect" : "secureConnect");
  const { promise: closed, resolve: close } = Promise.withResolvers<void>();
  socket.once("close", () => close()); // also after a write that failed
  return {
    socket,
    write: (text) => new Promise((resolve) => socket.write(text, () => resolve())),
    async until(part) {
      while (!received.includes(part)) await once(socket, "data");
      return received;
    },
    async closed() {
      await closed;
      return received;
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}
