import type { StreamResponse, Task } from "@a2a-connect/proto";

/** Everything that clients were shown of one task. */
export interface ShownTask {
  readonly id: string;
  /** Streams in the order of their events. The first event of each is a Task. */
  readonly streams: ShownStream[];
  /** Answers of unary calls. */
  readonly answers: Task[];
  /** Ids of messages that were answered with success. */
  readonly acknowledged: Set<string>;
}

/** One stream as far as it came. */
export interface ShownStream {
  /** Whether it shows the task from its creation on; otherwise it starts with a snapshot. */
  readonly fromCreation: boolean;
  readonly events: StreamResponse[];
}

/** What was shown, over all rounds. It outlives the server, like the memory of real callers. */
export interface Ledger {
  readonly tasks: ReadonlyMap<string, ShownTask>;
  /** How many events and answers were shown. */
  readonly size: number;
  /** Notes the answer of a call, and the message that it acknowledges, if any. */
  answer(task: Task, messageId?: string): void;
  /** Notes each event of a stream as it comes; acknowledges the message with the first. */
  stream(fromCreation: boolean, messageId?: string): (event: StreamResponse) => void;
  /** Calls back, once, when so many more events and answers were shown. */
  after(count: number, callback: () => void): void;
}

/** An empty ledger. */
export function createLedger(): Ledger {
  const tasks = new Map<string, ShownTask>();
  let size = 0;
  let alarm = { at: Number.POSITIVE_INFINITY, ring: () => {} };

  const find = (id: string): ShownTask => {
    const known = tasks.get(id) ?? { id, streams: [], answers: [], acknowledged: new Set() };
    tasks.set(id, known);
    return known;
  };
  const count = () => {
    size += 1;
    if (size === alarm.at) alarm.ring();
  };

  return {
    tasks,
    get size() {
      return size;
    },
    answer(task, messageId) {
      const shown = find(task.id);
      shown.answers.push(task);
      if (messageId !== undefined) shown.acknowledged.add(messageId);
      count();
    },
    stream(fromCreation, messageId) {
      let events: StreamResponse[] | undefined;
      return (event) => {
        if (events === undefined) {
          if (event.payload.case !== "task") throw new Error(`a stream began with ${event.payload.case}`);
          const shown = find(event.payload.value.id);
          events = [];
          shown.streams.push({ fromCreation, events });
          if (messageId !== undefined) shown.acknowledged.add(messageId);
        }
        events.push(event);
        count();
      };
    },
    after(more, callback) {
      alarm = { at: size + more, ring: callback };
    },
  };
}
