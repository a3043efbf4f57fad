import { constants, type ServerHttp2Session } from "node:http2";
import { setImmediate } from "node:timers";
import type { Holding } from "@a2a-connect/core/internal";
import { holdHeader, placeBytes } from "./callers/places.ts";
import type { PeerQuestions } from "./http2-ask.ts";

/** What Node keeps of a header that has not ended; beyond that it resets the stream. */
const maxKeptBytes = 64 * 1024;

/** How often what has come is looked at, in milliseconds. */
const lookEveryMs = 1_000;

/** How long a peer may take to answer while there are no places for what it has sent, in milliseconds. */
const crowdedMs = 3_000;

/** How much longer then, for what it may have to read first: it may also have read all of that, and not say so. */
const maxCrowdedDelayMs = 20_000;

/**
 * Takes places for what a session may have of a header that has not ended, and destroys it when there are none for a moment, or when that
 * takes longer than `timeoutMs`. Node keeps the fields of such a header, and tells nothing of it.
 *
 * But before its end no other frame comes (RFC 9113 §6.10). So all bytes before the packet of another frame, and those of the frame, belong
 * to no such header. What else came with that frame or after it may, from 4 KiB on: then the peer is asked for one more frame
 * (`PeerQuestions`), and may take longer when it gets that question late, behind what it has to read.
 *
 * @param parsed what the parser has got of the connection
 * @param header what counts its places
 * @returns call it when a frame has come, in the turn in which it was read, with its length, about
 */
export function watchHeader(
  session: ServerHttp2Session,
  parsed: { readonly bytesRead: number },
  header: Holding,
  timeoutMs: number,
  questions: PeerQuestions,
): (length: number) => void {
  /** Bytes that belong to no header that has not ended. */
  let settled = 0;
  /** All bytes that had come at the last frame, or at the last look. */
  let seen = 0;
  let isAsked = false;
  /** When there may have been a header first, without another frame since then. */
  let sinceMs: number | undefined;
  /** How much later the answer to the question of that moment may come. */
  let delayMs = 0;

  const noteFrame = (length: number): void => {
    if (session.destroyed) return;
    const { bytesRead } = parsed;
    sinceMs = undefined;
    holdHeader(header, 0); // a header that is complete takes its own
    if (bytesRead !== seen) settled = seen; // it is the first of its packet
    settled = Math.min(settled + length, bytesRead);
    seen = bytesRead;
  };

  const look = (): void => {
    if (session.destroyed) return;
    seen = parsed.bytesRead;
    const bytes = Math.min(seen - settled, maxKeptBytes);
    const hasPlaces = holdHeader(header, bytes);
    if (bytes < placeBytes) return;
    const now = performance.now();
    const patienceMs = hasPlaces ? timeoutMs : crowdedMs; // 0: without end
    const longerMs = hasPlaces ? delayMs : Math.min(delayMs, maxCrowdedDelayMs);
    const isOver = sinceMs !== undefined && patienceMs > 0 && now - sinceMs >= patienceMs + longerMs;
    if (isOver) {
      setImmediate(end); // the process may have been busy, and what came meanwhile has not been read
      return;
    }
    if (sinceMs === undefined) {
      sinceMs = now;
      delayMs = questions.delayMs;
    }
    if (isAsked) return;
    isAsked = questions.ask(() => {
      isAsked = false;
      noteFrame(0);
    });
  };

  const end = (): void => {
    if (session.destroyed || sinceMs === undefined) return;
    session.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.destroy();
  };

  const timer = setInterval(look, lookEveryMs).unref();
  session.once("close", () => {
    clearInterval(timer);
    header.end();
  });
  return noteFrame;
}
