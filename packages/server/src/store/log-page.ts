import type { LogEntry, LogEvent, LogPage, LogTail } from "./task-store.ts";

/** Bytes of payload in one page: when a page has more, or more was read for it, no entry is added to it. */
const maxPageBytes = 1024 * 1024;

/** An entry, and the generation of the log at it. */
export interface PlacedEntry {
  readonly entry: LogEntry;
  /** Generation of the last event up to this entry, itself included; 0 before the first. */
  readonly reached: number;
}

/** Counts what a store reads, also what a view leaves out. */
export interface ReadBytes {
  bytes: number;
}

/**
 * The limit of `TaskStore.events`: at most `limit` events, and none after the one that brings the payloads over 1 MiB.
 * A page is empty only when there is no event, so a reader always makes progress.
 *
 * @param reading grows while events are taken; beyond 1 MiB the page ends, too
 */
export function takeEventPage(
  events: Iterable<LogEvent>,
  limit: number,
  reading: Readonly<ReadBytes> = { bytes: 0 },
): readonly LogEvent[] {
  const page: LogEvent[] = [];
  if (limit < 1) return page;
  const mostRead = reading.bytes + maxPageBytes;
  let size = 0;
  for (const event of events) {
    page.push(event);
    size += event.payload.byteLength;
    if (page.length >= limit || size > maxPageBytes || reading.bytes > mostRead) break;
  }
  return page;
}

/**
 * The same limit for `TaskStore.entries`. When the log has no more entries, the page ends at the end of the log, so
 * that the next one does not read again what this view leaves out.
 *
 * @param placed the view's entries after `after`, oldest first; the function takes no more of them than the page needs
 * @param tail the end of the log
 * @param maxBytes of payload, in place of 1 MiB
 * @param reading grows while entries are taken; beyond 1 MiB the page ends, too
 */
export function takeLogPage(
  placed: Iterable<PlacedEntry>,
  after: LogTail,
  tail: LogTail,
  limit: number,
  maxBytes: number = maxPageBytes,
  reading: Readonly<ReadBytes> = { bytes: 0 },
): LogPage {
  const entries: LogEntry[] = [];
  let end = after;
  if (limit < 1) return { entries, end, more: end.sequence < tail.sequence };
  const mostRead = reading.bytes + maxPageBytes;
  let size = 0;
  for (const { entry, reached } of placed) {
    entries.push(entry);
    end = { sequence: entry.sequence, generation: reached };
    size += entry.payload.byteLength;
    if (entries.length >= limit || size > maxBytes || reading.bytes > mostRead) {
      return { entries, end, more: end.sequence < tail.sequence };
    }
  }
  return { entries, end: end.sequence < tail.sequence ? tail : end, more: false };
}

/** Most entries in the page that comes with a task, and in each later page. */
export const taskPageLimit = 5_000;
