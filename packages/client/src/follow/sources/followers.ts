import { afterMicrotasks, SharedRequest, untilAborted } from "@a2a-connect/core/internal";
import type { Task } from "@a2a-connect/proto";
import type { TaskTracker } from "../task-tracker.ts";
import { SharedStream } from "./shared-stream.ts";
import type { Source } from "./source.ts";

/**
 * The followers of one task in one client, with the same headers: they share one stream or poll. An agent may give one task to all who
 * send it messages, and each of them compares what comes with what it knows. So they go on one after the other, in turns of the platform.
 */
export class Followers implements Disposable {
  readonly #forget: () => void;
  readonly #nextTurn: () => Promise<void> | undefined;
  /** Ends when the follower that came last may go on. */
  #line: Promise<void> = Promise.resolve();
  #stream: SharedStream | undefined;
  #poll: { readonly number: number; readonly request: SharedRequest<Task> } | undefined;
  #answer: { readonly number: number; readonly task: Task } | undefined;
  #started = 0;
  #answered = 0;
  #count = 0;

  constructor(forget: () => void, nextTurn: () => Promise<void> | undefined) {
    this.#forget = forget;
    this.#nextTurn = nextTurn;
  }

  /** One more follower; each of them disposes of it. */
  enter(): this {
    this.#count += 1;
    return this;
  }

  [Symbol.dispose](): void {
    this.#count -= 1;
    if (this.#count === 0) {
      this.#forget();
    }
  }

  /** The number of the newest poll that was begun. */
  get started(): number {
    return this.#started;
  }

  /** The number of the newest poll that was answered. Polls are numbered as they begin, from 1. */
  get answered(): number {
    return this.#answered;
  }

  /** The stream that another follower reads already, or a new one. */
  stream(tracker: TaskTracker, signal: AbortSignal, open: () => Source): Source {
    const joined = this.#stream?.join(tracker, signal);
    if (joined !== undefined) {
      return joined;
    }
    this.#stream = new SharedStream(open(), (reader) => this.#turn(reader));
    return this.#stream.begin(tracker, signal);
  }

  /** The task by a later poll than number `after`: that of another follower, or a new one. */
  async poll(after: number, signal: AbortSignal, ask: (signal: AbortSignal) => Promise<Task>): Promise<Task> {
    try {
      return await this.#sharedPoll(after, signal, ask);
    } finally {
      const turn = this.#turn(signal);
      if (turn !== undefined) await turn;
    }
  }

  async #sharedPoll(
    after: number,
    signal: AbortSignal,
    ask: (signal: AbortSignal) => Promise<Task>,
  ): Promise<Task> {
    if (this.#answer !== undefined && this.#answer.number > after) {
      return this.#answer.task;
    }
    if (this.#poll === undefined || this.#poll.number <= after) {
      this.#started += 1;
      this.#poll = { number: this.#started, request: new SharedRequest() };
    }
    const poll = this.#poll;
    return poll.request.join(async (shared) => {
      try {
        const task = await ask(shared);
        this.#answered = Math.max(this.#answered, poll.number);
        this.#answer = this.#count > 1 ? { number: poll.number, task } : undefined;
        return task;
      } finally {
        if (this.#poll === poll) {
          this.#poll = undefined;
        }
      }
    }, signal);
  }

  /**
   * What a follower waits for before it works on an answer or a failure that others have got, too; undefined: nothing. The one before it
   * has then worked, so that the time which that took counts.
   *
   * @throws the reason of the signal
   */
  #turn(signal: AbortSignal): Promise<void> | undefined {
    if (this.#count < 2) {
      return undefined;
    }
    this.#line = this.#line.then(async () => {
      if (!signal.aborted) {
        await new Promise<void>(afterMicrotasks);
        await this.#nextTurn();
      }
    });
    return untilAborted(this.#line, signal);
  }
}

/**
 * The followers of one task that send the same headers; enters the caller among them.
 *
 * @param nextTurn what each of several waits for before it goes on; undefined: nothing
 */
export function enterFollowers(
  all: Map<string, Followers>,
  taskId: string | undefined,
  headers: Readonly<Record<string, string>>,
  nextTurn: () => Promise<void> | undefined,
): Followers {
  const key = JSON.stringify([taskId, Object.entries(headers).sort()]);
  const known = all.get(key) ?? new Followers(() => all.delete(key), nextTurn);
  all.set(key, known);
  return known.enter();
}
