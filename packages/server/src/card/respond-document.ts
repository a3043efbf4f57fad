import { type HttpRequest, type HttpResponse, negotiateCoding } from "@a2a-connect/bindings";
import type { Document } from "./document.ts";
import { formatHttpDate } from "./http-date.ts";
import { evaluatePreconditions } from "./preconditions.ts";

const codings = [{ name: "gzip" }] as const;

/** What a response says beside its document. */
export interface CachePolicy {
  /** How long clients may keep it, in seconds. */
  readonly maxAgeSeconds: number;
  /** Request fields that the document depends on, beside `accept-encoding`. Default none. */
  readonly varyBy?: readonly string[];
}

/**
 * The response to a GET or HEAD of a document (spec §8.6, RFC 9110 §13): ETag, Last-Modified, Cache-Control; 304 and 412
 * where the request has conditions; compressed where it allows that.
 */
export async function respondDocument(
  { header: asked }: Pick<HttpRequest, "header">,
  document: Document,
  { maxAgeSeconds, varyBy = [] }: CachePolicy,
): Promise<HttpResponse> {
  const coding = negotiateCoding(asked.get("accept-encoding"), codings);
  const gzipped = coding === undefined ? undefined : await document.gzipped();
  const etag = gzipped === undefined ? `"${document.digest}"` : `"${document.digest}-gzip"`;
  const header = new Headers({
    "cache-control": `public, max-age=${maxAgeSeconds}`,
    etag,
    "last-modified": formatHttpDate(document.modifiedMs),
    vary: ["accept-encoding", ...varyBy].join(", "),
  });
  const condition = evaluatePreconditions(asked, etag, document);
  if (condition === "failed") {
    // It is about this request only: a cache that kept it would hide the document from everybody (RFC 9111 §3).
    header.set("cache-control", "no-store");
    header.delete("last-modified");
    return { status: 412, header };
  }
  if (condition === "unchanged") {
    return { status: 304, header };
  }
  header.set("content-type", document.contentType);
  if (gzipped === undefined) {
    return { status: 200, header, body: document.body };
  }
  header.set("content-encoding", "gzip");
  return { status: 200, header, body: gzipped };
}
