import { tmpdir } from "node:os";
import { Readable } from "node:stream";
import { type Diagnosis, type ExamineOptions, examine } from "../src/doctor/examine.ts";
import { resolveSettings } from "../src/settings/resolve.ts";

/** Examines what is at a URL, over all wires. @param options a token for it, beside those of the examination; default none */
export async function diagnose(
  url: string,
  { bearer, ...options }: Partial<Omit<ExamineOptions, "settings">> & { readonly bearer?: string } = {},
): Promise<Diagnosis> {
  const nowhere = { env: {}, cwd: tmpdir(), home: tmpdir() };
  return await examine(new URL(url), {
    settings: { ...resolveSettings({}, nowhere).settings, bearer },
    io: { ...nowhere, stdin: Readable.from([]) },
    timeoutMs: 5_000,
    signal: new AbortController().signal,
    onFinding: async () => {},
    ...options,
  });
}
