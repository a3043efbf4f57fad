import { encodeMessage } from "@a2a-connect/core/internal";
import { type TaskPushNotificationConfig, TaskPushNotificationConfigSchema } from "@a2a-connect/proto";
import { clone } from "@bufbuild/protobuf";
import type { MemoryDelivery, MemoryTask } from "./memory-task.ts";
import type { Delivery, DeliveryMove, DueDeliveries, DueQuery } from "./task-store.ts";

/** The deliveries of all tasks of a memory store; the tasks contain them. */
export interface MemoryDeliveries {
  /**
   * Stores a copy of the config: messages are mutable, and a stored one must not change.
   *
   * @param begin generation at which a new delivery begins; one that replaces another continues at the other's cursor
   */
  put(task: MemoryTask, config: TaskPushNotificationConfig, begin: number): void;
  remove(task: MemoryTask, id: string): void;
  /** Removes all deliveries of a task. */
  clear(task: MemoryTask): void;
  /** Makes the deliveries due that waited for an event of the task. */
  wake(task: MemoryTask): void;
  due(query: DueQuery): DueDeliveries;
  /** Those of a task that are due at once, by number. */
  dueOf(task: MemoryTask, limit: number): readonly Delivery[];
  move(move: DeliveryMove): void;
}

/** What a delivery takes in memory besides the bytes of its config: the objects. */
const deliveryBytes = 1_024;

/** The deliveries of an empty store. */
export function createMemoryDeliveries(): MemoryDeliveries {
  /** By number, and in this order, because a new one has the highest. */
  const tasks = new Map<number, { readonly task: MemoryTask; readonly id: string }>();
  let count = 0;

  function set(task: MemoryTask, id: string, delivery: MemoryDelivery): void {
    task.deliveries.set(id, delivery);
    tasks.set(delivery.number, { task, id });
  }

  function remove(task: MemoryTask, id: string): void {
    const delivery = task.deliveries.get(id);
    if (delivery === undefined) return;
    tasks.delete(delivery.number);
    task.deliveries.delete(id);
    task.bytes -= delivery.bytes;
  }

  return {
    remove,

    put(task, config, begin) {
      const next = task.deliveries.get(config.id)?.next ?? begin;
      remove(task, config.id);
      count += 1;
      const bytes = deliveryBytes + encodeMessage(TaskPushNotificationConfigSchema, config).length;
      task.bytes += bytes;
      set(task, config.id, {
        number: count,
        bytes,
        config: clone(TaskPushNotificationConfigSchema, config),
        next,
        attempts: 0,
        dueAt: hasEvent(task, next) ? 0 : undefined,
      });
    },

    clear(task) {
      for (const id of [...task.deliveries.keys()]) remove(task, id);
    },

    wake(task) {
      for (const [id, delivery] of task.deliveries) {
        if (delivery.dueAt === undefined) set(task, id, { ...delivery, dueAt: 0 });
      }
    },

    due({ now, latest, after, afterRetry = { dueAt: 0, number: 0 }, limit }) {
      const fresh: { readonly next: Due[]; readonly first: Due[] } = { next: [], first: [] };
      const putOff: Due[] = [];
      for (const { task, id } of tasks.values()) {
        const delivery = task.deliveries.get(id);
        if (delivery === undefined || !isDue(delivery)) continue;
        if (delivery.dueAt > 0) {
          putOff.push({ task, delivery });
          continue;
        }
        const part = delivery.number > after ? fresh.next : fresh.first;
        if (part.length < limit) part.push({ task, delivery });
      }
      putOff.sort((one, other) => byTime(one.delivery, other.delivery));
      const retries = putOff.filter(
        ({ delivery }) =>
          (delivery.dueAt <= now || delivery.dueAt > latest) && byTime(delivery, afterRetry) > 0,
      );
      return {
        fresh: [...fresh.next, ...fresh.first].slice(0, limit).map(toDelivery),
        retries: retries.slice(0, limit).map(toDelivery),
        nextAt: putOff.find(({ delivery: { dueAt } }) => dueAt > now && dueAt <= latest)?.delivery.dueAt,
      };
    },

    dueOf(task, limit) {
      return [...task.deliveries.values()]
        .filter(isDue)
        .filter(({ dueAt }) => dueAt === 0)
        .sort((one, other) => one.number - other.number)
        .slice(0, limit)
        .map((delivery) => toDelivery({ task, delivery }));
    },

    move({ number, next, attempts, retryAt = 0 }) {
      const place = tasks.get(number);
      const delivery = place?.task.deliveries.get(place.id);
      if (place === undefined || delivery === undefined) return;
      const dueAt = hasEvent(place.task, next) ? retryAt : undefined;
      set(place.task, place.id, { ...delivery, next, attempts, dueAt });
    },
  };
}

/** A delivery that has an event to deliver. */
interface Due {
  readonly task: MemoryTask;
  readonly delivery: DueDelivery;
}

type DueDelivery = MemoryDelivery & { readonly dueAt: number };

function isDue(delivery: MemoryDelivery): delivery is DueDelivery {
  return delivery.dueAt !== undefined;
}

function toDelivery({ task: { owner, taskId, events }, delivery }: Due): Delivery {
  const bytes = events[delivery.next - 1]?.payload.length ?? 0;
  const config = clone(TaskPushNotificationConfigSchema, delivery.config);
  return { ...delivery, config, owner, taskId, bytes };
}

function byTime(one: Pick<Delivery, "dueAt" | "number">, other: typeof one): number {
  return one.dueAt - other.dueAt || one.number - other.number;
}

function hasEvent({ tail }: MemoryTask, generation: number): boolean {
  return tail.generation >= generation;
}
