import { invalidParams } from "@a2a-connect/core";
import { refuseQuery } from "@a2a-connect/core/internal";
import type { ConnectError } from "@connectrpc/connect";

/** The parts of a URL that choose an operation and carry its parameters. */
export interface Target {
  /** Percent-encoded, with a leading slash. */
  readonly path: string;
  /** Empty when it has too many parameters; with replacement characters where its escapes are not UTF-8. */
  readonly query: URLSearchParams;
  /** Why the query is refused; undefined when it is not. */
  readonly queryFault: ConnectError | undefined;
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
    return { path: url.slice(from, fragment), query: noQuery, queryFault: undefined };
  }
  const text = url.slice(question + 1, fragment);
  const path = url.slice(from, question);
  const queryFault = refuseQuery(text);
  if (queryFault !== undefined) return { path, query: noQuery, queryFault };
  const notUtf8 = { field: "", description: "the query is not valid UTF-8" };
  return {
    path,
    query: new URLSearchParams(text),
    queryFault: isUtf8(text) ? undefined : invalidParams(notUtf8),
  };
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
