import { sha256Hex } from "@a2a-connect/core/internal";
import type { AuthGate, Caller, Credentials, Verdict } from "../gate.ts";
import { defaultScopes } from "../policy.ts";

/** One API key: what is kept of it, and for whom it is. */
export interface ApiKey {
  /** What `hashApiKey` made of the key: `sha256:` and 64 hex digits. The key itself is kept nowhere. */
  readonly hash: string;
  /** Default: those that every call needs. */
  readonly scopes?: readonly string[];
  /** Default: the request may name any. */
  readonly tenant?: string;
}

/** Where the key is, and which keys count. */
export interface ApiKeyOptions {
  /** The name of the header field, the query parameter or the cookie that has the key. One of the three. */
  readonly header?: string;
  readonly query?: string;
  readonly cookie?: string;
  /**
   * The keys by the names of their callers. A function is called for every request: its keys may change. All of them are read when
   * it returns another object than before, so it should return the same one while they are the same.
   */
  readonly keys: Readonly<Record<string, ApiKey>> | (() => Readonly<Record<string, ApiKey>>);
}

/** The longest key that is looked at, in characters. */
const maxKeyLength = 1024;

/** A key as it is kept. Keys must be random, with at least 128 bits: a hash does not protect words. */
export async function hashApiKey(key: string): Promise<string> {
  return `sha256:${await sha256Hex(key)}`;
}

/**
 * A gate for API keys. The principal is `key:NAME`. A query parameter shows up in logs of proxies, and gRPC has no
 * query: prefer a header.
 *
 * @throws Error when a hash is malformed, or not exactly one place is named
 */
export function apiKey(options: ApiKeyOptions): AuthGate {
  const { location, name } = placeOf(options);
  const read = readers[location];
  const { keys } = options;
  let source = typeof keys === "function" ? {} : keys;
  let callers = parseKeys(source);
  const current = (): Callers => {
    const now = typeof keys === "function" ? keys() : keys;
    if (now !== source) {
      callers = parseKeys(now);
      source = now;
    }
    return callers;
  };
  return {
    scheme: { scheme: { case: "apiKeySecurityScheme", value: { location, name } } },
    challenge: { scheme: "ApiKey", params: { in: location, name } },
    hasScopes: false,
    verify(credentials) {
      const key = read(credentials, name);
      if (key === undefined) return undefined;
      if (typeof key !== "string") return { refused: "the request has more than one API key" };
      if (key.length > maxKeyLength)
        return { refused: `the API key is longer than ${maxKeyLength} characters` };
      return findCaller(key, current());
    },
  };
}

/** The callers by the hashes of their keys. */
type Callers = ReadonlyMap<string, Caller>;

/** The time of the look-up tells something of hashes at most, and so nothing of a key that counts. */
async function findCaller(key: string, callers: Callers): Promise<Verdict> {
  return callers.get(await hashApiKey(key)) ?? { refused: "the API key is unknown" };
}

function parseKeys(keys: Readonly<Record<string, ApiKey>>): Callers {
  return new Map(
    Object.entries(keys).map(([name, { hash, scopes, tenant }]) => {
      if (!/^sha256:[\da-f]{64}$/.test(hash)) {
        throw new Error(`the hash of the API key ${JSON.stringify(name)} is not what hashApiKey returns`);
      }
      return [hash, { principal: `key:${name}`, scopes: scopes ?? defaultScopes, claims: {}, tenant }];
    }),
  );
}

type Location = "header" | "query" | "cookie";

function placeOf(options: ApiKeyOptions): { readonly location: Location; readonly name: string } {
  const places = (["header", "query", "cookie"] as const).flatMap((location) => {
    const name = options[location];
    return name === undefined || name === "" ? [] : [{ location, name }];
  });
  const [place] = places;
  if (place === undefined || places.length > 1) {
    throw new Error("an API key is in one place: name a header, a query parameter or a cookie");
  }
  return place;
}

/** Several values are an error, and no choice between them. */
type Read = (credentials: Credentials, name: string) => string | readonly string[] | undefined;

const readers: Readonly<Record<Location, Read>> = {
  header: (credentials, name) =>
    credentials.countFields(name) > 1 ? [] : (credentials.header.get(name) ?? undefined),
  query: ({ url }, name) => {
    const start = url.indexOf("?");
    return start === -1 ? undefined : only(new URLSearchParams(url.slice(start)).getAll(name));
  },
  cookie: ({ header }, name) => only(readCookies(header.get("cookie") ?? "", name)),
};

function only(values: readonly string[]): string | readonly string[] | undefined {
  return values.length > 1 ? values : values[0];
}

/** Looks at each pair where it stands: a field of 16 KiB may have as many pairs as bytes. */
function readCookies(field: string, name: string): readonly string[] {
  const values: string[] = [];
  for (let start = 0; start < field.length && values.length < 2; ) {
    const semicolon = field.indexOf(";", start);
    const end = semicolon === -1 ? field.length : semicolon;
    let at = start;
    while (field[at] === " " || field[at] === "\t") at += 1;
    if (field.startsWith(name, at)) {
      const rest = field.slice(at + name.length, end).trim();
      if (rest === "" || rest.startsWith("=")) values.push(decodeCookie(rest.slice(1).trim()));
    }
    start = end + 1;
  }
  return values;
}

function decodeCookie(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
