import { SharedRequest } from "@a2a-connect/core/internal";
import type { Task } from "@a2a-connect/proto";
import type { ClientContext } from "../../client-context.ts";
import type { ClientClock } from "../../clock.ts";
import type { Observation } from "../observation.ts";
import { SharedStream } from "./shared-stream.ts";
import type { Source } from "./source.ts";

/** The followers of one task in one client, with the same headers: they share one stream or poll. */
export class Followers implements Disposable {
  readonly #clock: ClientClock;
  readonly #forget: () => void;
  #poll: { readonly beganMs: number; readonly request: SharedRequest<Task> } | undefined;
  #answer: { readonly beganMs: number; readonly task: Task } | undefined;
  #stream: SharedStream | undefined;
  #count = 0;

  constructor(clock: ClientClock, forget: () => void) {
    this.#clock = clock;
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

  /** The stream that another follower reads already, or a new one. */
  stream({ tracker, signal }: Observation, open: () => Source): Source {
    const joined = this.#stream?.join(tracker, signal);
    if (joined !== undefined) {
      return joined;
    }
    this.#stream = new SharedStream(open());
    return this.#stream.begin(tracker, signal);
  }

  /** The task by a request that began after `sinceMs`: that of another follower, or a new one. */
  async poll(
    sinceMs: number,
    signal: AbortSignal,
    ask: (signal: AbortSignal) => Promise<Task>,
  ): Promise<Task> {
    if (this.#answer !== undefined && this.#answer.beganMs > sinceMs) {
      return this.#answer.task;
    }
    if (this.#poll === undefined || this.#poll.beganMs <= sinceMs) {
      this.#poll = { beganMs: this.#clock.now(), request: new SharedRequest() };
    }
    const poll = this.#poll;
    return poll.request.join(async (shared) => {
      try {
        const task = await ask(shared);
        this.#answer = this.#count > 1 ? { beganMs: poll.beganMs, task } : undefined;
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
export function followersOf(
  { followers, settings: { clock } }: Pick<ClientContext, "followers" | "settings">,
  { tracker, headers }: Observation,
): Followers {
  const key = JSON.stringify([tracker.taskId, Object.entries(headers).sort()]);
  const known = followers.get(key) ?? new Followers(clock, () => followers.delete(key));
  followers.set(key, known);
  return known.enter();
}
