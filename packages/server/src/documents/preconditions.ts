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

/** `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994` (RFC 9110 §5.6.7) */
const datePatterns = [
  /^[a-z]{3,9}, \d{2}[ -][a-z]{3}[ -](?:\d{4}|\d{2}) \d{2}:\d{2}:\d{2} GMT$/i,
  /^[a-z]{3} [a-z]{3} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/i,
] as const;

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

/** Milliseconds since 1970 of an HTTP date; undefined for everything else, which `Date.parse` would take for some time or other. */
export function parseHttpDate(text: string): number | undefined {
  const [dayFirst, monthFirst] = datePatterns.map((pattern) => pattern.test(text));
  const at = dayFirst ? Date.parse(text) : monthFirst ? Date.parse(`${text} GMT`) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}
