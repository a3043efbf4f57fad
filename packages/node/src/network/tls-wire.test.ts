import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { expect, it } from "vitest";
import { TlsWire } from "./tls-wire.ts";

const pieceBytes = 64 * 1024;

/** A connection whose handshake is over, and what its server sends on it: 640 KiB. */
async function openWire(onPiece: (wire: TlsWire) => void) {
  const server = createServer((socket) => send(socket)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  let counted = 0;
  const wire = new TlsWire(socket, (bytes) => {
    counted += bytes;
  });
  wire.handshakeEnded();
  let received = 0;
  wire.on("data", (chunk: Buffer) => {
    received += chunk.length;
    onPiece(wire);
  });
  const outcome = await Promise.race([once(wire, "end"), once(wire, "error").then(([error]) => error)]).catch(
    (error: unknown) => error,
  );
  server.close();
  socket.destroy();
  return { outcome, received, counted };
}

function send(socket: Socket): void {
  socket.on("error", () => undefined);
  for (let piece = 0; piece < 10; piece += 1) socket.write(Buffer.alloc(pieceBytes));
  socket.end();
}

it("bytes of TLS that bring nothing of an answer end the connection after 512 KiB, before OpenSSL has more", async () => {
  const { outcome, received } = await openWire(() => undefined);
  expect(outcome).toMatchObject({
    message: expect.stringMatching(/more than 524288 bytes of TLS, and nothing of an answer/),
  });
  expect(received).toBeLessThanOrEqual(512 * 1024);
});

it("bytes of an answer do not, and all are counted before they are decrypted", async () => {
  const { outcome, received, counted } = await openWire((wire) => wire.answered());
  expect([outcome, received, counted]).toEqual([[], 10 * pieceBytes, 10 * pieceBytes]);
});
