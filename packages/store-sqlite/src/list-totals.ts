import type { Owner, TaskQuery } from "@a2a-connect/server/store";
import type { TaskRow } from "./task-rows.ts";

/** What lists filter and order a task by. */
export interface ListPlace {
  readonly owner: Owner;
  readonly contextId: string;
  readonly state: number;
  readonly statusTimestamp: number;
  readonly taskId: string;
}

/** The place of a row of `tasks`. */
export function toPlace(row: PlaceRow): ListPlace {
  return {
    owner: { tenant: row.tenant, principal: row.principal },
    contextId: row.context_id,
    state: row.state,
    statusTimestamp: row.status_timestamp,
    taskId: row.task_id,
  };
}

/** The columns of `tasks` that make a place. */
export type PlaceRow = Pick<
  TaskRow,
  "tenant" | "principal" | "context_id" | "state" | "status_timestamp" | "task_id"
>;

/** A committed change of a task's place; undefined: there was no task before, or there is none after. */
export interface ListChange {
  readonly from: ListPlace | undefined;
  readonly to: ListPlace | undefined;
}

type Place = Pick<ListPlace, "statusTimestamp" | "taskId">;
type Filter = Pick<TaskQuery, "owner" | "contextId" | "state" | "since">;

/** Tallies of one owner, or of one of its contexts, that are kept. A commit looks at each of them. */
const maxTallies = 16;

/** Owners and contexts whose tallies are kept. */
const maxKeys = 1_000;

/** How many tasks match a filter. It is counted from the newest task on, in steps; between them tasks may move. */
export class Tally {
  readonly filter: Filter;
  #total = 0;
  /** The last place that was counted; undefined: none yet. */
  #last: Place | undefined;
  #isDone = false;

  constructor(filter: Filter) {
    this.filter = filter;
  }

  get total(): number {
    return this.#total;
  }

  /** Whether all tasks have been counted. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Adds the matches up to the place `last`; undefined: all others. */
  add(matches: number, last: Place | undefined): void {
    this.#total += matches;
    this.#last = last;
    this.#isDone = last === undefined;
  }

  apply({ from, to }: ListChange): void {
    if (from !== undefined && this.#counts(from)) this.#total -= 1;
    if (to !== undefined && this.#counts(to)) this.#total += 1;
  }

  /** Whether a task in this place is among those that were counted. */
  #counts({ contextId, state, statusTimestamp, taskId }: ListPlace): boolean {
    const { filter } = this;
    if (filter.contextId !== undefined && filter.contextId !== contextId) return false;
    if (filter.state !== undefined && filter.state !== state) return false;
    if (filter.since !== undefined && statusTimestamp < filter.since) return false;
    if (this.#isDone || this.#last === undefined) return this.#isDone;
    const { statusTimestamp: lastTime, taskId: lastId } = this.#last;
    return statusTimestamp > lastTime || (statusTimestamp === lastTime && compareBytes(taskId, lastId) >= 0);
  }
}

/**
 * The totals of lists. A filter that was asked for is counted once, and its total is kept up to date with each commit, so
 * that a page costs its tasks, however many there are beside them. Those that were asked for last are kept.
 */
export class ListTotals {
  /** By owner and context, the ones used last at the end; in each, the tallies used last at the end. */
  readonly #tallies = new Map<string, Tally[]>();

  /** The total of a filter, as far as it is counted. Add to it what is missing. */
  open({ owner, contextId, state, since }: Filter): Tally {
    const key = formatKey(owner, contextId);
    const tallies = this.#tallies.get(key) ?? [];
    const at = tallies.findIndex(
      ({ filter, isDone }) => isDone && filter.state === state && filter.since === since,
    );
    const [tally = new Tally({ owner, contextId, state, since })] = at < 0 ? [] : tallies.splice(at, 1);
    tallies.push(tally);
    if (tallies.length > maxTallies) tallies.shift();
    this.#tallies.delete(key);
    this.#tallies.set(key, tallies);
    if (this.#tallies.size > maxKeys) this.#tallies.delete(this.#tallies.keys().next().value ?? key);
    return tally;
  }

  /** Call it when the change is committed, before a list is read. */
  apply(change: ListChange): void {
    if (this.#tallies.size === 0) return;
    const keys = new Set<string>();
    for (const place of [change.from, change.to]) {
      if (place === undefined) continue;
      keys.add(formatKey(place.owner, undefined));
      keys.add(formatKey(place.owner, place.contextId));
    }
    for (const key of keys) {
      for (const tally of this.#tallies.get(key) ?? []) tally.apply(change);
    }
  }
}

function formatKey({ tenant, principal }: Owner, contextId: string | undefined): string {
  return JSON.stringify([tenant, principal, contextId]);
}

/** As SQLite compares texts: by their bytes in UTF-8. */
function compareBytes(one: string, other: string): number {
  return one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other));
}
