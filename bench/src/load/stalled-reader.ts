import { once } from "node:events";
import { connect } from "node:net";

/** A connection that sends `request` and never reads a byte: what arrives stays in the kernel until that is full. */
export async function openStalledReader(port: number, request: Buffer): Promise<Disposable> {
  const socket = connect(port, "127.0.0.1").pause();
  socket.on("error", () => {}); // the server may well cut it off
  await once(socket, "connect");
  socket.write(request);
  return { [Symbol.dispose]: () => void socket.destroy() };
}
