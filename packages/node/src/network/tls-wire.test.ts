import { EventEmitter, once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { AnswerWire } from "./answer-wire.ts";
import { TlsWire } from "./tls-wire.ts";

/** A record of TLS. */
function formatRecord(type: "change of keys" | "handshake" | "encrypted", length: number): Buffer {
  const number = { "change of keys": 20, handshake: 22, encrypted: 23 }[type];
  return Buffer.concat([Buffer.of(number, 3, 3, length >> 8, length & 0xff), Buffer.alloc(length)]);
}

interface Wire {
  /** What the server sends, before it closes the connection. */
  readonly sent: readonly Buffer[];
  readonly isOver?: boolean;
  /** Whether all brings something of an answer. */
  readonly isAnswer?: boolean;
}

/** What TLS gets of a connection, and the error that ends it. */
async function readWire({ sent, isOver = true, isAnswer = false }: Wire) {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    for (const each of sent) socket.write(each);
    socket.end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const result = { received: 0, counted: 0, error: "" };
  const count = (bytes: number): void => {
    result.counted += bytes;
  };
  const wire = new TlsWire(connect(port, "127.0.0.1"), count, () => {});
  let bytesRead = 0;
  const decrypted = {
    get bytesRead() {
      return bytesRead;
    },
  };
  if (isOver) wire.handshakeEnded(decrypted);
  wire.on("error", ({ message }) => {
    result.error = message;
  });
  wire.on("data", (chunk: Buffer) => {
    result.received += chunk.length;
    if (isAnswer) bytesRead += 1;
  });
  wire.resume();
  await new Promise((resolve) => wire.once("close", resolve).once("end", resolve));
  wire.destroy();
  server.close();
  return result;
}

const many = Array.from({ length: 600 }, () => formatRecord("encrypted", 1_000));

it("bytes of TLS that bring nothing of an answer end the connection after 512 KiB, before OpenSSL has more", async () => {
  const { received, error } = await readWire({ sent: many });
  expect(error).toMatch(/more than 524288 bytes of TLS, and nothing of an answer/);
  expect(received).toBeLessThanOrEqual(512 * 1024);
});

it("bytes of an answer do not, and all are counted", async () => {
  const all = 600 * 1_005;
  expect(await readWire({ sent: many, isAnswer: true })).toEqual({ received: all, counted: all, error: "" });
});

it("each piece of a handshake has taken what OpenSSL worked on it, and not what the process did behind it", () => {
  let nowMs = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  onTestFinished(() => clock.mockRestore());
  const socket = new EventEmitter() as Socket;
  socket.pause = () => socket;
  const pieces: number[] = [];
  const wire = new TlsWire(
    socket,
    () => expect.unreachable(),
    (tookMs) => void pieces.push(tookMs),
  );
  const seen: number[] = [];
  wire.on("data", (chunk: Buffer) => {
    nowMs += 30;
    if (chunk.length === formatRecord("handshake", 3).length) wire.handshakeEnded({ bytesRead: 0 });
    seen.push(pieces.length);
    nowMs += 7; // once it has ended this is for the call that waits for the connection
  });
  for (const piece of [1, 2, 3]) {
    nowMs += 500;
    socket.emit("data", formatRecord("handshake", piece));
  }
  expect({ pieces, seen }).toEqual({ pieces: [37, 37, 30], seen: [0, 1, 3] });
});

it("what parsing takes counts as that, also in the ticks behind it", async () => {
  let nowMs = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  onTestFinished(() => clock.mockRestore());
  const socket = new EventEmitter() as Socket;
  socket.pause = () => socket;
  const counted = vi.fn();
  const wire = new AnswerWire(socket, counted);
  wire.on("data", () => {
    nowMs += 3;
    process.nextTick(() => {
      nowMs += 4;
    });
  });
  nowMs += 500;
  socket.emit("data", Buffer.alloc(100));
  await nextTurn();
  expect(counted.mock.calls).toEqual([[100, 7]]);
});

it("an answer that is not read yet waits on the other side", async () => {
  const server = createServer((socket) => {
    socket.on("error", () => undefined).write(Buffer.concat(many));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo; // it listens on TCP
  const socket = connect(port, "127.0.0.1");
  let counted = 0;
  const count = (bytes: number): void => {
    counted += bytes;
  };
  const wire = new TlsWire(socket, count, () => {});
  wire.handshakeEnded({ bytesRead: 0 });
  wire.on("data", () => wire.pause()).resume();
  await once(socket, "pause");
  expect(counted).toBeLessThanOrEqual(64 * 1024);
  wire.destroy();
  server.close();
});

const last = [
  formatRecord("handshake", 90),
  formatRecord("change of keys", 1),
  formatRecord("handshake", 40),
];

it.each<readonly [what: string, sent: readonly Buffer[], error: string]>([
  ["another handshake", [...last, formatRecord("handshake", 4)], "another handshake"],
  [
    "many with the end of the first",
    [...last.slice(0, 2), formatRecord("handshake", 16_000)],
    "another handshake",
  ],
  ["no other", [...last, formatRecord("encrypted", 100)], ""],
])("a server that asks for %s, in pieces of one byte or at once", async (_, sent, error) => {
  const whole = Buffer.concat(sent);
  for (const isOver of [true, false]) {
    for (const pieces of [
      [whole],
      [...whole.subarray(0, 200)].map((byte) => Buffer.of(byte)).concat(whole.subarray(200)),
    ]) {
      expect((await readWire({ sent: pieces, isOver })).error).toContain(error);
    }
  }
});
