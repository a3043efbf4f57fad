import { describe, expect, it } from "vitest";
import type { ConnectOptions } from "./options.ts";
import { resolveSettings } from "./settings.ts";

describe("the settings of a client", () => {
  it("have a limit for each wait by default", () => {
    const { requestTimeoutMs, idleTimeoutMs, maxTaskBytes, retry } = resolveSettings({});
    for (const each of [requestTimeoutMs, idleTimeoutMs, maxTaskBytes, ...Object.values(retry)]) {
      expect(each).toBeGreaterThan(0);
      expect(each).toBeLessThan(Number.POSITIVE_INFINITY);
    }
  });

  it("have no limit where Infinity is said", () => {
    const infinity = Number.POSITIVE_INFINITY;
    const options = {
      requestTimeoutMs: infinity,
      idleTimeoutMs: infinity,
      retry: { giveUpAfterMs: infinity },
    };
    expect(resolveSettings(options)).toMatchObject(options);
  });

  it.each<[ConnectOptions, RegExp]>([
    [{ requestTimeoutMs: Number.NaN }, /^requestTimeoutMs must be 0 or more.*is NaN$/],
    [{ connectTimeoutMs: -1 }, /^connectTimeoutMs .*is -1$/],
    [{ idleTimeoutMs: Number.NEGATIVE_INFINITY }, /^idleTimeoutMs .*is -Infinity$/],
    [{ maxResponseBytes: Number.NaN }, /^maxResponseBytes /],
    [{ maxTaskBytes: Number.NaN }, /^maxTaskBytes /],
    [{ maxCardBytes: -5 }, /^maxCardBytes /],
    [{ cardTtlMs: Number.NaN }, /^cardTtlMs /],
    [{ retry: { maxDelayMs: Number.NaN } }, /^retry\.maxDelayMs /],
    [{ retry: { giveUpAfterMs: -1 } }, /^retry\.giveUpAfterMs /],
    [{ retry: { attempts: 0 } }, /^retry\.attempts must be at least 1/],
  ])("refuse %j", (options, sentence) => {
    expect(() => resolveSettings(options)).toThrow(sentence);
  });
});
