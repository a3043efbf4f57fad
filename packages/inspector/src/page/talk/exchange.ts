import type { TaskStream } from "@a2a-connect/client";
import { isInterrupted, isTerminal } from "@a2a-connect/core";
import type { Part } from "@a2a-connect/proto";
import { type ReadonlySignal, signal } from "@preact/signals";
import { explain, type Failure } from "../session/failure.ts";
import { connectedAgent } from "../session/session.ts";
import { createBreath, createFramed, type Framed } from "../ui/frame.ts";
import { TaskFold } from "./task-fold.ts";

/** What is sent. */
export interface Outgoing {
  readonly parts: readonly Part[];
  /** The skill that shall do it; undefined: the agent chooses. */
  readonly skill: string | undefined;
}

/** `open`: events come in. `waiting`: the agent has asked. `over`: nothing more comes. */
export type Phase = "open" | "waiting" | "over";

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
    return this.#follow(() =>
      connectedAgent().stream(input, { until: "settled", ...(skill === undefined ? {} : { skill }) }),
    );
  }

  /** Shows a task that exists, from its creation on. */
  resume(taskId: string): Promise<void> {
    return this.#follow(() => connectedAgent().follow(taskId, { after: 0, until: "settled" }));
  }

  /** Sends the answer to what the agent has asked. */
  answer(parts: readonly Part[]): Promise<void> {
    this.fold.addInput(parts);
    const { taskId, contextId } = this.fold;
    return this.#follow(() => connectedAgent().stream({ parts, taskId, contextId }, { until: "settled" }));
  }

  /** Asks the agent to cancel the task. The stream brings what comes of it. */
  async cancel(): Promise<void> {
    try {
      const task = await connectedAgent().cancelTask(this.fold.taskId);
      if (this.#phase.value === "waiting" && task.status !== undefined) {
        this.fold.status = task.status; // no stream is open while the agent waits
        this.#phase.value = "over";
        this.#framed.changed();
      }
    } catch (error) {
      this.#failure.value = explain(error);
    }
  }

  async #follow(open: () => TaskStream): Promise<void> {
    this.#phase.value = "open";
    this.#failure.value = undefined;
    this.#framed.changed();
    const breathe = createBreath();
    try {
      for await (const event of open()) {
        this.fold.apply(event);
        this.#framed.changed();
        if (breathe.isDue()) await breathe();
      }
    } catch (error) {
      this.#failure.value = explain(error);
    }
    const { state } = this.fold;
    this.#phase.value = isInterrupted(state) && !isTerminal(state) ? "waiting" : "over";
    this.#framed.changed();
  }
}
