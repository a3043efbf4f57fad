import type { LogEntry, LogEvent, LogPage, LogTail } from "./task-store.ts";

/** Bytes of payload in one page: once a page holds more, nothing is added to it. */
const maxPageBytes = 1024 * 1024;

/** An entry and the place that the log had come to with it. */
export interface PlacedEntry {
  readonly entry: LogEntry;
  /** Generation of the last event up to this entry, itself included; 0 before the first. */
  readonly reached: number;
}

/**
 * The bound that `TaskStore.events` promises: takes at most `limit` events, and none after the one that brings the
 * payloads over 1 MiB. A page is only empty when there is no event, so a reader always gets on.
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
 * The same bound for `TaskStore.entries`. A page that ran out of entries ends where the log does, so that the next one
 * does not look again at what this view leaves out.
 *
 * @param placed what the view shows after `after`, oldest first; no more of it is taken than the page holds
 * @param tail where the log ends
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

/** Entries of the page that comes with a task, and of those that follow it, at most. */
export const taskPageLimit = 5_000;
