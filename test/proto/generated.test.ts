import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { repositoryRoot, runBuf } from "./run-buf.ts";

/** Every file under a folder with its text, by path relative to it. */
async function readTree(root: string): Promise<Map<string, string>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const files = paths.map(async (path) => [relative(root, path), await readFile(path, "utf8")] as const);
  return new Map((await Promise.all(files)).sort(([a], [b]) => (a < b ? -1 : 1)));
}

describe("gen/src", () => {
  let scratch: string;
  let fresh: Map<string, string>;
  let committed: Map<string, string>;

  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), "a2a-connect-gen-"));
    await runBuf("generate", "--output", scratch);
    const generate = join(repositoryRoot, "gen", "browser", "generate.ts");
    await promisify(execFile)(process.execPath, [generate, join(scratch, "gen", "src")]);
    fresh = await readTree(join(scratch, "gen", "src"));
    committed = await readTree(join(repositoryRoot, "gen", "src"));
  });

  afterAll(() => rm(scratch, { recursive: true, force: true }));

  it("holds exactly the files that generation writes", () => {
    expect(fresh.size).toBeGreaterThan(0);
    expect([...committed.keys()]).toStrictEqual([...fresh.keys()]);
  });

  it("is what the protos generate; if this fails, run `pnpm generate`", () => {
    const stale = [...fresh].filter(([path, text]) => committed.get(path) !== text).map(([path]) => path);
    expect(fresh.size).toBeGreaterThan(0);
    expect(stale).toStrictEqual([]);
  });
});

describe("proto/", () => {
  it("passes buf lint, so that everything in it has a comment", async () => {
    expect(await runBuf("lint")).toBe("");
  });

  it("is formatted", async () => {
    expect(await runBuf("format", "proto", "--diff", "--exit-code")).toBe("");
  });

  /*
   * Against an image, because a shallow clone has no older proto to compare with, and of this module alone, because buf
   * compares workspaces only with workspaces. An image is renewed when the wire has legitimately grown and is released:
   * buf build proto --exclude-source-info -o test/proto/baseline.binpb
   */
  it("breaks nobody who knows the baseline", async () => {
    expect(
      await runBuf(
        "breaking",
        "proto",
        "--exclude-imports",
        "--against",
        join("test", "proto", "baseline.binpb"),
      ),
    ).toBe("");
  });
});
