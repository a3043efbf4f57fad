import type { DatabaseSync } from "node:sqlite";
import type { EntryKind, LogEntry } from "@a2a-connect/server/store";
import type { Run } from "./large-values.ts";
import { inTransaction, prepareQuery } from "./schema.ts";
import { createAppendEntries } from "./task-writer.ts";

/** Entries that one transaction moves, and bytes of their payloads after which it moves no further one. */
const maxEntries = 1_000;
const maxBytes = 1024 * 1024;

/** Kinds by their number in `entries`. */
const kinds = ["task", "status", "artifact", "input", "command", "journal"] as const;

interface EntryRow {
  readonly task: number;
  readonly sequence: number;
  readonly generation: number;
  readonly kind: number;
  readonly payload: Uint8Array;
  readonly run: number | null;
  readonly run_bytes: number | null;
}

/**
 * Moves the log of version 5, which had a row for each entry, into segments, task by task. What is moved is removed in the
 * same transaction, so the file hardly grows, and a process that ends in between leaves the rest for the next one.
 *
 * @param onProgress is told after each transaction which part of the log has been moved, from 0 to 1
 */
export function moveEntries(database: DatabaseSync, onProgress: (part: number) => void): void {
  const oldest = prepareQuery<EntryRow>(
    database,
    `select task, sequence, generation, kind, payload, run, run_bytes from entries
     order by task, generation, sequence limit ${maxEntries}`,
  );
  const ends = prepareQuery<{ readonly first: number | null; readonly last: number | null }>(
    database,
    "select (select min(task) from entries) as first, (select max(task) from entries) as last",
  );
  const remove = database.prepare("delete from entries where (task, generation, sequence) <= (?, ?, ?)");
  const append = createAppendEntries(database);

  function move(rows: readonly EntryRow[], { task, generation, sequence }: EntryRow): void {
    for (const [number, ofTask] of Map.groupBy(rows, (row) => row.task)) {
      const runs = new Map<LogEntry, Run>();
      const entries = ofTask.map((row) => {
        const entry = toEntry(row);
        if (row.run !== null && row.run_bytes !== null)
          runs.set(entry, { run: row.run, bytes: row.run_bytes });
        return entry;
      });
      append(number, generationBefore(ofTask), entries, runs);
    }
    remove.run(task, generation, sequence);
  }

  const { first, last } = ends.get() ?? {};
  for (;;) {
    const rows = takeSome(oldest.iterate());
    const end = rows.at(-1);
    if (end === undefined) return;
    inTransaction(database, () => move(rows, end));
    onProgress((end.task - (first ?? 0) + 1) / ((last ?? 0) - (first ?? 0) + 1));
  }
}

/** Rows until their payloads exceed the limit. */
function takeSome(rows: Iterable<EntryRow>): readonly EntryRow[] {
  const taken: EntryRow[] = [];
  let bytes = 0;
  for (const row of rows) {
    taken.push(row);
    bytes += row.payload.byteLength;
    if (bytes > maxBytes) break;
  }
  return taken;
}

function toEntry({ sequence, generation, kind, payload }: EntryRow): LogEntry {
  const name: EntryKind | undefined = kinds[kind];
  if (name === undefined) throw new RangeError(`entry ${sequence} has the unknown kind ${kind}`);
  return { sequence, generation: isEvent(kind) ? generation : undefined, kind: name, payload };
}

/** Rows have the generation that the log had reached with them. */
function generationBefore([first]: readonly EntryRow[]): number {
  return first === undefined ? 0 : first.generation - (isEvent(first.kind) ? 1 : 0);
}

function isEvent(kind: number): boolean {
  return kind <= kinds.indexOf("artifact");
}
