import type { SdkEvent } from "./sdk-types.ts";

type Listener = (event?: SdkEvent) => void;
type EventName = "event" | "finished";

/** The `ExecutionEventBus` of `@a2a-js/sdk` 1.x for one execution. What is published waits in order for its one reader. */
export class EventBus<Taken = SdkEvent> {
  readonly #take: (event: SdkEvent) => Taken;
  #waiting: Taken[] = [];
  readonly #listeners = { event: new Map<Listener, Listener>(), finished: new Map<Listener, Listener>() };
  #wake: () => void = () => {};
  #ended = false;
  #failure: { readonly error: unknown } | undefined;

  /** @param take makes of an event what waits, as soon as it is published */
  constructor(take: (event: SdkEvent) => Taken) {
    this.#take = take;
  }

  publish(event: SdkEvent): void {
    if (this.#ended) return;
    this.#waiting.push(this.#take(event));
    for (const listener of [...this.#listeners.event.values()]) listener(event);
    this.#wake();
  }

  finished(): void {
    this.end();
  }

  /** Nothing more is published. A second call does nothing. It never throws: what a listener throws is the execution's failure. */
  end(...failure: [] | [error: unknown]): void {
    if (this.#ended) return;
    this.#ended = true;
    if (failure.length > 0) this.#failure = { error: failure[0] };
    for (const listener of [...this.#listeners.finished.values()]) {
      try {
        listener();
      } catch (error) {
        this.#failure ??= { error };
      }
    }
    this.#wake();
  }

  on(name: EventName, listener: Listener): this {
    this.#listeners[name].set(listener, listener);
    return this;
  }

  once(name: EventName, listener: Listener): this {
    this.#listeners[name].set(listener, (event) => {
      this.off(name, listener);
      listener(event);
    });
    return this;
  }

  off(name: EventName, listener: Listener): this {
    this.#listeners[name].delete(listener);
    return this;
  }

  removeAllListeners(name?: EventName): this {
    for (const each of name === undefined ? (["event", "finished"] as const) : [name])
      this.#listeners[each].clear();
    return this;
  }

  /** All that is published until the end; then the failure of the execution is thrown, if it has failed. */
  async *events(): AsyncGenerator<Taken, void> {
    for (;;) {
      const batch = this.#waiting.reverse();
      this.#waiting = [];
      if (batch.length === 0) {
        if (this.#failure !== undefined) throw this.#failure.error;
        if (this.#ended) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      // By `pop`, because `shift` of many moves all the others.
      for (let next = batch.pop(); next !== undefined; next = batch.pop()) yield next;
    }
  }
}
