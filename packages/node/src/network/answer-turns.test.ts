import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { EventEmitter } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import tls from "node:tls";
import { createSelfSignedCertificate, createTurnCount } from "@a2a-connect/testing";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { AnswerTurns } from "./answer-turns.ts";
import { AnswerWire } from "./answer-wire.ts";
import { createGuardedFetch } from "./guarded-fetch.ts";

const certificate = createSelfSignedCertificate();

async function listening(server: Server | tls.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port; // it listens on TCP
}

/** Resolves when so many calls have come. */
function barrier(count: number): { pass(): Promise<void> } {
  const { promise, resolve } = Promise.withResolvers<void>();
  let left = count;
  return {
    pass() {
      left -= 1;
      if (left === 0) resolve();
      return promise;
    },
  };
}

describe("in a turn of the event loop few answers of one caller's servers are read (N-6)", () => {
  it.each([
    ["of any number that answer at the same moment", 40, 15, 64],
    ["also when they are short", 100, 0, 20],
  ])("%s", async (_, connections, interim, mostInATurn) => {
    const heads = `HTTP/1.1 103 Early Hints\r\n${"a: b\r\n".repeat(160)}\r\n`.repeat(interim);
    const asked = barrier(connections);
    const answer = async (socket: Socket): Promise<void> => {
      socket.on("error", () => {});
      await new Promise((resolve) => socket.once("data", resolve));
      await asked.pass();
      socket.end(`${heads}HTTP/1.1 204 No Content\r\n\r\n`);
    };
    const port = await listening(createServer((socket) => void answer(socket)));
    const parsed = createTurnCount();
    subscribe("undici:request:headers", parsed.count);
    onTestFinished(() => void unsubscribe("undici:request:headers", parsed.count));
    await using guarded = createGuardedFetch({ allow: ["127.0.0.1"] });
    const calls = Array.from({ length: connections }, () =>
      guarded.fetch(`http://127.0.0.1:${port}/`, { method: "POST", body: "x" }, "alice"),
    );
    for (const { status } of await Promise.all(calls)) expect(status).toBe(204);
    expect(parsed.total).toBe((interim + 1) * connections);
    expect(parsed.mostInATurn).toBeLessThanOrEqual(mostInATurn);
  });

  it("after a handshake that takes very long none of the others", async () => {
    const connections = 3;
    const accepted = barrier(connections);
    const server = tls.createServer({
      ...certificate,
      SNICallback: (_, callback) => void accepted.pass().then(() => callback(null)),
    });
    server.on("secureConnection", (socket) => {
      socket.on("error", () => {}).once("data", () => socket.end("HTTP/1.1 204 No Content\r\n\r\n"));
    });
    const port = await listening(server);
    const ended = createTurnCount();
    makeHandshakesLong({ onEnd: ended.count });
    await using guarded = createGuardedFetch({ allow: ["localhost"], ca: certificate.cert });
    const calls = Array.from({ length: connections }, () =>
      guarded.fetch(`https://localhost:${port}/`, { method: "POST", body: "x" }, "alice"),
    );
    for (const { status } of await Promise.all(calls)) expect(status).toBe(204);
    expect(ended).toMatchObject({ total: connections, mostInATurn: 1 });
  });

  it("after a piece of a handshake that takes very long none of the others, and then they go on", async () => {
    const connections = 3;
    const origin = tls.createServer(certificate, (socket) => {
      socket.on("error", () => {}).once("data", () => socket.end("HTTP/1.1 204 No Content\r\n\r\n"));
    });
    const target = await listening(origin);
    const arrived = barrier(connections);
    const worked = Promise.withResolvers<void>();
    const port = await listening(
      createServer((client) => {
        const upstream = connect(target, "127.0.0.1");
        client.on("error", () => {}).pipe(upstream.on("error", () => {}));
        upstream.once("data", async (flight: Buffer) => {
          await arrived.pass();
          client.write(flight.subarray(0, -100));
          await worked.promise;
          client.write(flight.subarray(-100));
          upstream.pipe(client);
        });
      }),
    );
    const pieces = createTurnCount();
    const seen = new WeakSet<AnswerWire>();
    const emit = vi.spyOn(AnswerWire.prototype, "emit").mockImplementation(function (
      this: AnswerWire,
      ...args
    ) {
      if (args[0] === "data" && !seen.has(this)) {
        seen.add(this);
        pieces.count();
        workLong();
        if (pieces.total === connections) worked.resolve();
      }
      return EventEmitter.prototype.emit.apply(this, args);
    });
    onTestFinished(() => emit.mockRestore());
    await using guarded = createGuardedFetch({ allow: ["localhost"], ca: certificate.cert });
    const calls = Array.from({ length: connections }, () =>
      guarded.fetch(`https://localhost:${port}/`, { method: "POST", body: "x" }, "alice"),
    );
    for (const { status } of await Promise.all(calls)) expect(status).toBe(204);
    expect(pieces).toMatchObject({ total: connections, mostInATurn: 1 });
  });

  for (const scheme of ["http", "https"]) {
    it(`a call over ${scheme} fails at once whose connection closes while its caller rests`, async () => {
      makeHandshakesLong({ fails: true });
      const costly = await listening(tls.createServer(certificate));
      const closing = await listening(createServer((socket) => socket.destroy()));
      await using guarded = createGuardedFetch({ allow: ["localhost"], ca: certificate.cert });
      const rests = guarded.fetch(`https://localhost:${costly}/`, { method: "POST", body: "x" }, "alice");
      await expect(rests).rejects.toMatchObject({ cause: { message: "not its name" } });
      const fails = guarded.fetch(`${scheme}://localhost:${closing}/`, { method: "POST" }, "alice");
      const code = expect.stringMatching(/^(UND_ERR_SOCKET|ECONNRESET)$/); // whether it is seen before TLS begins
      await expect(fails).rejects.toMatchObject({ cause: { code } });
    });
  }
});

/** So that the client works for a while in each of them, as OpenSSL does over a long chain of certificates. */
function makeHandshakesLong({ onEnd = () => {}, fails = false }): void {
  const verify = vi.spyOn(tls, "checkServerIdentity").mockImplementation(() => {
    onEnd();
    workLong();
    return fails ? new Error("not its name") : undefined;
  });
  onTestFinished(() => verify.mockRestore());
}

function workLong(): void {
  const until = performance.now() + 60;
  while (performance.now() < until);
}

it.each([
  ["are read on where parsing takes little", 10, 0.1, 0],
  ["are not where it takes long", 1, 100, 1],
])("64 KiB of an answer %s", (_, chunks, tookMs, stopped) => {
  const { turns, socket } = join();
  for (let chunk = 0; chunk < chunks; chunk += 1) turns.countBytes("alice", 64 * 1024, tookMs);
  expect(socket._handle.readStop).toHaveBeenCalledTimes(stopped);
});

it("a few bytes of an answer count as little, however busy the machine is", () => {
  const { turns, socket } = join();
  turns.countBytes("alice", 100, 1_000);
  expect(socket._handle.readStop).not.toHaveBeenCalled();
});

function join() {
  const turns = new AnswerTurns({ answerMs: 0.1 });
  const socket = Object.assign(new EventEmitter(), { _handle: { readStop: vi.fn(), readStart() {} } });
  turns.join("alice", socket as unknown as Socket, () => {});
  onTestFinished(() => void socket.emit("close"));
  return { turns, socket };
}
