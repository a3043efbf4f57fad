import { isTerminal } from "@a2a-connect/core";
import { TaskState } from "@a2a-connect/proto";
import type { DurableEvent, QuestionEvent } from "../../agent/task-event.ts";
import { AgentMistake } from "../agent-mistake.ts";
import { assertEvent, type Emitter, isEvent } from "../emitter.ts";
import type { DurableRun } from "./durable-run.ts";
import { replayResult } from "./durable-wait.ts";
import { describeEvent, type EmissionReplay, type LoggedEmission } from "./emission-replay.ts";
import { isResult } from "./journal-codec.ts";

/** What a durable executor may yield. */
const eventKinds: readonly DurableEvent["kind"][] = ["status", "artifact", "question"];

/** The events that a durable executor yields: events that the log has are not repeated, all others are added to it. */
export class DurableEmissions {
  readonly #run: DurableRun;
  readonly #emitter: Emitter;
  readonly #replay: EmissionReplay;
  /** The task's state at the current point of the replay. */
  #state: TaskState = TaskState.SUBMITTED;
  #yields = 0;

  constructor(run: DurableRun, emitter: Emitter, replay: EmissionReplay) {
    this.#run = run;
    this.#emitter = emitter;
    this.#replay = replay;
  }

  /**
   * Takes an event; resolves when the executor may go on.
   *
   * @returns whether the event ended the task
   * @throws AgentMistake when the event is not allowed, JournalDiverged when it differs from the log
   */
  async emit(event: DurableEvent): Promise<boolean> {
    const { journal, unused } = this.#run;
    const op = `yield#${++this.#yields}`;
    unused.used(event);
    const known = journal.find(op);
    if (isResult(known)) {
      await replayResult(this.#run, known); // the same mistake as in the earlier run
    }
    if (isEvent(event, eventKinds)) {
      if (!journal.order.isCaughtUp && isSilent(event) && event.state === this.#state) {
        return false; // the earlier run dropped it, too
      }
      if (this.#replay.left > 0) {
        await this.#repeat(event);
        return false;
      }
    }
    await journal.order.caughtUp();
    return this.#emit(event, op);
  }

  /** The caller has answered: the engine has put WORKING into the log. */
  answered(): void {
    this.#state = TaskState.WORKING;
  }

  async #repeat(event: DurableEvent): Promise<void> {
    const { journal } = this.#run;
    const logged = await this.#next();
    const what = describeEvent(event);
    if (what !== logged.what) {
      throw this.#run.diverge(`the log has ${logged.what}, the executor gave ${what}`, logged.generation);
    }
    if (event.kind === "artifact") {
      this.#emitter.begin(event.artifact.artifactId);
    } else {
      this.#state = event.kind === "question" ? event.status.state : event.state;
    }
    journal.order.repeat();
    await journal.order.emission(logged.sequence);
  }

  async #next(): Promise<LoggedEmission> {
    try {
      return await this.#run.journal.order.whileReading(this.#replay.next());
    } catch (error) {
      return this.#run.abandon(error);
    }
  }

  async #emit(event: DurableEvent, op: string): Promise<boolean> {
    const { journal, live } = this.#run;
    const status = event?.kind === "question" ? event.status : event;
    try {
      assertEvent(event, eventKinds);
      if (status.kind === "artifact") {
        const taking = this.#emitter.artifact(status);
        if (taking !== undefined) await this.#run.pauseFor(taking);
      } else {
        this.#emitter.status(status);
      }
    } catch (error) {
      if (error instanceof AgentMistake) {
        const { message, reason } = error;
        await replayResult(this.#run, journal.conclude({ op, kind: "mistake", message, reason }));
      }
      throw error;
    }
    if (status.kind === "status" && isTerminal(status.state)) {
      return true;
    }
    const sequence = live.accepted.sequence;
    await (event.kind === "question" ? live.flushed() : this.#run.untilRoom());
    await journal.order.emission(sequence);
    return false;
  }
}

function isSilent(event: DurableEvent): event is Exclude<DurableEvent, QuestionEvent | { kind: "artifact" }> {
  return event.kind === "status" && event.parts.length === 0 && Object.keys(event.report).length === 0;
}
