import { once } from "node:events";
import { connect, type Socket } from "node:net";

/** A TCP connection on which a test writes exactly the bytes it means. */
export interface Connection extends Disposable {
  readonly socket: Socket;
  /** Resolves when the bytes have left this process. */
  write(bytes: string | Uint8Array): Promise<void>;
  /** Everything received so far, as soon as it contains `part`. @throws Error when the connection ends before */
  until(part: string): Promise<string>;
  /** Everything received until the server closed the connection. */
  ended(): Promise<string>;
}

/** Connects to a port of this machine. Text is written and read as Latin-1, so that it can be any bytes. */
export async function openConnection(port: number): Promise<Connection> {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true });
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => undefined); // a reset is an end like any other; "close" follows
  let received = "";
  socket.setEncoding("latin1").on("data", (text: string) => {
    received += text;
  });
  await once(socket, "connect");
  return {
    socket,
    write: (bytes) =>
      new Promise((resolve) => {
        socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes, () => resolve());
      }),
    async until(part) {
      while (!received.includes(part)) {
        if (socket.closed) throw new Error(`the connection ended after ${JSON.stringify(received)}`);
        await Promise.race([once(socket, "data"), closed]);
      }
      return received;
    },
    async ended() {
      await closed;
      return received;
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}
