import { encodeMessage } from "@a2a-connect/core/internal";
import { type TaskPushNotificationConfig, TaskPushNotificationConfigSchema } from "@a2a-connect/proto";
import { clone } from "@bufbuild/protobuf";
import { TaskOrder } from "./memory-order.ts";
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
  /** Costs what it returns, however many there are. */
  due(query: DueQuery): DueDeliveries;
  /** Those of a task that are due at once, by number. */
  dueOf(task: MemoryTask, limit: number): readonly Delivery[];
  move(move: DeliveryMove): void;
}

/** What a delivery takes in memory besides the bytes of its config: the objects. */
const deliveryBytes = 1_024;

const lastNumber = Number.MAX_SAFE_INTEGER;
const lastTime = Number.MAX_SAFE_INTEGER;

/** When a delivery is due. Of those that are due at the same time, the one with the lower number comes first. */
type Moment = Pick<Delivery, "dueAt" | "number">;

/** Where a delivery is found, and its number as a text by which `TaskOrder` can compare. */
interface Place {
  readonly task: MemoryTask;
  readonly id: string;
  readonly taskId: string;
}

/** The deliveries of an empty store. */
export function createMemoryDeliveries(): MemoryDeliveries {
  /** By number. */
  const places = new Map<number, Place>();
  /** Those that have an event to deliver: by time, which is 0 for those due at once, then by number. */
  const order = new TaskOrder<Place>((place) => findDelivery(place)?.dueAt ?? 0);
  let count = 0;

  function set(place: Place, delivery: MemoryDelivery): void {
    leaveOrder(place);
    place.task.deliveries.set(place.id, delivery);
    if (isDue(delivery)) order.add(place);
  }

  function leaveOrder(place: Place): void {
    const delivery = findDelivery(place);
    if (delivery !== undefined && isDue(delivery)) order.remove(place);
  }

  function remove(task: MemoryTask, id: string): void {
    const delivery = task.deliveries.get(id);
    const place = delivery && places.get(delivery.number);
    if (delivery === undefined || place === undefined) return;
    leaveOrder(place);
    places.delete(delivery.number);
    task.deliveries.delete(id);
    task.bytes -= delivery.bytes;
  }

  /** The first `limit` after `from`, up to `last`. */
  function between(from: Moment, last: Moment, limit: number): Due[] {
    const found: Due[] = [];
    for (const place of order.oldestFirst({ time: from.dueAt, taskId: toText(from.number) })) {
      const delivery = findDelivery(place);
      if (found.length === limit || delivery === undefined || !isDue(delivery)) break;
      if (byTime(delivery, last) > 0) break;
      if (byTime(delivery, from) > 0) found.push({ task: place.task, delivery });
    }
    return found;
  }

  return {
    remove,

    put(task, config, begin) {
      const next = task.deliveries.get(config.id)?.next ?? begin;
      remove(task, config.id);
      count += 1;
      const bytes = deliveryBytes + encodeMessage(TaskPushNotificationConfigSchema, config).length;
      task.bytes += bytes;
      const place = { task, id: config.id, taskId: toText(count) };
      places.set(count, place);
      set(place, {
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
      for (const delivery of task.deliveries.values()) {
        const place = places.get(delivery.number);
        if (place !== undefined && !isDue(delivery)) set(place, { ...delivery, dueAt: 0 });
      }
    },

    due({ now, latest, after, afterRetry = lastOf(0), limit }) {
      const fresh = between({ dueAt: 0, number: after }, lastOf(0), limit);
      fresh.push(...between({ dueAt: 0, number: 0 }, { dueAt: 0, number: after }, limit - fresh.length));
      const retries = between(afterRetry, lastOf(now), limit);
      const beyond = lastOf(Math.max(now, latest));
      const from = byTime(afterRetry, beyond) > 0 ? afterRetry : beyond;
      retries.push(...between(from, lastOf(lastTime), limit - retries.length));
      const [next] = between(lastOf(now), lastOf(latest), 1);
      return {
        fresh: fresh.map(toDelivery),
        retries: retries.map(toDelivery),
        nextAt: next?.delivery.dueAt,
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
      const place = places.get(number);
      const delivery = place && findDelivery(place);
      if (place === undefined || delivery === undefined) return;
      const dueAt = hasEvent(place.task, next) ? retryAt : undefined;
      set(place, { ...delivery, next, attempts, dueAt });
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

function findDelivery({ task, id }: Place): MemoryDelivery | undefined {
  return task.deliveries.get(id);
}

/** As many digits for each number, so that texts have the order of their numbers. */
function toText(number: number): string {
  return String(number).padStart(String(lastNumber).length, "0");
}

/** After all that are due at this time. */
function lastOf(dueAt: number): Moment {
  return { dueAt, number: lastNumber };
}

function byTime(one: Moment, other: Moment): number {
  return one.dueAt - other.dueAt || one.number - other.number;
}

function hasEvent({ tail }: MemoryTask, generation: number): boolean {
  return tail.generation >= generation;
}
