import type { LogEntry, LogEvent, LogPage, LogTail } from "./task-store.ts";

/** Bytes of payload in one page: when a page has more, no entry is added to it. */
const maxPageBytes = 1024 * 1024;

/** An entry, and the generation of the log at it. */
export interface PlacedEntry {
  readonly entry: LogEntry;
  /** Generation of the last event up to this entry, itself included; 0 before the first. */
  readonly reached: number;
}

/**
 * The limit of `TaskStore.events`: at most `limit` events, and none after the one that brings the payloads over 1 MiB.
 * A page is empty only when there is no event, so a reader always makes progress.
 */
export function takeEventPage(events: Iterable<LogEvent>, limit: number): readonly LogEvent[] {
  const page: LogEvent[] = [];
  if (limit < 1) return page;
  let size = 0;
  for (const event of events) {
    page.push(event);
    size += event.payload.byteLength;
    if (page.length >= limit || size > maxPageBytes) break;
  }
  return page;
}

/**
 * The same limit for `TaskStore.entries`. When the log has no more entries, the page ends at the end of the log, so
 * that the next one does not read again what this view leaves out.
 *
 * @param placed the view's entries after `after`, oldest first; the function takes no more of them than the page needs
 * @param tail the end of the log
 * @param maxBytes in place of 1 MiB
 */
export function takeLogPage(
  placed: Iterable<PlacedEntry>,
  after: LogTail,
  tail: LogTail,
  limit: number,
  maxBytes: number = maxPageBytes,
): LogPage {
  const entries: LogEntry[] = [];
  let end = after;
  if (limit < 1) return { entries, end, more: end.sequence < tail.sequence };
  let size = 0;
  for (const { entry, reached } of placed) {
    entries.push(entry);
    end = { sequence: entry.sequence, generation: reached };
    size += entry.payload.byteLength;
    if (entries.length >= limit || size > maxBytes) {
      return { entries, end, more: end.sequence < tail.sequence };
    }
  }
  return { entries, end: end.sequence < tail.sequence ? tail : end, more: false };
}

/** Most entries in the page that comes with a task, and in each later page. */
export const taskPageLimit = 5_000;
