/** The parts of a URL that choose an operation and carry its parameters. */
export interface Target {
  /** Percent-encoded, with a leading slash. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** Whether the query's escapes are UTF-8. In `query` replacement characters stand for those that are not. */
  readonly queryIsUtf8: boolean;
}

const noQuery = new URLSearchParams();

/**
 * Splits an absolute URL without resolving dot segments: the server routes the same path that a proxy in front of it
 * has checked.
 */
export function splitTarget(url: string): Target {
  const authority = url.indexOf("://");
  const from = authority === -1 ? 0 : indexOrEnd(url, "/", authority + 3);
  const fragment = indexOrEnd(url, "#", from);
  const question = url.indexOf("?", from);
  if (question === -1 || question > fragment) {
    return { path: url.slice(from, fragment), query: noQuery, queryIsUtf8: true };
  }
  const text = url.slice(question + 1, fragment);
  return { path: url.slice(from, question), query: new URLSearchParams(text), queryIsUtf8: isUtf8(text) };
}

/** For URLSearchParams a percent sign that begins no escape is an ordinary character, and so it is here. */
function isUtf8(text: string): boolean {
  try {
    decodeURIComponent(text.replaceAll(/%(?![\dA-Fa-f]{2})/g, ""));
    return true;
  } catch {
    return false;
  }
}

function indexOrEnd(text: string, mark: string, from: number): number {
  const index = text.indexOf(mark, from);
  return index === -1 ? text.length : index;
}
