import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { connect as connectTls, createServer as createTlsServer } from "node:tls";
import { createSelfSignedCertificate } from "@a2a-connect/testing";
import { expect, it, onTestFinished } from "vitest";
import { SessionLine } from "./session-line.ts";

const certificate = createSelfSignedCertificate();

it.each([
  ["cleartext", undefined],
  ["TLS", certificate],
])(
  "the line of a session counts what the system takes of a large write while it does, in %s",
  async (_, tls) => {
    const server = tls === undefined ? createServer() : createTlsServer(tls);
    const accepted = once(server, tls === undefined ? "connection" : "secureConnection");
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo; // it listens on TCP
    const place = { port, host: "127.0.0.1" };
    const peer =
      tls === undefined ? connect(place) : connectTls({ ...place, ca: tls.cert, servername: "localhost" });
    const [socket] = (await accepted) as [Socket];
    onTestFinished(() => {
      peer.destroy();
      socket.destroy();
      server.close();
    });
    const line = new SessionLine(socket, () => 1);
    const size = 64 * 2 ** 20; // many times what systems buffer
    const written = new Promise((resolve) => socket.write(Buffer.alloc(size), resolve));
    expect([socket.bytesWritten, line.sentBytes < size / 2]).toEqual([size, true]);
    let read = 0;
    const half = Promise.withResolvers<void>();
    const count = ({ length }: Buffer): void => {
      read += length;
      if (read < size / 2) return;
      peer.off("data", count).pause();
      half.resolve();
    };
    peer.on("data", count);
    await half.promise;
    expect(line.sentBytes).toBeGreaterThanOrEqual(size / 2);
    expect(line.sentBytes).toBeLessThan(size);
    peer.resume();
    await written;
    expect(line.sentBytes).toBeGreaterThanOrEqual(size);
  },
);
