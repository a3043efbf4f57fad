import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { EventEmitter, once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { createCertificateAuthority, createSelfSignedCertificate } from "@a2a-connect/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { echo } from "../../../test-support/handlers.ts";
import { openRecordConnection } from "../../../test-support/key-updates.ts";
import { listen } from "../listen.ts";
import { Arrivals } from "./arrivals.ts";

describe("a port with TLS", () => {
  // As a ClientKeyExchange without a key: the handshake fails before there is one.
  const keylessFlight = Buffer.from([22, 3, 3, 0, 4, 16, 0, 0, 0]);

  for (const [what, flight] of [
    ["goes on with few handshakes of TLS 1.2", undefined],
    ["refuses few handshakes that fail before they have a key", keylessFlight],
  ] as const) {
    it(`${what} in a turn of the event loop`, async () => {
      await using listener = await listen(echo, { tls: createSelfSignedCertificate() });
      await using proxy = await openHoldingProxy(listener.port);
      const clients = Array.from({ length: 200 }, () =>
        connectTls({
          port: proxy.port,
          host: "127.0.0.1",
          maxVersion: "TLSv1.2",
          rejectUnauthorized: false,
        }).on("error", () => undefined),
      );
      onTestFinished(() => {
        for (const client of clients) client.destroy();
      });
      const { release, answered } = await proxy.held(clients.length);
      release((bytes) => flight ?? bytes);
      let most = 0;
      for (let before = 0; answered() < clients.length; before = answered()) {
        await nextTurn();
        most = Math.max(most, answered() - before);
      }
      expect(most).toBeLessThanOrEqual(64);
    });
  }

  it("reads one connection in a turn where clients may bring certificates, also when they hold back the end", async () => {
    const accepted: Socket[] = [];
    const accept = (message: unknown): void => void accepted.push((message as { socket: Socket }).socket);
    subscribe("net.server.socket", accept);
    onTestFinished(() => void unsubscribe("net.server.socket", accept));
    const authority = createCertificateAuthority();
    const tls = { ...createSelfSignedCertificate(), clientCa: authority.cert };
    await using listener = await listen(echo, { tls });
    await using proxy = await openHoldingProxy(listener.port);
    const { port } = proxy;
    const identity = authority.issue({ subject: "client" });
    const clients = Array.from({ length: 20 }, () =>
      connectTls({ port, host: "127.0.0.1", ca: tls.cert, servername: "localhost", ...identity }).on(
        "error",
        () => undefined,
      ),
    );
    onTestFinished(() => {
      for (const client of clients) client.destroy();
    });
    const { release, answered } = await proxy.held(clients.length);
    const ports = accepted.filter(({ localPort }) => localPort === listener.port);
    const brought = () => ports.map(({ bytesRead }) => bytesRead);
    const first = brought();
    release((bytes) => bytes.subarray(0, -100));
    let most = 0;
    for (let before = first; before.some((bytes, at) => bytes === first[at]); ) {
      await nextTurn();
      const now = brought();
      most = Math.max(most, now.filter((bytes, at) => bytes !== before[at]).length);
      before = now;
    }
    expect({ connections: ports.length, most }).toEqual({ connections: clients.length, most: 1 });
    release((bytes) => bytes.subarray(-100));
    await expect.poll(answered).toBe(clients.length); // by tickets: the handshakes are complete
  });

  it("knows whose a turn was when a handshake ends, also when it fails", async () => {
    const attributed = vi.spyOn(Arrivals.prototype, "attributeTurn");
    onTestFinished(() => attributed.mockRestore());
    const tls = createSelfSignedCertificate();
    await using listener = await listen(echo, { tls });
    using opened = new DisposableStack(); // ended before the listener, which waits for its connections
    const client = opened.adopt(
      connectTls({ port: listener.port, host: "127.0.0.1", ca: tls.cert, servername: "localhost" }),
      (each) => void each.destroy(),
    );
    await once(client, "secureConnect");
    await expect.poll(() => attributed.mock.calls.length).toBe(1);
    const wary = connectTls({ port: listener.port, host: "127.0.0.1" });
    await once(wary, "error"); // it does not know who signed the certificate
    await expect.poll(() => attributed.mock.calls.length).toBe(2);
  });

  it("refuses to negotiate TLS 1.2 again, which costs it another signature", async () => {
    const tls = createSelfSignedCertificate();
    await using listener = await listen(echo, { tls });
    const client = connectTls({
      port: listener.port,
      host: "127.0.0.1",
      ca: tls.cert,
      servername: "localhost",
      maxVersion: "TLSv1.2",
    });
    onTestFinished(() => void client.destroy());
    await once(client, "secureConnect");
    const failure = await new Promise((resolve) => {
      client.on("error", resolve);
      client.renegotiate({}, resolve);
    });
    expect(failure).toMatchObject({ code: "ERR_SSL_NO_RENEGOTIATION" });
  });

  it("works on few new keys in a turn of the event loop, and cuts connections that have chosen 100", async ({
    signal,
  }) => {
    const accepted: Socket[] = [];
    const accept = (message: unknown): void => void accepted.push((message as { socket: Socket }).socket);
    subscribe("net.server.socket", accept);
    onTestFinished(() => void unsubscribe("net.server.socket", accept));
    await using listener = await listen(echo, { tls: createSelfSignedCertificate() });
    using opened = new DisposableStack();
    const connectOne = async () => opened.use(await openRecordConnection(listener.port));
    const clients = await Promise.all(Array.from({ length: 20 }, connectOne));
    const packets = clients.map((client) => client.formatKeyUpdates(700)); // 19 KB each
    const countRead = (): number => accepted.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
    let open = clients.length;
    for (const { socket } of clients) socket.once("close", () => (open -= 1));
    clients.forEach(({ socket }, at) => void socket.write(packets[at] ?? ""));
    let most = 0;
    for (let before = countRead(); open > 0 && !signal.aborted; before = countRead()) {
      await nextTurn();
      most = Math.max(most, countRead() - before);
    }
    // Half of 256 for one address, and the rest of what OpenSSL has got of each connection that is read: 16 KiB.
    expect(most).toBeLessThanOrEqual(128 * 27 + 4 * 16 * 1024);
  });
});

/** Passes connections on to a port, and holds back all that a client sends after its first packet. */
async function openHoldingProxy(target: number) {
  const held: ((change: (bytes: Buffer) => Buffer) => void)[] = [];
  let answered = 0;
  const sockets = new Set<Socket>();
  const holds = new EventEmitter();
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    let packets = 0;
    let isReleased = false;
    client.on("data", (bytes) => {
      packets += 1;
      if (packets !== 2) {
        upstream.write(bytes);
        return;
      }
      held.push((change) => {
        isReleased = true;
        upstream.write(change(bytes));
      });
      holds.emit("held");
    });
    upstream.on("data", (bytes) => {
      if (isReleased) answered += 1;
      isReleased = false;
      client.write(bytes);
    });
    for (const socket of [client, upstream]) sockets.add(socket.on("error", () => undefined));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    /** When so many packets are held. */
    async held(count: number) {
      while (held.length < count) await once(holds, "held");
      /** @param change makes of each packet what goes on in its place */
      const release = (change: (bytes: Buffer) => Buffer): void => {
        for (const send of held) send(change);
      };
      return { release, answered: () => answered };
    },
    async [Symbol.asyncDispose](): Promise<void> {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
