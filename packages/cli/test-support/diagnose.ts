import { nodePlatform } from "@a2a-connect/node/client";
import { type Diagnosis, type ExamineOptions, examine } from "../src/doctor/examine.ts";

/** Examines what is at a URL, over all wires and without credentials. */
export async function diagnose(url: string, options: Partial<ExamineOptions> = {}): Promise<Diagnosis> {
  const platform = nodePlatform({ cardUrl: new URL(url) });
  try {
    return await examine(new URL(url), {
      fetch: platform.fetch ?? fetch,
      headersFor: () => ({}),
      cardHeaders: {},
      timeoutMs: 5_000,
      insecure: false,
      signal: new AbortController().signal,
      ...options,
    });
  } finally {
    await platform.close();
  }
}
