import type { DatabaseSync } from "node:sqlite";
import type { Expiry } from "@a2a-connect/server/store";
import { type LargeValues, pieceBytes } from "./large-values.ts";
import { type ListPlace, type PlaceRow, toPlace } from "./list-totals.ts";
import { finished, prepareQuery } from "./schema.ts";

/** Answers `TaskStore.expire`; runs inside a transaction. */
export type ExpireRows = (expiry: Expiry) => Expired;

/** What was removed. */
export interface Expired {
  /** The tasks that are gone. */
  readonly tasks: readonly ListPlace[];
  /** Whether there may be more to remove. */
  readonly more: boolean;
}

/** To free this many bytes costs about as much as to remove a row: a large value has a chain of pages of its own. */
const bytesPerRow = 16 * 1024;

/** Rows after which it looks at the clock: to remove them takes about a millisecond. */
const rowsPerStep = 100;

interface TaskNumber {
  readonly number: number;
}

interface SizedRow {
  readonly bytes: number;
}

interface SegmentPlace extends SizedRow {
  readonly sequence: number;
  readonly generation: number;
}

/**
 * Removes expired rows, one after the other, until the limit is reached or the time is over. It removes a task's own row first, and with it
 * the task disappears. It removes the rest of a doomed task before it begins another one. It removes a log from its
 * beginning, so that the rest of the log stays in order.
 *
 * @param ticks milliseconds that never go back
 */
export function createExpireRows(
  database: DatabaseSync,
  values: LargeValues,
  ticks: () => number,
): ExpireRows {
  const messages = prepareQuery<TaskNumber & SizedRow>(
    database,
    "select number, length(message) as bytes from keys where expires_at < ? order by expires_at limit ?",
  );
  const removeKey = database.prepare("delete from keys where number = ?");
  const firstDoomed = prepareQuery<TaskNumber>(database, "select task as number from doomed limit 1");
  const firstFinished = prepareQuery<TaskNumber & PlaceRow>(
    database,
    `select number, tenant, principal, context_id, state, status_timestamp, task_id from tasks where ${finished} and status_timestamp < ? order by status_timestamp limit 1`,
  );
  const removeTask = database.prepare("delete from tasks where number = ?");
  const doom = database.prepare("insert into doomed (task) values (?)");
  const redeem = database.prepare("delete from doomed where task = ?");
  const snapshot = prepareQuery<SizedRow>(
    database,
    "select length(head) + ifnull(length(artifacts), 0) as bytes from snapshots where task = ?",
  );
  const removeSnapshot = database.prepare("delete from snapshots where task = ?");
  const segments = prepareQuery<SegmentPlace>(
    database,
    `select generation, sequence, length(head) + ifnull(length(artifacts), 0) as bytes from segments
     where task = ? order by generation, sequence limit ?`,
  );
  const removeSegments = database.prepare(
    "delete from segments where task = ? and (generation, sequence) <= (?, ?)",
  );
  const configs = prepareQuery<TaskNumber & SizedRow>(
    database,
    "select number, length(config) as bytes from push_configs where task = ? limit ?",
  );
  const removeConfig = database.prepare("delete from push_configs where number = ?");
  const removeDelivery = database.prepare("delete from deliveries where number = ?");
  const removeKeys = database.prepare(
    "delete from keys where number in (select number from keys where task = ? limit ?)",
  );

  function expireMessages(now: number, limit: number): number {
    let spent = 0;
    for (const { number, bytes } of takeWithin(messages.all(now, limit), limit)) {
      removeKey.run(number);
      spent += costOf(bytes);
    }
    return spent;
  }

  /** Removes rows of a doomed task. Returns the cost, which is less than `limit` when no row is left. */
  function removeRows(task: number, limit: number): number {
    let spent = removeConfigs(task, limit);
    if (spent < limit) spent += Number(removeKeys.run(task, limit - spent).changes);
    if (spent < limit) spent += removePieces(task, limit - spent);
    if (spent < limit) spent += removeLog(task, limit - spent);
    if (spent < limit) {
      const bytes = snapshot.get(task)?.bytes;
      if (bytes !== undefined) {
        removeSnapshot.run(task);
        spent += costOf(bytes);
      }
    }
    return spent;
  }

  function removeConfigs(task: number, limit: number): number {
    let spent = 0;
    for (const { number, bytes } of takeWithin(configs.all(task, limit), limit)) {
      removeDelivery.run(number);
      removeConfig.run(number);
      spent += costOf(bytes);
    }
    return spent;
  }

  function removePieces(task: number, limit: number): number {
    const cost = costOf(pieceBytes);
    return values.remove(task, undefined, Math.ceil(limit / cost)) * cost;
  }

  function removeLog(task: number, limit: number): number {
    let spent = 0;
    let last: SegmentPlace | undefined;
    for (const segment of takeWithin(segments.iterate(task, limit), limit)) {
      spent += costOf(segment.bytes);
      last = segment;
    }
    if (last !== undefined) removeSegments.run(task, last.generation, last.sequence);
    return spent;
  }

  /** @param gone gets the place of a task that this removes */
  function nextDoomed(finishedBefore: number | undefined, gone: ListPlace[]): number | undefined {
    const doomed = firstDoomed.get();
    if (doomed !== undefined || finishedBefore === undefined) return doomed?.number;
    const task = firstFinished.get(finishedBefore);
    if (task === undefined) return undefined;
    removeTask.run(task.number);
    doom.run(task.number);
    gone.push(toPlace(task));
    return task.number;
  }

  return ({ finishedBefore, now, limit, maxMs = Number.POSITIVE_INFINITY }) => {
    const end = ticks() + maxMs;
    const tasks: ListPlace[] = [];
    let hasMessages = true;
    for (let left = limit; ; ) {
      const most = Math.min(left, rowsPerStep);
      if (hasMessages) {
        const spent = expireMessages(now, most);
        hasMessages = spent >= most;
        left -= spent;
      } else {
        const task = nextDoomed(finishedBefore, tasks);
        if (task === undefined) return { tasks, more: false };
        const spent = removeRows(task, most);
        if (spent < most) redeem.run(task);
        left -= spent + 1;
      }
      if (left <= 0 || ticks() >= end) return { tasks, more: true };
    }
  };
}

/** The rows whose cost together reaches `limit`. */
function* takeWithin<Row extends SizedRow>(rows: Iterable<Row>, limit: number): Iterable<Row> {
  let spent = 0;
  for (const row of rows) {
    yield row;
    spent += costOf(row.bytes);
    if (spent >= limit) return;
  }
}

function costOf(bytes: number): number {
  return 1 + Math.floor(bytes / bytesPerRow);
}
