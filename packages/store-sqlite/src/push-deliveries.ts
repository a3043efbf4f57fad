import type { DatabaseSync } from "node:sqlite";
import { decodeMessage, encodeMessage } from "@a2a-connect/core/internal";
import { type TaskPushNotificationConfig, TaskPushNotificationConfigSchema } from "@a2a-connect/proto";
import {
  type Delivery,
  type DeliveryMove,
  type DueDeliveries,
  type DueQuery,
  findEventBytes,
} from "@a2a-connect/server/store";
import { prepareQuery } from "./schema.ts";

/** A push config as it is stored. */
export interface EncodedConfig {
  readonly id: string;
  readonly bytes: Uint8Array;
}

/** Encodes a config, before the transaction that stores it. */
export function encodeConfig(config: TaskPushNotificationConfig): EncodedConfig {
  return { id: config.id, bytes: encodeMessage(TaskPushNotificationConfigSchema, config) };
}

/** Push configs and their cursors. Methods that change them run inside a transaction. */
export interface PushDeliveries {
  /**
   * Stores a config. A config that replaces another one continues at the other one's cursor.
   *
   * @param begin generation at which a new delivery begins
   * @param generation of the task's last event
   */
  put(task: number, config: EncodedConfig, begin: number, generation: number): void;
  remove(task: number, id: string): void;
  /** Makes the deliveries due that waited for an event of the task. */
  wake(task: number): void;
  move(move: DeliveryMove): void;
  find(task: number, id: string): TaskPushNotificationConfig | undefined;
  /** The encoded configs of a task, by id after `after`. */
  list(task: number, after: string | undefined, limit: number): readonly Uint8Array[];
  /** The ids of a task's configs, at most `limit`. They are in the index: no config is read. */
  ids(task: number, limit: number): readonly string[];
  /** Due deliveries of all tasks. */
  due(query: DueQuery): DueDeliveries;
  /** Those of a task that are due at once, by number. */
  dueOf(task: number, limit: number): readonly Delivery[];
}

interface ConfigRow {
  readonly config: Uint8Array;
}

interface CursorRow {
  readonly number: number;
  readonly next: number;
}

interface DeliveryRow extends ConfigRow, CursorRow {
  readonly tenant: string;
  readonly principal: string;
  readonly task_id: string;
  readonly task: number;
  readonly attempts: number;
  readonly due_at: number;
}

interface LayoutRow {
  readonly sequence: number;
  readonly generation: number;
  readonly run_bytes: number | null;
  readonly layout: Uint8Array;
}

const lastNumber = Number.MAX_SAFE_INTEGER;
const lastTime = Number.MAX_SAFE_INTEGER;

/** Prepares the statements that read and change push configs. */
export function createPushDeliveries(database: DatabaseSync): PushDeliveries {
  const cursor = prepareQuery<CursorRow>(
    database,
    "select number, next from push_configs join deliveries using (number) where task = ? and id = ?",
  );
  const insertCursor = database.prepare("insert into deliveries (next, attempts, due_at) values (?, 0, ?)");
  const insertConfig = database.prepare(
    "insert into push_configs (number, task, id, config) values (?, ?, ?, ?)",
  );
  const removeCursor = database.prepare("delete from deliveries where number = ?");
  const removeConfig = database.prepare("delete from push_configs where number = ?");
  const count = database.prepare(
    "update tasks set push_config_count = push_config_count + ? where number = ?",
  );
  const ofTask = "number in (select number from push_configs where task = ?)";
  const wake = database.prepare(`update deliveries set due_at = 0 where ${ofTask} and due_at is null`);
  const move = database.prepare(`
    update deliveries set next = :next, attempts = :attempts, due_at = case
      when (
        select generation from push_configs join tasks on tasks.number = task where push_configs.number = :number
      ) >= :next then :retry_at end
    where number = :number`);
  const config = prepareQuery<ConfigRow>(
    database,
    "select config from push_configs where task = ? and id = ?",
  );
  const configs = prepareQuery<ConfigRow>(
    database,
    "select config from push_configs where task = ? and id > ? order by id limit ?",
  );
  const configsFromStart = prepareQuery<ConfigRow>(
    database,
    "select config from push_configs where task = ? order by id limit ?",
  );
  const configIds = prepareQuery<{ readonly id: string }>(
    database,
    "select id from push_configs where task = ? limit ?",
  );
  // The index on `due_at` ends with the number, so both queries find their rows in it, in order, and read no others.
  const deliveries = `
    select deliveries.number, task, tenant, principal, task_id, config, next, attempts, due_at
    from deliveries join push_configs using (number) join tasks on tasks.number = task`;
  const freshBetween = prepareQuery<DeliveryRow>(
    database,
    `${deliveries} where due_at = 0 and deliveries.number > ? and deliveries.number <= ?
     order by deliveries.number limit ?`,
  );
  const putOffBetween = prepareQuery<DeliveryRow>(
    database,
    `${deliveries} where (due_at, deliveries.number) > (?, ?) and due_at <= ?
     order by due_at, deliveries.number limit ?`,
  );
  // `+`: not by the index of all that is due, of which there may be ten thousands, but by the numbers of the task's few configs.
  const freshOf = prepareQuery<DeliveryRow>(
    database,
    `${deliveries} where deliveries.${ofTask} and +due_at = 0 order by deliveries.number limit ?`,
  );
  const segmentOf = prepareQuery<LayoutRow>(
    database,
    `select sequence, generation, run_bytes, layout from segments
     where task = ? and generation >= ? order by generation, sequence limit 1`,
  );

  function toDelivery(row: DeliveryRow): Delivery {
    const { number, task, tenant, principal, task_id: taskId, next, attempts, due_at: dueAt } = row;
    const segment = segmentOf.get(task, next);
    const bytes = segment && (segment.run_bytes ?? findEventBytes(segment, next));
    const owner = { tenant, principal };
    return { number, owner, taskId, config: toConfig(row), next, bytes: bytes ?? 0, attempts, dueAt };
  }

  function removeNumber(number: number): void {
    removeCursor.run(number);
    removeConfig.run(number);
  }

  return {
    put(task, { id, bytes }, begin, generation) {
      const replaced = cursor.get(task, id);
      const next = replaced?.next ?? begin;
      if (replaced === undefined) count.run(1, task);
      else removeNumber(replaced.number);
      const { lastInsertRowid: number } = insertCursor.run(next, generation >= next ? 0 : null);
      insertConfig.run(number, task, id, bytes);
    },

    remove(task, id) {
      const removed = cursor.get(task, id);
      if (removed === undefined) return;
      removeNumber(removed.number);
      count.run(-1, task);
    },

    wake(task) {
      wake.run(task);
    },

    move({ number, next, attempts, retryAt = 0 }) {
      move.run({ number, next, attempts, retry_at: retryAt });
    },

    find(task, id) {
      const row = config.get(task, id);
      return row && toConfig(row);
    },

    list(task, after, limit) {
      const rows = after === undefined ? configsFromStart.all(task, limit) : configs.all(task, after, limit);
      return rows.map(({ config }) => config);
    },

    ids: (task, limit) => configIds.all(task, limit).map(({ id }) => id),

    due({ now, latest, after, afterRetry = { dueAt: 0, number: lastNumber }, limit }) {
      const fresh = freshBetween.all(after, lastNumber, limit);
      if (fresh.length < limit) fresh.push(...freshBetween.all(0, after, limit - fresh.length));
      const retries = putOffBetween.all(afterRetry.dueAt, afterRetry.number, now, limit);
      if (retries.length < limit) {
        const beyond = Math.max(now, latest);
        const from = afterRetry.dueAt > beyond ? afterRetry : { dueAt: beyond, number: lastNumber };
        retries.push(...putOffBetween.all(from.dueAt, from.number, lastTime, limit - retries.length));
      }
      const [next] = putOffBetween.all(now, lastNumber, latest, 1);
      return { fresh: fresh.map(toDelivery), retries: retries.map(toDelivery), nextAt: next?.due_at };
    },

    dueOf: (task, limit) => freshOf.all(task, limit).map(toDelivery),
  };
}

function toConfig({ config }: ConfigRow): TaskPushNotificationConfig {
  return decodeMessage(TaskPushNotificationConfigSchema, config);
}
