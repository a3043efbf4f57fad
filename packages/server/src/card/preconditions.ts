/** What becomes of a conditional GET or HEAD (RFC 9110 §13.2.2). */
export type Condition = "unchanged" | "failed" | "met";

/** What a date of a request is compared with; `sharesSecond`: other bytes were there in that same second. */
interface Dated {
  readonly modifiedMs: number;
  readonly sharesSecond: boolean;
}

/** A list of entity tags (RFC 9110 §8.8.3); commas may stand inside, and entries may be empty (§5.6.1). */
const tag = String.raw`(?:W/)?"[\x21\x23-\x7e\x80-\xff]*"`;
const tagPattern = new RegExp(tag, "g");
const listPattern = new RegExp(String.raw`^(?:[\t ,]*${tag}[\t ]*(?=,|$))+[\t ,]*$`);

/**
 * Evaluates the preconditions of a request. Lists that are malformed list nothing, and dates that are none are ignored.
 *
 * @param selected the tag of what this request would get: each coding has other bytes, and so a tag of its own; a caller with another tag
 *   cannot use it here (RFC 9110 §8.8.3.3)
 */
export function evaluatePreconditions(header: Headers, selected: string, document: Dated): Condition {
  if (isStale(header, selected, document)) {
    return "failed";
  }
  return isUnchanged(header, selected, document) ? "unchanged" : "met";
}

/** If-Match, else If-Unmodified-Since. */
function isStale(header: Headers, selected: string, { modifiedMs }: Dated): boolean {
  const match = header.get("if-match");
  if (match !== null) {
    // A weak tag never matches here (RFC 9110 §13.1.1).
    return match.trim() !== "*" && !readTags(match).includes(selected);
  }
  const unmodifiedSince = parseHttpDate(header.get("if-unmodified-since") ?? "");
  return unmodifiedSince !== undefined && modifiedMs > unmodifiedSince;
}

/** If-None-Match, else If-Modified-Since. */
function isUnchanged(header: Headers, selected: string, { modifiedMs, sharesSecond }: Dated): boolean {
  const noneMatch = header.get("if-none-match");
  if (noneMatch !== null) {
    const listed = readTags(noneMatch).map((each) => each.replace(/^W\//, ""));
    return noneMatch.trim() === "*" || listed.includes(selected);
  }
  const since = parseHttpDate(header.get("if-modified-since") ?? "");
  return since !== undefined && (sharesSecond ? since > modifiedMs : since >= modifiedMs);
}

function readTags(list: string): readonly string[] {
  return listPattern.test(list) ? (list.match(tagPattern) ?? []) : [];
}

/**
 * Milliseconds since 1970 of an HTTP date such as `Sun, 06 Nov 1994 08:49:37 GMT`, which is what servers write (RFC 9110 §5.6.7);
 * undefined for everything else, the two obsolete forms, too.
 */
export function parseHttpDate(text: string): number | undefined {
  const at = Date.parse(text);
  return !Number.isNaN(at) && new Date(at).toUTCString() === text ? at : undefined;
}
