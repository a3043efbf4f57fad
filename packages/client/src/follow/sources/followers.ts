import { SharedRequest } from "@a2a-connect/core/internal";
import type { Task } from "@a2a-connect/proto";
import type { TaskTracker } from "../task-tracker.ts";
import { SharedStream } from "./shared-stream.ts";
import type { Source } from "./source.ts";

/** The followers of one task in one client, with the same headers: they share one stream or poll. */
export class Followers implements Disposable {
  readonly #forget: () => void;
  #stream: SharedStream | undefined;
  #poll: { readonly number: number; readonly request: SharedRequest<Task> } | undefined;
  #answer: { readonly number: number; readonly task: Task } | undefined;
  #started = 0;
  #answered = 0;
  #count = 0;

  constructor(forget: () => void) {
    this.#forget = forget;
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
    this.#stream = new SharedStream(open());
    return this.#stream.begin(tracker, signal);
  }

  /** The task by a later poll than number `after`: that of another follower, or a new one. */
  async poll(after: number, signal: AbortSignal, ask: (signal: AbortSignal) => Promise<Task>): Promise<Task> {
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
}

/** The followers of one task that send the same headers; enters the caller among them. */
export function enterFollowers(
  all: Map<string, Followers>,
  taskId: string | undefined,
  headers: Readonly<Record<string, string>>,
): Followers {
  const key = JSON.stringify([taskId, Object.entries(headers).sort()]);
  const known = all.get(key) ?? new Followers(() => all.delete(key));
  all.set(key, known);
  return known.enter();
}
