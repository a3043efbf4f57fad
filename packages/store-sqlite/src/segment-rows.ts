import type { DatabaseSync } from "node:sqlite";
import { divideEntries, type LogEntry, packSegment } from "@a2a-connect/server/store";
import type { Run } from "./large-values.ts";

/**
 * Appends entries to a log, in a row for each segment; runs inside a transaction.
 *
 * @param before generation of the log before the entries
 * @param runs of entries whose payload is in pieces; such an entry has the rest of it
 */
export type AppendEntries = (
  task: number,
  before: number,
  entries: readonly LogEntry[],
  runs: ReadonlyMap<LogEntry, Run>,
) => void;

/** Prepares the statement that writes segments. */
export function createAppendEntries(database: DatabaseSync): AppendEntries {
  const insert = database.prepare(`
    insert into segments (task, sequence, generation, kinds, run, run_bytes, layout, head, artifacts)
    values (?, ?, ?, ?, ?, ?, ?, ?, ?)`);

  return (task, before, entries, runs) => {
    let reached = before;
    for (const part of divideEntries(entries, (entry) => runs.has(entry))) {
      const { sequence, generation, kinds, layout, head, artifacts = null } = packSegment(part, reached);
      const [first] = part;
      const { run = null, bytes = null } = (first && runs.get(first)) ?? {};
      insert.run(task, sequence, generation, kinds, run, bytes, layout, head, artifacts);
      reached = generation;
    }
  };
}
