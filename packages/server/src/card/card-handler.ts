import type { HttpHandler, HttpRequest } from "@a2a-connect/bindings";
import { formatMessage } from "@a2a-connect/core";
import { type AgentCard, AgentCardSchema } from "@a2a-connect/proto";
import type { Clock } from "../engine/clock.ts";
import type { CardSource } from "./card-source.ts";

interface Rendered {
  readonly body: Uint8Array;
  readonly etag: string;
  /** Whole seconds, as HTTP dates are. */
  readonly modifiedMs: number;
}

/**
 * Serves the public card (spec §8.2, §8.6): GET and HEAD, ETag by content, Last-Modified, Cache-Control, 304. Needs no
 * version header (requirement F-9).
 *
 * @param maxAgeSeconds how long clients may keep it
 */
export function createCardHandler(
  cards: CardSource,
  clock: Pick<Clock, "now">,
  maxAgeSeconds: number,
): HttpHandler {
  let rendered: Promise<Rendered> | undefined;
  let of: AgentCard | undefined;
  return async (request) => {
    if (of !== cards.card || rendered === undefined) {
      of = cards.card;
      rendered = render(of, clock.now());
    }
    const { body, etag, modifiedMs } = await rendered;
    const header = new Headers({
      "cache-control": `public, max-age=${maxAgeSeconds}`,
      etag,
      "last-modified": new Date(modifiedMs).toUTCString(),
    });
    if (isFresh(request, etag, modifiedMs)) {
      return { status: 304, header };
    }
    header.set("content-type", "application/json");
    return { status: 200, header, body };
  };
}

async function render(card: AgentCard, now: number): Promise<Rendered> {
  const body = new TextEncoder().encode(JSON.stringify(formatMessage(AgentCardSchema, card)));
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
  const etag = Array.from(digest.subarray(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
  return { body, etag: `"${etag}"`, modifiedMs: Math.floor(now / 1_000) * 1_000 };
}

/** RFC 9110 §13.2.2: If-None-Match decides when it is there, else If-Modified-Since. */
function isFresh({ header }: HttpRequest, etag: string, modifiedMs: number): boolean {
  const noneMatch = header.get("if-none-match");
  if (noneMatch !== null) {
    return noneMatch.split(",").some((candidate) => ["*", etag, `W/${etag}`].includes(candidate.trim()));
  }
  const since = Date.parse(header.get("if-modified-since") ?? "");
  return !Number.isNaN(since) && modifiedMs <= since;
}
