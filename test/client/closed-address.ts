import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/** `host:port` of this machine where somebody listened just now and nobody does any more. */
export async function closedAddress(): Promise<string> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // of a TCP server
  await new Promise((resolve) => server.close(resolve));
  return `127.0.0.1:${port}`;
}
