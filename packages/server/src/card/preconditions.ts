import type { Document } from "./document.ts";
import { parseHttpDate } from "./http-date.ts";

/** What becomes of a conditional GET or HEAD (RFC 9110 §13.2.2); `unchanged`: the tag of what the caller has. */
export type Condition = { readonly unchanged: string } | "failed" | "met";

/** The entity tags of a document: each coding has other bytes, and so a strong tag of its own (RFC 9110 §8.8.3.3). */
export interface EntityTags {
  /** Of what this request would get. */
  readonly selected: string;
  /** Of the others. */
  readonly others: readonly string[];
}

/** One entity tag (RFC 9110 §8.8.3); commas may stand inside. */
const tagPattern = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;

/**
 * Evaluates the preconditions of a request. A tag of either coding counts as this document's, because what the caller has is
 * as new in one as in the other. Dates that are none are ignored.
 */
export function evaluatePreconditions(
  header: Headers,
  tags: EntityTags,
  document: Pick<Document, "modifiedMs" | "sharesSecond">,
): Condition {
  return isStale(header, tags, document) ? "failed" : (findUnchanged(header, tags, document) ?? "met");
}

/** If-Match, else If-Unmodified-Since. */
function isStale(
  header: Headers,
  { selected, others }: EntityTags,
  { modifiedMs }: Pick<Document, "modifiedMs">,
): boolean {
  const match = header.get("if-match");
  if (match !== null) {
    const listed: readonly string[] = match.match(tagPattern) ?? [];
    // A weak tag never matches here (RFC 9110 §13.1.1).
    return match.trim() !== "*" && ![selected, ...others].some((tag) => listed.includes(tag));
  }
  const unmodifiedSince = parseHttpDate(header.get("if-unmodified-since") ?? "");
  return unmodifiedSince !== undefined && modifiedMs > unmodifiedSince;
}

/** If-None-Match, else If-Modified-Since. */
function findUnchanged(
  header: Headers,
  { selected, others }: EntityTags,
  { modifiedMs, sharesSecond }: Pick<Document, "modifiedMs" | "sharesSecond">,
): Condition | undefined {
  const noneMatch = header.get("if-none-match");
  if (noneMatch !== null) {
    const listed = (noneMatch.match(tagPattern) ?? []).map((tag) => tag.replace(/^W\//, ""));
    const unchanged =
      noneMatch.trim() === "*" ? selected : [selected, ...others].find((tag) => listed.includes(tag));
    return unchanged === undefined ? undefined : { unchanged };
  }
  const since = parseHttpDate(header.get("if-modified-since") ?? "");
  const isUnchanged = since !== undefined && (sharesSecond ? since > modifiedMs : since >= modifiedMs);
  return isUnchanged ? { unchanged: selected } : undefined;
}
