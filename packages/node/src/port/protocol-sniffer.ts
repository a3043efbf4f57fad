import type { Socket } from "node:net";
import type { CallerConnection } from "./callers/callers.ts";

/** The protocol of a connection. */
export type Protocol = "http/1.1" | "h2";

/** The first bytes of every HTTP/2 connection (RFC 9113 §3.4). */
const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

/** How the first bytes of a connection are read. */
export interface FirstReads {
  /** Reads it in turns while it is not known what it is. */
  readonly connection: Pick<CallerConnection, "joinUndecided" | "countUndecided" | "leave">;
  /** Whether its other end is a trusted proxy. */
  readonly isProxy: boolean;
  /** A connection that is undecided for longer is closed. */
  readonly timeoutMs: number;
}

/** Decides the protocol of a cleartext connection: everything but the whole HTTP/2 preface is HTTP/1.1, whose parser refuses other bytes. */
export function sniffProtocol(
  socket: Socket,
  reads: FirstReads,
  decided: (protocol: Protocol) => void,
): void {
  readFirstBytes(socket, reads, findProtocol, decided);
}

function findProtocol(bytes: Buffer): Protocol | undefined {
  const seen = Math.min(bytes.length, preface.length);
  const isPrefix = preface.compare(bytes, 0, seen, 0, seen) === 0;
  if (isPrefix && seen < preface.length) return undefined;
  return isPrefix ? "h2" : "http/1.1";
}

/** Waits for the whole ClientHello of TLS, or for what is none: with it the handshake costs the server a signature. */
export function awaitHello(socket: Socket, reads: FirstReads, arrived: () => void): void {
  readFirstBytes(socket, reads, createHelloFinder(), arrived);
}

/** Longer than any client's; OpenSSL would take 128 KiB. */
const maxHelloBytes = 16 * 1024;

/** Type of the records that carry a handshake (RFC 8446 §5.1). */
const handshakeRecord = 22;

/** Type, version and length of a record. */
const recordHeadBytes = 5;

/**
 * @returns a function that tells whether these first bytes of a connection contain the whole ClientHello. It goes on with the record
 *   where it stopped: a hello may have thousands of them, and come a byte at a time.
 */
function createHelloFinder(): (bytes: Buffer) => boolean | undefined {
  const head: number[] = []; // type and length of the message, which may come in several records
  let at = 0;
  let length = Number.POSITIVE_INFINITY; // of the message
  let taken = 0;
  return (bytes) => {
    while (at + recordHeadBytes <= bytes.length) {
      if (bytes[at] !== handshakeRecord) return true; // OpenSSL answers it with an alert
      const start = at + recordHeadBytes;
      const end = start + bytes.readUInt16BE(at + 3);
      if (end === start) return false; // RFC 8446 §5.1: none is empty
      if (end > bytes.length) break;
      taken += end - start;
      if (head.length < 4) {
        head.push(...bytes.subarray(start, Math.min(end, start + 4 - head.length)));
        if (head.length === 4) length = 4 + Buffer.from(head).readUIntBE(1, 3);
      }
      if (taken >= length) return true;
      at = end;
    }
    return bytes.length > maxHelloBytes ? false : undefined;
  };
}

/**
 * Reads the first bytes of a connection until `find` says what they are. The bytes are put back before `found` is
 * called.
 *
 * A connection that stays undecided for too long, is refused (`false`), fails or ends is closed, and `found` is never
 * called for it. Most tell what they are with their first packet; the others are read in turns from there on, because thousands may send
 * a byte at a time.
 */
function readFirstBytes<Kind extends string | true>(
  socket: Socket,
  { connection, isProxy, timeoutMs }: FirstReads,
  find: (bytes: Buffer) => Kind | false | undefined,
  found: (kind: Kind) => void,
): void {
  let held: Buffer | undefined;
  let room: Buffer = Buffer.alloc(0); // for further pieces: thousands of a byte each are not joined anew each time
  const giveUp = (): void => {
    stop();
    socket.destroy();
  };
  const timer = setTimeout(giveUp, timeoutMs).unref();
  const onReadable = (): void => {
    const bytes: Buffer | null = socket.read();
    if (bytes === null) return;
    const before = held;
    if (before === undefined) held = bytes;
    else {
      const length = before.length + bytes.length;
      if (length > room.length) {
        room = Buffer.allocUnsafeSlow(Math.max(length, Math.min(2 * length, maxHelloBytes)));
        before.copy(room);
      }
      bytes.copy(room, before.length);
      held = room.subarray(0, length);
    }
    const kind = find(held);
    // Still ambiguous: keep the bytes here. To put them back would fire "readable" again at once, for ever.
    if (kind === undefined) {
      if (before === undefined) connection.joinUndecided(socket, isProxy);
      connection.countUndecided();
      return;
    }
    if (kind === false) {
      giveUp();
      return;
    }
    stop();
    socket.unshift(held);
    found(kind);
  };
  const stop = (): void => {
    clearTimeout(timer);
    connection.leave(socket);
    socket.off("readable", onReadable).off("end", giveUp).off("error", giveUp).off("close", giveUp);
  };
  socket.on("readable", onReadable).on("end", giveUp).on("error", giveUp).on("close", giveUp);
}
