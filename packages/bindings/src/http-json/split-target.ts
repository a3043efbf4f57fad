/** The parts of a URL that choose an operation and carry its parameters. */
export interface Target {
  /** Percent-encoded, with a leading slash. */
  readonly path: string;
  readonly query: URLSearchParams;
}

const noQuery = new URLSearchParams();

/**
 * Split an absolute URL as it came, without resolving dot segments: what a proxy in front of us let through is what we
 * route.
 */
export function splitTarget(url: string): Target {
  const authority = url.indexOf("://");
  const from = authority === -1 ? 0 : indexOrEnd(url, "/", authority + 3);
  const fragment = indexOrEnd(url, "#", from);
  const question = url.indexOf("?", from);
  if (question === -1 || question > fragment) {
    return { path: url.slice(from, fragment), query: noQuery };
  }
  return {
    path: url.slice(from, question),
    query: new URLSearchParams(url.slice(question + 1, fragment)),
  };
}

function indexOrEnd(text: string, mark: string, from: number): number {
  const index = text.indexOf(mark, from);
  return index === -1 ? text.length : index;
}
