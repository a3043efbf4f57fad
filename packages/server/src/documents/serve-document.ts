import type { HttpRequest, HttpResponse } from "@a2a-connect/bindings";
import { negotiateCoding } from "@a2a-connect/bindings/server";
import { sha256Hex } from "@a2a-connect/core/internal";
import { evaluatePreconditions } from "./preconditions.ts";

/** Something that is served as it stands and may be kept for a while, such as the card: its bytes, and what names them. */
export interface Document {
  readonly contentType: string;
  readonly body: Uint8Array<ArrayBuffer>;
  /** SHA-256 of the bytes, in hex: the middle of its entity tags. */
  readonly digest: string;
  /** When it got these bytes, in whole seconds as HTTP dates have them; milliseconds since 1970. */
  readonly modifiedMs: number;
  /** Whether it had other bytes in that same second, so that the date alone does not tell which. */
  readonly sharesSecond: boolean;
  /** The bytes compressed, where that makes them fewer. Compressed once, for the first caller that accepts it. */
  gzipped(): Promise<Uint8Array<ArrayBuffer> | undefined>;
}

/** @param before what was served there until now; with the same text it goes on, and so does its date */
export async function createDocument(
  text: string,
  contentType: string,
  now: number,
  before: Document | undefined,
): Promise<Document> {
  const body = new TextEncoder().encode(text);
  const digest = await sha256Hex(body);
  if (before?.digest === digest) {
    return before;
  }
  const modifiedMs = Math.floor(now / 1_000) * 1_000;
  let compressing: ReturnType<typeof gzip> | undefined;
  return {
    contentType,
    body,
    digest,
    modifiedMs,
    sharesSecond: before?.modifiedMs === modifiedMs,
    gzipped() {
      compressing ??= gzip(body);
      return compressing;
    },
  };
}

async function gzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("gzip"));
  const compressed = new Uint8Array(await new Response(stream).arrayBuffer());
  return compressed.length < bytes.length ? compressed : undefined;
}

/** What a response says beside its document. */
export interface CachePolicy {
  /** How long clients may keep it, in seconds. */
  readonly maxAgeSeconds: number;
  /** Request fields that the document depends on, beside `accept-encoding`. Default none. */
  readonly varyBy?: readonly string[];
}

/**
 * The response to a GET of a document, and to a HEAD before its body is taken off (spec §8.6, RFC 9110 §13): ETag, Last-Modified, Cache-Control; 304 and 412
 * where the request has conditions; compressed where it allows that.
 */
export async function serveDocument(
  { header: asked }: Pick<HttpRequest, "header">,
  document: Document,
  { maxAgeSeconds, varyBy = [] }: CachePolicy,
): Promise<HttpResponse> {
  const coding = negotiateCoding(asked.get("accept-encoding"), [{ name: "gzip" }]);
  const gzipped = coding === undefined ? undefined : await document.gzipped();
  const etag = gzipped === undefined ? `"${document.digest}"` : `"${document.digest}-gzip"`;
  const header = new Headers({
    "cache-control": `public, max-age=${maxAgeSeconds}`,
    etag,
    "last-modified": new Date(document.modifiedMs).toUTCString(),
    vary: ["accept-encoding", ...varyBy].join(", "),
  });
  const condition = evaluatePreconditions(asked, etag, document);
  if (condition === "failed") {
    // It is about this request only: a cache that kept it would hide the document from all callers (RFC 9111 §3).
    header.set("cache-control", "no-store");
    header.delete("last-modified");
    return { status: 412, header };
  }
  if (condition === "unchanged") {
    return { status: 304, header };
  }
  header.set("content-type", document.contentType);
  if (gzipped !== undefined) {
    header.set("content-encoding", "gzip");
  }
  return { status: 200, header, body: gzipped ?? document.body };
}
