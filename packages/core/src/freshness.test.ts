import { describe, expect, it } from "vitest";
import { longestVerifiedLifetimeMs, readFreshness } from "./freshness.ts";

const now = 1_000_000;
const ttl = 300_000;

describe("how long a response holds (L-6)", () => {
  for (const [headers, holdsMs, storable = true] of [
    [{}, ttl],
    [{ "cache-control": "max-age=60" }, 60_000],
    [{ "cache-control": "public, MAX-AGE=60" }, 60_000],
    [{ "cache-control": 'max-age="60"' }, 60_000],
    [{ "cache-control": "max-age=60", age: "45" }, 15_000],
    [{ "cache-control": "max-age=60", age: "90" }, -30_000],
    [{ "cache-control": "max-age=0" }, 0],
    [{ "cache-control": "max-age=-5" }, 0],
    [{ "cache-control": "max-age=soon" }, 0],
    [{ "cache-control": "max-age=60, max-age=600" }, 60_000],
    [{ "cache-control": "s-maxage=9" }, ttl],
    [{ "cache-control": "max-age=9999999999" }, 30 * 24 * 3_600_000],
    [{ "cache-control": "no-cache, max-age=60" }, 0],
    [{ "cache-control": "no-store" }, 0, false],
    [{ expires: "Thu, 01 Jan 2026 00:01:00 GMT", date: "Thu, 01 Jan 2026 00:00:00 GMT" }, 60_000],
    [{ expires: "Thu, 01 Jan 2026 00:00:00 GMT", date: "Thu, 01 Jan 2026 00:01:00 GMT" }, 0],
    [{ expires: "0" }, 0],
    [{ "cache-control": "max-age=60", expires: "0" }, 60_000],
  ] as const) {
    it(`is ${holdsMs} ms with ${JSON.stringify(headers)}`, () => {
      const freshness = readFreshness(new Headers(headers), now, ttl);
      expect(freshness).toEqual({ freshUntilMs: now + holdsMs, storable });
    });
  }

  for (const [headers, holdsMs] of [
    [{ "cache-control": "max-age=9999999999" }, longestVerifiedLifetimeMs],
    [{ expires: "Thu, 08 Jan 2026 00:00:00 GMT", date: "Thu, 01 Jan 2026 00:00:00 GMT" }, 24 * 3_600_000],
    [{ "cache-control": "max-age=60" }, 60_000],
    [{}, longestVerifiedLifetimeMs],
  ] as const) {
    it(`is ${holdsMs} ms with ${JSON.stringify(headers)} for one that has to be trusted`, () => {
      const { freshUntilMs } = readFreshness(
        new Headers(headers),
        now,
        2 * longestVerifiedLifetimeMs,
        longestVerifiedLifetimeMs,
      );
      expect(freshUntilMs).toBe(now + holdsMs);
    });
  }
});
