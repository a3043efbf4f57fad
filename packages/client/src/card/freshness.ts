/** What a response says about how long it holds (RFC 9111). */
export interface Freshness {
  /** When it has to be asked for again, in milliseconds since the epoch. */
  readonly freshUntilMs: number;
  /** Whether it may be kept to be confirmed later: not with `no-store`. */
  readonly storable: boolean;
}

/** Longest lifetime that is believed: a mistyped one would hold for the life of the process. */
const maxLifetimeMs = 30 * 24 * 60 * 60 * 1_000;

/**
 * How long a response holds: by `max-age`, else by `Expires`, less what it had spent in caches; by `defaultTtlMs` when it says
 * nothing. `no-cache` and `no-store` mean not at all, and so does a `max-age` that is no number.
 *
 * @param requestedAtMs when it was asked for: the answer may be as old as that
 */
export function readFreshness(headers: Headers, requestedAtMs: number, defaultTtlMs: number): Freshness {
  const directives = parseDirectives(headers.get("cache-control") ?? "");
  const storable = !directives.has("no-store");
  const lifetimeMs =
    !storable || directives.has("no-cache") ? 0 : (statedLifetimeMs(headers, directives) ?? defaultTtlMs);
  const ageMs = parseSeconds(headers.get("age") ?? "") ?? 0;
  return { freshUntilMs: requestedAtMs + Math.min(maxLifetimeMs, lifetimeMs) - ageMs, storable };
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

/** Whole seconds as milliseconds; undefined when the text is none. */
function parseSeconds(text: string): number | undefined {
  return /^\d{1,10}$/.test(text) ? Number(text) * 1_000 : undefined;
}

/** By lower-case name; the first of a name counts. */
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
