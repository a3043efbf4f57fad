import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Name of the database in the directory of a server. */
export const databaseFile = "tasks.sqlite";

/** Where a server keeps its files. Disposing it removes them. */
export interface ServerDirectory extends Disposable {
  readonly path: string;
  /** Bytes of the database, its write-ahead log included. */
  databaseBytes(): number;
}

/** Those that have not been disposed of: however the bench ends, nothing of them is left. */
const open = new Set<string>();
process.once("exit", () => open.forEach(remove));

export function createServerDirectory(): ServerDirectory {
  const path = mkdtempSync(join(tmpdir(), "a2a-bench-"));
  open.add(path);
  const sizeOf = (file: string) => statSync(join(path, file), { throwIfNoEntry: false })?.size ?? 0;
  return {
    path,
    databaseBytes: () => sizeOf(databaseFile) + sizeOf(`${databaseFile}-wal`),
    [Symbol.dispose]: () => remove(path),
  };
}

function remove(path: string): void {
  rmSync(path, { recursive: true, force: true });
  open.delete(path);
}
