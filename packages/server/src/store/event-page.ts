import type { LogEvent } from "./task-store.ts";

/** Bytes of payload in one page of events: once a page holds more, nothing is added to it. */
const maxPageBytes = 1024 * 1024;

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
