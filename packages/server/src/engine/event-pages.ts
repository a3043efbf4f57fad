import {
  decodeInSteps,
  type Holding,
  type Reader,
  ReadTurns,
  type SharedBudget,
  type Wakes,
} from "@a2a-connect/core/internal";
import { StreamResponseSchema } from "@a2a-connect/proto";
import { isSameOwner } from "../store/decide-commit.ts";
import type { LogEvent, Owner, TaskStore } from "../store/task-store.ts";
import type { Clock } from "./clock.ts";
import { CommittedEvent } from "./events.ts";
import { weighStep } from "./memory-weight.ts";
import { DecodingTurns } from "./read-task.ts";

/** Events in one page. */
const pageSize = 100;

/** The same while readers of the caller hold too many: the one that is sent, which counts among what is not read yet. */
const shortPageSize = 1;

/** Events of a task, for one reader. */
export interface EventPage {
  readonly events: readonly CommittedEvent[];
  /** The reader needs them no longer. */
  release(): void;
}

interface KeptPage {
  readonly owner: Owner;
  /** It begins with the event after this one. */
  readonly after: number;
  readonly read: Promise<readonly CommittedEvent[]>;
  /** Undefined while it is read. */
  events: readonly CommittedEvent[] | undefined;
  /** The bytes of its events, for the reader that has read them. */
  readonly bytes: Holding;
  readers: number;
}

/**
 * Reads old events of tasks from the store, in pages. A page that a reader has at the moment is given to further readers as it
 * is: hundreds may follow the same task from its beginning, and each would read, decode and keep megabytes.
 */
export class EventPages {
  readonly #store: Pick<TaskStore, "events">;
  readonly #budget: SharedBudget;
  readonly #clockFor: (share: string | undefined) => Pick<Clock, "nextTurn">;
  readonly #turns = new ReadTurns(4);
  /** Of each page: a store in memory answers at once, and a reader may want thousands, one after the other. */
  readonly #pace: Pick<Wakes, "turn">;
  /** By id of the task. */
  readonly #kept = new Map<string, Set<KeptPage>>();

  /**
   * @param budget of the memory for all pages; those of a caller that has its part are short
   * @param clockFor gives the turns in which events are decoded for a caller
   * @param pace of the reads, by caller
   */
  constructor(
    store: Pick<TaskStore, "events">,
    budget: SharedBudget,
    clockFor: (share: string | undefined) => Pick<Clock, "nextTurn">,
    pace: Pick<Wakes, "turn">,
  ) {
    this.#store = store;
    this.#budget = budget;
    this.#clockFor = clockFor;
    this.#pace = pace;
  }

  /**
   * A page of the owner's events after a generation, oldest first. It has no events when there are none, or no such task. Release
   * it.
   *
   * @throws ConnectError why the signal of a reader that waited for its turn aborted
   */
  async open(owner: Owner, taskId: string, after: number, reader: Reader): Promise<EventPage> {
    const page =
      this.#join(owner, taskId, after) ??
      (await this.#turns.run(reader, async () => {
        await this.#pace.turn(reader.share);
        const read = this.#join(owner, taskId, after) ?? this.#read(owner, taskId, after, reader.share);
        await read.read.catch(() => {}); // told below, once
        return read;
      }));
    const release = () => this.#leave(taskId, page);
    try {
      const events = await page.read;
      const first = after + 1 - (events[0]?.generation ?? 0);
      return { events: first === 0 ? events : events.slice(first), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  #join(owner: Owner, taskId: string, after: number): KeptPage | undefined {
    for (const page of this.#kept.get(taskId) ?? []) {
      const last = page.events === undefined ? page.after + 1 : (page.events.at(-1)?.generation ?? 0);
      if (page.after <= after && after < last && isSameOwner(page.owner, owner)) {
        page.readers += 1;
        return page;
      }
    }
    return undefined;
  }

  #read(owner: Owner, taskId: string, after: number, share: string | undefined): KeptPage {
    const limit = this.#budget.isExceeded(share) ? shortPageSize : pageSize;
    const bytes = this.#budget.open(share);
    const read = this.#store
      .events(owner, taskId, after, limit)
      .then((stored) => decodeEvents(stored, this.#clockFor(share)))
      .then((events) => {
        page.events = events;
        bytes.grow(events.reduce((sum, { weight }) => sum + weight, 0));
        return events;
      });
    const page: KeptPage = { owner, after, read, events: undefined, bytes, readers: 1 };
    const kept = this.#kept.get(taskId);
    if (kept === undefined) this.#kept.set(taskId, new Set([page]));
    else kept.add(page);
    return page;
  }

  #leave(taskId: string, page: KeptPage): void {
    page.readers -= 1;
    if (page.readers > 0) return;
    const kept = this.#kept.get(taskId);
    kept?.delete(page);
    if (kept?.size === 0) this.#kept.delete(taskId);
    page.bytes.end();
  }
}

/** Decodes events in turns: the first of a task may have a caller's message of a hundred thousand values. */
async function decodeEvents(
  stored: readonly LogEvent[],
  clock: Pick<Clock, "nextTurn">,
): Promise<readonly CommittedEvent[]> {
  const events: CommittedEvent[] = [];
  const turns = new DecodingTurns(clock);
  for (const { generation, payload } of stored) {
    const steps = decodeInSteps(StreamResponseSchema, payload, { onValues: turns.countValues });
    let step = steps.next();
    for (; step.done !== true; step = steps.next()) {
      const turn = turns.count(step.value);
      if (turn !== undefined) await turn;
    }
    const { weight } = weighStep(step.value.payload, payload.length);
    events.push(new CommittedEvent(generation, step.value, weight));
  }
  return events;
}
