import { shareTask } from "@a2a-connect/core/internal";
import type { TaskTracker } from "../task-tracker.ts";
import type { NumberedResponse, Source } from "./source.ts";

/** How many responses wait for a follower that is slower than another one. Beyond that it gets a stream of its own. */
const maxWaiting = 64;

/** What a reader waits for before it goes on; undefined: nothing. @throws the reason of its signal */
type NextTurn = (signal: AbortSignal) => Promise<void> | undefined;

/**
 * One stream for several followers of a task. It is read as fast as the fastest of them reads, and ends with the last.
 *
 * Every stream of SubscribeToTask is read through one, even for a single follower, because another may join at any
 * response. So a reader waits for each response, also for one that the source has ready.
 */
export class SharedStream {
  readonly #source: Source;
  readonly #turn: NextTurn;
  readonly #readers = new Set<Reader>();
  /** Whether the first response of the stream was the whole task. */
  #beganWhole: boolean | undefined;
  #isReading = false;
  #isOver = false;

  constructor(source: Source, turn: NextTurn) {
    this.#source = source;
    this.#turn = turn;
  }

  /** The source of the follower for which the stream was opened. */
  begin(tracker: TaskTracker, signal: AbortSignal): Reader {
    const reader: Reader = new Reader(tracker, signal, {
      turn: this.#turn,
      ask: () => this.#read(),
      leave: () => this.#leave(reader),
    });
    this.#readers.add(reader);
    return reader;
  }

  /**
   * A source for one more follower: what comes from now on, after the task as it is if the follower needs that.
   *
   * @returns undefined when the follower needs earlier events, or the stream is over
   */
  join(tracker: TaskTracker, signal: AbortSignal): Source | undefined {
    const first = this.#isOver ? "missing" : this.#firstFor(tracker);
    if (first === "missing") {
      return undefined;
    }
    const reader = this.begin(tracker, signal);
    if (first !== undefined) {
      reader.give(first);
    }
    return reader;
  }

  /** What a new follower must get first; undefined for nothing. */
  #firstFor({ position }: TaskTracker): NumberedResponse | "missing" | undefined {
    // A follower that waits for the next response has taken all before it.
    const known = [...this.#readers].find(({ isWaiting }) => isWaiting)?.tracker;
    if (known === undefined) {
      return "missing";
    }
    const hasBegun = this.#beganWhole !== undefined;
    if (position === known.position && (position !== undefined || !hasBegun)) {
      return undefined;
    }
    if (position !== undefined) {
      return "missing";
    }
    const { task, isWhole, isExact } = known;
    return task !== undefined && isWhole && (this.#beganWhole === true || isExact)
      ? {
          response: {
            $typeName: "lf.a2a.v1.StreamResponse",
            payload: { case: "task", value: shareTask(task) },
          },
          id: known.position,
        }
      : "missing";
  }

  #read(): void {
    if (this.#isReading || this.#isOver) {
      return;
    }
    this.#isReading = true;
    const next = async () => this.#source.read(); // a failure at once is a rejection, too
    next().then(
      (read) => {
        this.#isReading = false;
        this.#beganWhole ??= read?.response.payload.case === "task";
        this.#isOver ||= read === undefined;
        for (const reader of this.#readers) {
          reader.give(read);
        }
      },
      (error: unknown) => {
        this.#isOver = true;
        for (const reader of this.#readers) {
          reader.fail(error);
        }
      },
    );
  }

  #leave(reader: Reader): void {
    this.#readers.delete(reader);
    if (this.#readers.size === 0) {
      this.#isOver = true;
      this.#source[Symbol.dispose]();
    }
  }
}

/** The stream as one follower sees it. */
class Reader implements Source {
  readonly tracker: TaskTracker;
  readonly #signal: AbortSignal;
  readonly #stream: { readonly turn: NextTurn; readonly ask: () => void; readonly leave: () => void };
  readonly #responses: NumberedResponse[] = [];
  #next: PromiseWithResolvers<NumberedResponse | undefined> | undefined;
  /** Set when nothing more comes. */
  #end: { readonly error?: unknown } | undefined;

  constructor(
    tracker: TaskTracker,
    signal: AbortSignal,
    stream: { readonly turn: NextTurn; readonly ask: () => void; readonly leave: () => void },
  ) {
    this.tracker = tracker;
    this.#signal = signal;
    this.#stream = stream;
    signal.addEventListener("abort", this.#abort, { once: true });
  }

  get isWaiting(): boolean {
    return this.#next !== undefined;
  }

  async read(): Promise<NumberedResponse | undefined> {
    this.#signal.throwIfAborted();
    try {
      return await this.#take();
    } finally {
      const turn = this.#stream.turn(this.#signal);
      if (turn !== undefined) await turn;
    }
  }

  async #take(): Promise<NumberedResponse | undefined> {
    const response = this.#responses.shift();
    if (response !== undefined) {
      return response;
    }
    if (this.#end !== undefined) {
      if ("error" in this.#end) {
        throw this.#end.error;
      }
      return undefined;
    }
    this.#next = Promise.withResolvers();
    this.#stream.ask();
    return this.#next.promise;
  }

  give(response: NumberedResponse | undefined): void {
    const next = this.#next;
    this.#next = undefined;
    if (next !== undefined) {
      next.resolve(response);
    } else if (response === undefined || this.#responses.length >= maxWaiting) {
      this.#end ??= {};
    } else if (this.#end === undefined) {
      this.#responses.push(response);
    }
  }

  fail(error: unknown): void {
    this.#next?.reject(error);
    this.#next = undefined;
    this.#end ??= { error };
  }

  [Symbol.dispose](): void {
    this.#signal.removeEventListener("abort", this.#abort);
    this.#stream.leave();
  }

  readonly #abort = (): void => this.fail(this.#signal.reason);
}
