// What tests find around them: a home and a temporary folder that are new, and an environment of which nearly nothing is
// inherited. A test that passes here passes on any machine, with any settings of its user. Processes that tests start
// inherit all of it.

import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** What Node, package managers, git and `a2a` look for in all folders above the one that they work in. */
const marks = ["package.json", "node_modules", ".git", ".env", "a2a.config.yaml"];

/** The variables that stay: where programs and their libraries are, and the switches of our own tests. */
const inherited = [
  "PATH",
  "LD_LIBRARY_PATH",
  "CHROMIUM",
  "A2A_LONG",
  "A2A_SEED",
  "A2A_PATH",
  "A2A_RUNS",
  "A2A_REPORT",
  "A2A_PICTURES",
];

/** Vitest calls it before it starts the first worker, and what it returns at the end. */
export function setup(): () => void {
  const folder = mkdtempSync(join(findPlace([tmpdir(), "/tmp", "/var/tmp"]), "a2a-tests-"));
  const surroundings: Record<string, string> = {
    HOME: join(folder, "home"),
    TMPDIR: join(folder, "tmp"),
    LANG: "C.UTF-8",
    TZ: "UTC",
    GIT_CONFIG_NOSYSTEM: "1",
    // Half of what a short process costs is compilation.
    NODE_COMPILE_CACHE: join(folder, "compiled"),
    A2A_PROGRAMS: join(folder, "programs"),
  };
  mkdirSync(join(folder, "home"));
  mkdirSync(join(folder, "tmp"));
  mkdirSync(join(folder, "programs"));
  for (const name of Object.keys(process.env)) if (!inherited.includes(name)) delete process.env[name];
  Object.assign(process.env, surroundings);
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/**
 * The first of these folders with no mark of another project in it or above it.
 *
 * @throws Error when there is none, with what was found above each of them
 */
export function findPlace(candidates: readonly string[]): string {
  const refused: string[] = [];
  for (const candidate of candidates) {
    if (!existsSync(candidate)) {
      refused.push(`${candidate} does not exist`);
      continue;
    }
    const place = realpathSync(candidate);
    const found = foldersFrom(place).flatMap((folder) => marks.map((mark) => join(folder, mark)));
    const mark = found.find((path) => existsSync(path));
    if (mark === undefined) return place;
    refused.push(`${place} has ${mark} above what would be in it`);
  }
  throw new Error(
    `The tests need a temporary folder with no ${marks.join(", ")} in it or above it. Name one with TMPDIR. ${refused.join("; ")}.`,
  );
}

/** The folder, and all above it. */
function foldersFrom(folder: string): readonly string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersFrom(parent)];
}
