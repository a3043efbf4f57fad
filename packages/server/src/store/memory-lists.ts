import { TaskOrder } from "./memory-order.ts";
import type { MemoryTask } from "./memory-task.ts";
import type { Owner, TaskQuery } from "./task-store.ts";

/** The orders of all tasks of a memory store: one for each owner, and one for each of an owner's contexts. */
export interface MemoryLists {
  add(task: MemoryTask): void;
  /** Call it before the task's index changes. */
  remove(task: MemoryTask): void;
  /** The order that a query reads; undefined: there is no such task. */
  find(query: Pick<TaskQuery, "owner" | "contextId">): TaskOrder | undefined;
}

interface OwnerLists {
  readonly all: TaskOrder;
  readonly byContext: Map<string, TaskOrder>;
}

const createOrder = (): TaskOrder => new TaskOrder(({ index }) => index.statusTimestamp);

/** The orders of an empty store. */
export function createMemoryLists(): MemoryLists {
  /** By tenant, then by principal. */
  const tenants = new Map<string, Map<string, OwnerLists>>();

  const findOwner = ({ tenant, principal }: Owner): OwnerLists | undefined =>
    tenants.get(tenant)?.get(principal);

  function openOwner({ tenant, principal }: Owner): OwnerLists {
    const principals = tenants.get(tenant) ?? new Map<string, OwnerLists>();
    tenants.set(tenant, principals);
    const lists = principals.get(principal) ?? { all: createOrder(), byContext: new Map() };
    principals.set(principal, lists);
    return lists;
  }

  return {
    add(task) {
      const { all, byContext } = openOwner(task.owner);
      const { contextId } = task.index;
      const context = byContext.get(contextId) ?? createOrder();
      byContext.set(contextId, context);
      all.add(task);
      context.add(task);
    },

    remove(task) {
      const { tenant, principal } = task.owner;
      const principals = tenants.get(tenant);
      const lists = principals?.get(principal);
      const { contextId } = task.index;
      const context = lists?.byContext.get(contextId);
      lists?.all.remove(task);
      context?.remove(task);
      // Callers choose these names, so that nothing of them may stay.
      if (context?.isEmpty === true) lists?.byContext.delete(contextId);
      if (lists?.all.isEmpty === true) principals?.delete(principal);
      if (principals?.size === 0) tenants.delete(tenant);
    },

    find: ({ owner, contextId }) => {
      const lists = findOwner(owner);
      return contextId === undefined ? lists?.all : lists?.byContext.get(contextId);
    },
  };
}
