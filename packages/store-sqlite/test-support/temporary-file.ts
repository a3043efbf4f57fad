import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A directory of the running test's own, removed at its end. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "a2a-store-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** Path of a database in a directory of the running test's own; nothing is there yet. */
export function temporaryFile(): string {
  return join(temporaryDirectory(), "tasks.db");
}
