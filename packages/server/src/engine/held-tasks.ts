import { invalidParams } from "@a2a-connect/core";
import { lastEventIdHeader, type Reader, type SharedBudget } from "@a2a-connect/core/internal";
import type { Owner } from "../store/task-store.ts";
import type { LiveTask } from "./live-task.ts";
import type { LiveTasks } from "./live-tasks.ts";
import { taskNotFound } from "./read-task.ts";
import type { SeenTask, TaskHandle } from "./task-handle.ts";

/** Who calls; its share is that of the slots and the memory, too. */
export interface Caller extends Reader {
  readonly owner: Owner;
}

/** A task that is in memory for a call, until it is released. */
export interface Held {
  readonly reader: Reader;
  readonly live: LiveTask;
  readonly release: () => void;
}

/** Tasks that are held in memory for calls: each call counts as a follower of its caller, and releases its task. */
export class HeldTasks {
  readonly #tasks: LiveTasks;
  readonly #followers: SharedBudget;

  constructor(tasks: LiveTasks, followers: SharedBudget) {
    this.#tasks = tasks;
    this.#followers = followers;
  }

  /** A task that exists, for a caller. @throws ConnectError TASK_NOT_FOUND, CAPACITY */
  async acquire(caller: Caller, taskId: string): Promise<Held> {
    const follower = this.#followers.open(caller.share);
    follower.add(1);
    let live: LiveTask | undefined;
    try {
      live = await this.#tasks.acquire(caller.owner, taskId, caller);
    } finally {
      if (live === undefined) follower.end();
    }
    if (live === undefined) {
      throw taskNotFound(taskId);
    }
    const { release } = this.created(live, caller);
    return {
      live,
      reader: caller,
      release: () => {
        follower.end();
        release();
      },
    };
  }

  /** A task that was created by this call. */
  created(live: LiveTask, reader: Reader): Held {
    return { live, reader, release: () => this.#tasks.release(live) };
  }

  /** @param first the current task; undefined when only the events after `cursor` are wanted */
  handle(
    { live, reader, release }: Held,
    accepted: number,
    first: SeenTask | undefined,
    cursor = 0,
  ): TaskHandle {
    return {
      kind: "task",
      accepted,
      first,
      cursor: first?.generation ?? cursor,
      seen: () => live.seen(),
      weigh: () => live.bytes,
      settled: (signal) => live.settledAfter(accepted, signal),
      eventsAfter: (generation, signal) => live.readers.eventsAfter(generation, signal, reader.share),
      release,
    };
  }

  /**
   * The handle of a message that was taken before, whether the task has ended or not.
   *
   * @param accepted generation after which the message's consequences begin
   * @param lastEventId the last event that the caller has; undefined for a caller that begins with the current task
   * @throws ConnectError InvalidArgument when there is no event `lastEventId` yet
   */
  attach(held: Held, accepted: number, lastEventId: number | undefined): TaskHandle {
    const { live, release } = held;
    if (lastEventId === undefined) {
      return this.handle(held, accepted, live.seen());
    }
    try {
      assertEventExists(lastEventId, live.generation);
    } catch (error) {
      release();
      throw error;
    }
    return this.handle(held, accepted, undefined, lastEventId);
  }
}

/** @throws ConnectError InvalidArgument */
export function assertEventExists(lastEventId: number, generation: number): void {
  if (lastEventId > generation) {
    throw invalidParams({
      field: lastEventIdHeader,
      description: `there is no event ${lastEventId} of this task yet`,
    });
  }
}
