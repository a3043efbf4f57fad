import type { TaskStream } from "@a2a-connect/client";
import { isInterrupted, isTerminal } from "@a2a-connect/core";
import type { Part } from "@a2a-connect/proto";
import { type ReadonlySignal, signal } from "@preact/signals";
import { explain, type Failure } from "../session/failure.ts";
import { connectedAgent } from "../session/session.ts";
import { countKept, takeStreamSlot } from "../session/stream-slots.ts";
import { createBreath, createFramed, type Framed } from "../ui/frame.ts";
import { TaskFold } from "./task-fold.ts";

/** What is sent. */
export interface Outgoing {
  readonly parts: readonly Part[];
  /** The skill that shall do it; undefined: the agent chooses. */
  readonly skill: string | undefined;
}

/** `open`: events come in. `paused`: they would, but other streams took the place. `waiting`: the agent has asked. `over`: nothing more comes. */
export type Phase = "open" | "paused" | "waiting" | "over";

/** How long after a cancellation its event may come, in milliseconds. */
const lastEventMs = 1_000;

let count = 0;

/** A message of the caller, and the task that it became. */
export class Exchange {
  readonly key: number = ++count;
  readonly sent: Outgoing;
  readonly fold: TaskFold = new TaskFold();
  readonly began: number = Date.now();
  readonly #phase = signal<Phase>("open");
  readonly #failure = signal<Failure | undefined>(undefined);
  readonly #framed: Framed<TaskFold> = createFramed(this.fold);
  /** Number of the last event. */
  #position: number | undefined;
  /** Ends the open stream. */
  #leave: () => void = () => {};

  constructor(sent: Outgoing) {
    this.sent = sent;
    if (sent.parts.length > 0) this.fold.addInput(sent.parts);
  }

  get phase(): ReadonlySignal<Phase> {
    return this.#phase;
  }

  get failure(): ReadonlySignal<Failure | undefined> {
    return this.#failure;
  }

  /** The task, anew for every frame with something new. */
  get shown(): ReadonlySignal<{ readonly current: TaskFold }> {
    return this.#framed.shown;
  }

  /** Sends the message in a conversation, and follows the task until it has settled. */
  start(contextId: string): Promise<void> {
    const { parts, skill } = this.sent;
    const input = contextId === "" ? parts : { parts, contextId };
    const named = skill === undefined ? {} : { skill };
    return this.#follow((signal) => connectedAgent().stream(input, { signal, until: "settled", ...named }));
  }

  /** Shows a task that exists, from its creation on. */
  resume(taskId: string): Promise<void> {
    return this.#follow((signal) => connectedAgent().follow(taskId, { signal, after: 0, until: "settled" }));
  }

  /** Goes on with a stream that was paused. */
  goOn(): Promise<void> {
    const after = this.#position === undefined ? {} : { after: this.#position };
    const { taskId } = this.fold;
    return this.#follow((signal) => connectedAgent().follow(taskId, { signal, until: "settled", ...after }));
  }

  /** Sends the answer to what the agent has asked. */
  answer(parts: readonly Part[]): Promise<void> {
    this.fold.addInput(parts);
    const { taskId, contextId } = this.fold;
    const input = { parts, taskId, contextId };
    return this.#follow((signal) => connectedAgent().stream(input, { signal, until: "settled" }));
  }

  /** Asks the agent to cancel the task. The stream brings what comes of it, if there is one, and soon. */
  async cancel(): Promise<void> {
    try {
      const { status } = await connectedAgent().cancelTask(this.fold.taskId);
      if (this.#phase.value === "open") await new Promise((resolve) => setTimeout(resolve, lastEventMs));
      if (status !== undefined && isTerminal(status.state) && !isTerminal(this.fold.state)) {
        this.fold.status = status;
        this.#leave();
        this.#phase.value = "over";
        this.#framed.changed();
      }
    } catch (error) {
      this.#failure.value = explain(error);
    }
  }

  async #follow(open: (signal: AbortSignal) => TaskStream): Promise<void> {
    const lost = new AbortController();
    this.#leave = () => lost.abort(new Error("the task has ended"));
    using _slot = takeStreamSlot(() => lost.abort(new Error("other streams were opened")));
    this.#phase.value = "open";
    this.#failure.value = undefined;
    this.#framed.changed();
    const breathe = createBreath();
    try {
      const stream = open(lost.signal);
      const count = countKept();
      for await (const event of stream) {
        count(event);
        this.fold.apply(event);
        this.#position = stream.lastEventId;
        this.#framed.changed();
        if (breathe.isDue()) await breathe();
      }
    } catch (error) {
      if (!lost.signal.aborted) this.#failure.value = explain(error);
    }
    const { state, taskId } = this.fold;
    const isPaused = lost.signal.aborted && !isTerminal(state) && taskId !== "";
    this.#phase.value = isPaused ? "paused" : isInterrupted(state) ? "waiting" : "over";
    this.#framed.changed();
  }
}
