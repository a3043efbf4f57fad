import { type TaskPushNotificationConfig, TaskPushNotificationConfigSchema } from "@a2a-connect/proto";
import { clone } from "@bufbuild/protobuf";
import type { MemoryDelivery, MemoryTask } from "./memory-task.ts";
import type { Delivery, DeliveryMove } from "./task-store.ts";

/** The deliveries of all tasks of a memory store; the tasks hold them. */
export interface MemoryDeliveries {
  /**
   * Keeps a copy of the config: messages are mutable, and what is stored must not change under its owner's hands.
   *
   * @param begin generation that a new delivery begins with; one that replaces another goes on where that one was
   */
  put(task: MemoryTask, config: TaskPushNotificationConfig, begin: number): void;
  remove(task: MemoryTask, id: string): void;
  /** Forgets all of a task. */
  clear(task: MemoryTask): void;
  /** Makes what has waited for an event of the task due. */
  wake(task: MemoryTask): void;
  due(until: number, limit: number): readonly Delivery[];
  move(move: DeliveryMove): void;
}

/** The deliveries of an empty store. */
export function createMemoryDeliveries(): MemoryDeliveries {
  /** By number. */
  const tasks = new Map<number, { readonly task: MemoryTask; readonly id: string }>();
  let count = 0;

  function set(task: MemoryTask, id: string, delivery: MemoryDelivery): void {
    task.deliveries.set(id, delivery);
    tasks.set(delivery.number, { task, id });
  }

  function remove(task: MemoryTask, id: string): void {
    const number = task.deliveries.get(id)?.number;
    if (number !== undefined) tasks.delete(number);
    task.deliveries.delete(id);
  }

  return {
    remove,

    put(task, config, begin) {
      const next = task.deliveries.get(config.id)?.next ?? begin;
      remove(task, config.id);
      count += 1;
      set(task, config.id, {
        number: count,
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

    due(until, limit) {
      const due: Delivery[] = [];
      for (const [number, { task, id }] of tasks) {
        const delivery = task.deliveries.get(id);
        if (delivery?.dueAt === undefined || delivery.dueAt > until) continue;
        const { next, attempts, dueAt } = delivery;
        const config = clone(TaskPushNotificationConfigSchema, delivery.config);
        due.push({ number, owner: task.owner, taskId: task.taskId, config, next, attempts, dueAt });
      }
      return due.sort((one, other) => one.dueAt - other.dueAt || one.number - other.number).slice(0, limit);
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

function hasEvent({ tail }: MemoryTask, generation: number): boolean {
  return tail.generation >= generation;
}
