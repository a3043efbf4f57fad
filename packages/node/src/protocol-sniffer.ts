import type { Socket } from "node:net";

/** The protocol of a connection. */
export type Protocol = "http/1.1" | "h2";

/** The first bytes of every HTTP/2 connection (RFC 9113 §3.4). */
const preface = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "latin1");

/**
 * Reads the first bytes of a cleartext connection and decides its protocol. Everything but the whole HTTP/2 preface is
 * HTTP/1.1, whose parser refuses other bytes. The bytes are put back before `decided` is called.
 *
 * A connection that stays undecided for `timeoutMs`, fails or ends is closed, and `decided` is never called for it.
 */
export function sniffProtocol(
  socket: Socket,
  timeoutMs: number,
  decided: (protocol: Protocol) => void,
): void {
  let held: Buffer = Buffer.alloc(0);
  const giveUp = (): void => {
    stop();
    socket.destroy();
  };
  const timer = setTimeout(giveUp, timeoutMs).unref();
  const onReadable = (): void => {
    const bytes: Buffer | null = socket.read();
    if (bytes === null) return;
    held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
    const seen = Math.min(held.length, preface.length);
    const isPrefix = preface.compare(held, 0, seen, 0, seen) === 0;
    // Still ambiguous: keep the bytes here. To put them back would fire "readable" again at once, for ever.
    if (isPrefix && seen < preface.length) return;
    stop();
    socket.unshift(held);
    decided(isPrefix ? "h2" : "http/1.1");
  };
  const stop = (): void => {
    clearTimeout(timer);
    socket.off("readable", onReadable).off("end", giveUp).off("error", giveUp).off("close", giveUp);
  };
  socket.on("readable", onReadable).on("end", giveUp).on("error", giveUp).on("close", giveUp);
}
