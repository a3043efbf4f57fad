/** How long a response is fresh (RFC 9111). */
export interface Freshness {
  /** When it must be fetched again, in milliseconds since the epoch. */
  readonly freshUntilMs: number;
  /** Whether it may be kept and confirmed later: not with `no-store`. */
  readonly storable: boolean;
}

const dayMs = 24 * 60 * 60 * 1_000;

/** Longest lifetime that is used, 30 days: a mistyped one would last as long as the process. */
export const longestLifetimeMs: number = 30 * dayMs;

/**
 * The same for a card that must be trusted, and for key sets, 24 hours. No signature covers the headers, so an attacker who
 * relays an old card could otherwise have it cached as long as he likes; and a revoked key would go on to count.
 */
export const longestVerifiedLifetimeMs: number = dayMs;

/**
 * How long a response is fresh: by `max-age`, else by `Expires`, less its time in other caches; by `defaultTtlMs`
 * without either. With `no-cache`, `no-store` or a malformed `max-age` it is never fresh.
 *
 * @param requestedAtMs when it was requested: the response may be as old as that
 * @param longestMs the longest lifetime that is used, the default one included
 */
export function readFreshness(
  headers: Headers,
  requestedAtMs: number,
  defaultTtlMs: number,
  longestMs: number = longestLifetimeMs,
): Freshness {
  const directives = parseDirectives(headers.get("cache-control") ?? "");
  const storable = !directives.has("no-store");
  const lifetimeMs =
    !storable || directives.has("no-cache") ? 0 : (statedLifetimeMs(headers, directives) ?? defaultTtlMs);
  const ageMs = parseSeconds(headers.get("age") ?? "") ?? 0;
  return { freshUntilMs: requestedAtMs + Math.min(longestMs, lifetimeMs) - ageMs, storable };
}

function statedLifetimeMs(headers: Headers, directives: ReadonlyMap<string, string>): number | undefined {
  const maxAge = directives.get("max-age");
  if (maxAge !== undefined) {
    return parseSeconds(maxAge) ?? 0;
  }
  const expires = headers.get("expires");
  if (expires === null) {
    return undefined;
  }
  const lifetimeMs = Date.parse(expires) - Date.parse(headers.get("date") ?? "");
  return Number.isNaN(lifetimeMs) ? 0 : Math.max(0, lifetimeMs);
}

/** Whole seconds as milliseconds; undefined when the text is malformed. */
function parseSeconds(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) ? Number(text) * 1_000 : undefined;
}

/** By lower-case name; the first of several counts. */
function parseDirectives(value: string): ReadonlyMap<string, string> {
  const directives = new Map<string, string>();
  for (const directive of value.split(",")) {
    const [name = "", argument = ""] = directive.split("=");
    const key = name.trim().toLowerCase();
    if (!directives.has(key)) {
      directives.set(key, argument.trim().replace(/^"(.*)"$/, "$1"));
    }
  }
  return directives;
}
