import { nextSlice } from "@a2a-connect/bindings/server";
import { formatTaskState } from "@a2a-connect/core";
import { stateOf } from "@a2a-connect/core/internal";
import type { TaskState } from "@a2a-connect/proto";
import type { DurableEvent } from "../../agent/task-event.ts";
import type { LogEvent, TaskRef } from "../../store/task-store.ts";
import type { EngineContext } from "../engine-context.ts";
import { DecodingTurns, entryBytes, taskNotFound } from "../read-task.ts";
import { decodeEvent } from "../task-log.ts";
import type { Journal } from "./journal.ts";

const pageSize = 1_000;

/** An event in the log that the executor has emitted. */
export interface LoggedEmission {
  readonly generation: number;
  readonly sequence: number;
  /** What must be the same again: the artifact, or the state. */
  readonly what: string;
}

/** The events that a task's executor has emitted before, read page by page, in order. What they contain is not kept. */
export class EmissionReplay {
  readonly #source: Pick<EngineContext, "store" | "reads">;
  readonly #task: TaskRef & { readonly share: string | undefined };
  /** Sequences of answers: the engine itself emits the WORKING right after each. */
  readonly #answers: ReadonlySet<number>;
  #cursor = 1; // the engine emits the creation
  #page: readonly LoggedEmission[] = [];
  #at = 0;
  #left: number;

  /**
   * @param task with the caller whose turn its reads take
   * @param last generation of the log's last event
   */
  constructor(
    source: Pick<EngineContext, "store" | "reads">,
    task: TaskRef & { readonly share: string | undefined },
    journal: Pick<Journal, "answers">,
    last: number,
  ) {
    this.#source = source;
    this.#task = task;
    this.#answers = new Set(journal.answers.map(({ sequence }) => sequence));
    this.#left = Math.max(0, last - 1 - this.#answers.size);
  }

  /** How many emissions this run has not repeated yet. */
  get left(): number {
    return this.#left;
  }

  /** Generation of the newest repeated event. */
  get cursor(): number {
    return this.#cursor;
  }

  /** The next emission. @throws ConnectError when the store cannot be read */
  async next(): Promise<LoggedEmission> {
    for (;;) {
      const event = this.#page[this.#at] ?? (await this.#turnPage());
      this.#at++;
      this.#cursor = event.generation;
      if (!this.#answers.has(event.sequence - 1)) {
        this.#left--;
        return event;
      }
    }
  }

  /** Hundreds of executors may be loaded at the same moment: few pages are in memory, and they are decoded in slices. */
  async #turnPage(): Promise<LoggedEmission> {
    const { owner, taskId, share } = this.#task;
    const { store, reads } = this.#source;
    this.#page = await reads.loads.run({ share }, async () => {
      const turns = new DecodingTurns({ nextTurn: () => nextSlice(share, "read") });
      const page: LoggedEmission[] = [];
      for (const event of await store.events(owner, taskId, this.#cursor, pageSize)) {
        const turn = turns.count(entryBytes + event.payload.length);
        if (turn !== undefined) await turn;
        page.push(toEmission(event));
      }
      return page;
    });
    this.#at = 0;
    const [event] = this.#page;
    if (event === undefined) {
      throw taskNotFound(taskId); // it has expired while it was read
    }
    return event;
  }
}

/** What must be the same about an event when an executor runs again; its texts and contents may differ. */
export function describeEvent(event: DurableEvent): string {
  switch (event.kind) {
    case "status":
      return describeState(event.state);
    case "question":
      return describeState(event.status.state);
    case "artifact":
      return describeArtifact(event.artifact.artifactId);
  }
}

function toEmission(event: LogEvent): LoggedEmission {
  const { payload } = decodeEvent(event);
  const { generation, sequence } = event;
  const place = { generation, sequence };
  switch (payload.case) {
    case "statusUpdate":
      return { ...place, what: describeState(stateOf(payload.value)) };
    case "artifactUpdate":
      return { ...place, what: describeArtifact(payload.value.artifact?.artifactId ?? "") };
    default:
      return { ...place, what: "a task" };
  }
}

function describeState(state: TaskState): string {
  return `the status ${formatTaskState(state)}`;
}

function describeArtifact(artifactId: string): string {
  return `artifact ${JSON.stringify(artifactId)}`;
}
