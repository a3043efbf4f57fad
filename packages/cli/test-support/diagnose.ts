import { webTransports } from "@a2a-connect/client/internal";
import { nodePlatform } from "@a2a-connect/node/client";
import { createCallHeaders } from "../src/agent/call-credentials.ts";
import { type Diagnosis, type ExamineOptions, examine } from "../src/doctor/examine.ts";
import { parseTarget } from "../src/doctor/target.ts";

/** Examines what is at a URL, over all wires and without credentials. */
export async function diagnose(url: string, options: Partial<ExamineOptions> = {}): Promise<Diagnosis> {
  const platform = nodePlatform({ cardUrl: new URL(url) });
  try {
    return await examine(parseTarget(url), {
      fetch: platform.fetch ?? fetch,
      transports: [...(platform.transports ?? []), ...webTransports],
      credentials: () => createCallHeaders({}),
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
