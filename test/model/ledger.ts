import { partText, readLifecycleReport } from "@a2a-connect/core";
import {
  type Message,
  MessageSchema,
  type StreamResponse,
  StreamResponseSchema,
  type Task,
  TaskArtifactUpdateEventSchema,
  TaskSchema,
  TaskState,
  TaskStatusUpdateEventSchema,
} from "@a2a-connect/proto";
import type { LogEntry, Owner, TaskClaim, TaskCommit } from "@a2a-connect/server/store";
import { clearField, clone, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { Skill } from "./action.ts";
import type { StoreWitness } from "./fault-store.ts";
import { foldLog, formatTask, isAsking, isFinal, type LoggedStep } from "./fold-log.ts";
import { privateText } from "./play-program.ts";
import { type Label, type Program, parseLabel, placesOf } from "./program.ts";

/** Which states may follow which (requirement B-3): a table of its own, so that it is not the engine's. */
const followers: ReadonlyMap<TaskState, readonly TaskState[]> = (() => {
  const { SUBMITTED, WORKING, INPUT_REQUIRED, AUTH_REQUIRED, COMPLETED, FAILED, CANCELED, REJECTED } =
    TaskState;
  const rest = [WORKING, INPUT_REQUIRED, AUTH_REQUIRED, COMPLETED, FAILED, CANCELED, REJECTED];
  return new Map([
    [SUBMITTED, rest],
    [WORKING, rest],
    [INPUT_REQUIRED, rest],
    [AUTH_REQUIRED, rest],
  ]);
})();

/** An event as it is in the log. */
export interface LoggedEvent {
  readonly generation: number;
  readonly response: StreamResponse;
  readonly bytes: string;
  /** Undefined where the state stays. */
  readonly state: TaskState | undefined;
  readonly label: Label | undefined;
}

/** A caller's message as it is in the log. */
export interface LoggedInput {
  readonly message: Message;
  readonly sequence: number;
  /** Newest event before it. */
  readonly after: number;
  /** Generation after which its consequences begin. */
  readonly accepted: number;
  readonly queued: boolean;
}

/** One task's log as the store has it. */
export class TaskLog {
  readonly taskId: string;
  readonly owner: Owner;
  readonly entries: LogEntry[] = [];
  readonly events: LoggedEvent[] = [];
  readonly steps: LoggedStep[] = [];
  fence = 1;
  /** Somebody else has claimed it and does nothing with it. */
  stolen = false;
  #inputs: readonly LoggedInput[] | undefined;
  readonly #seen = new Map<number, readonly string[]>();

  constructor(owner: Owner, taskId: string) {
    this.owner = owner;
    this.taskId = taskId;
  }

  get state(): TaskState {
    return this.events.findLast(({ state }) => state !== undefined)?.state ?? TaskState.UNSPECIFIED;
  }

  /** The task after all of the log. */
  get task(): Task {
    return foldLog(this.steps);
  }

  /** When it came to its state, in milliseconds since 1970. */
  get statusAt(): number {
    const { seconds = 0n, nanos = 0 } = this.task.status?.timestamp ?? {};
    return Number(seconds) * 1_000 + nanos / 1e6;
  }

  get reason(): string | undefined {
    return readLifecycleReport(this.task.status?.message?.metadata).reason;
  }

  get waitsForEver(): boolean {
    const { waitSeconds } = readLifecycleReport(this.task.status?.message?.metadata);
    return isAsking(this.state) && waitSeconds === "unlimited";
  }

  get skill(): string | undefined {
    const [first] = this.events;
    const metadata = first?.response.payload.case === "task" ? first.response.payload.value.metadata : {};
    const [chosen] = Object.values(metadata ?? {}) as { readonly skill?: string }[]; // only ours is there
    return chosen?.skill;
  }

  get inputs(): readonly LoggedInput[] {
    this.#inputs ??= this.#readInputs();
    return this.#inputs;
  }

  #readInputs(): readonly LoggedInput[] {
    const first = this.#firstMessage();
    const inputs: LoggedInput[] =
      first === undefined ? [] : [{ message: first, sequence: 1, after: 0, accepted: 0, queued: false }];
    let after = 0;
    for (const [at, { kind, sequence, payload, generation }] of this.entries.entries()) {
      after = generation ?? after;
      if (kind !== "input") continue;
      const next = this.entries[at + 1];
      const queued = next?.kind === "command" && decode(next.payload).includes('"queued"');
      const accepted = queued ? after : after + 1;
      inputs.push({ message: fromBinary(MessageSchema, payload), sequence, after, accepted, queued });
    }
    return inputs;
  }

  /** What a caller may be shown as the task of that generation, as texts: a message that waits for its turn raises none. */
  seenAt(generation: number): readonly string[] {
    const known = this.#seen.get(generation);
    if (known !== undefined) return known;
    const seen = this.#seeAt(generation);
    if (generation < this.events.length) this.#seen.set(generation, seen); // nothing is added there any more
    return seen;
  }

  #seeAt(generation: number): readonly string[] {
    let shown = 0;
    const begin = this.steps.findIndex((step) => "response" in step && ++shown === generation);
    if (begin === -1) return [];
    let end = begin + 1;
    while (end < this.steps.length && "input" in (this.steps[end] ?? {})) end++;
    // An answer is committed together with the WORKING behind it: nobody sees the one without the other.
    const last = this.steps[end - 1];
    const isAnswer =
      last !== undefined &&
      "input" in last &&
      this.inputs.some(({ message, queued }) => message.messageId === last.input.messageId && !queued);
    const ends = Array.from({ length: end - begin }, (_, at) => begin + 1 + at).filter(
      (at) => !(isAnswer && at === end),
    );
    return ends.map((at) => formatTask(foldLog(this.steps.slice(0, at))));
  }

  /** The generations at which a caller may be shown this task. */
  generationsOf(task: Task): readonly number[] {
    const shown = formatTask(task);
    return this.events.map(({ generation }) => generation).filter((at) => this.seenAt(at).includes(shown));
  }

  append(entry: LogEntry): void {
    this.#inputs = undefined;
    this.entries.push(entry);
    const { kind, payload, generation } = entry;
    if (kind === "input") {
      this.steps.push({ input: fromBinary(MessageSchema, payload) });
    } else if (generation !== undefined) {
      const response = fromBinary(StreamResponseSchema, payload);
      this.steps.push({ response });
      this.events.push({
        generation,
        response,
        bytes: Buffer.from(payload).toString("base64"),
        state: stateOf(response),
        label: labelOf(response),
      });
    }
  }

  #firstMessage(): Message | undefined {
    const [first] = this.events;
    return first?.response.payload.case === "task" ? first.response.payload.value.history[0] : undefined;
  }
}

/**
 * What is known for certain: what the store has, what was acknowledged, what steps gave. It is told of everything when it
 * happens and says at once when that cannot be.
 */
export class Ledger implements StoreWitness {
  readonly logs = new Map<string, TaskLog>();
  readonly programs = new Map<string, Program>();
  readonly violations: string[] = [];
  readonly counts = { events: 0, effects: 0, replays: 0 };
  readonly #effects = new Map<string, { runs: number; stored: string | undefined; results: string[] }>();

  complain(problem: string): void {
    this.violations.push(problem);
  }

  committed({ owner, taskId, entries, expectedSequence, fence }: TaskCommit): void {
    let log = this.logs.get(taskId);
    if (log === undefined) {
      log = new TaskLog(owner, taskId);
      this.logs.set(taskId, log);
    }
    if (fence !== log.fence)
      this.complain(`${taskId}: a holder with fence ${fence} wrote after ${log.fence} was given`);
    if (log.entries.length !== expectedSequence)
      this.complain(`${taskId}: a commit does not continue the log`);
    for (const entry of entries) {
      log.append(entry);
      this.counts.events += entry.generation === undefined ? 0 : 1;
      if (decode(entry.payload).includes(privateText) && entry.kind !== "journal") {
        this.complain(`${taskId}: a private text is in the log`);
      }
      if (entry.kind === "journal") this.#noteStored(log, decode(entry.payload));
    }
  }

  claimed(taskId: string, { fence }: TaskClaim): void {
    const log = this.logs.get(taskId);
    if (log === undefined) return;
    if (fence <= log.fence) this.complain(`${taskId}: a claim did not raise the fence`);
    log.fence = fence;
    log.stolen = false;
  }

  /** A step's side effect happens. @returns its result */
  effect(taskId: string, place: string): string {
    const name = `${taskId} ${place}`;
    const known = this.#effects.get(name) ?? { runs: 0, stored: undefined, results: [] };
    this.#effects.set(name, known);
    if (known.stored !== undefined) this.complain(`step ${name} runs again although its result is stored`);
    known.runs += 1;
    const result = `effect-${++this.counts.effects}`;
    known.results.push(result);
    return result;
  }

  /** An op has given a value. What is in the log, or is stored as a step's result, holds for ever. */
  observe(taskId: string, place: string, value: string): void {
    const effect = this.#effects.get(`${taskId} ${place}`);
    if (effect !== undefined && value.startsWith("effect-") && effect.stored !== value) {
      this.complain(`step ${taskId} ${place} gave ${value}; stored is ${effect.stored ?? "nothing"}`);
    }
    const shown = this.logs.get(taskId)?.events.find(({ label }) => label?.place === place)?.label;
    if (shown !== undefined) {
      this.counts.replays += 1;
      if (shown.value !== value) this.complain(`${taskId} ${place} gave ${value}, and ${shown.value} before`);
    }
  }

  /** Every log by itself is one that may be. */
  check(): void {
    const seen = new Map<string, string>();
    for (const log of this.logs.values()) {
      this.#checkNumbers(log);
      this.#checkStates(log);
      this.#checkInputs(log);
      this.#checkTurns(log);
      this.#checkEmissions(log);
      for (const { message } of log.inputs) {
        const other = seen.get(message.messageId);
        if (other !== undefined)
          this.complain(`${message.messageId} was taken twice: ${other}, ${log.taskId}`);
        seen.set(message.messageId, log.taskId);
      }
    }
  }

  #noteStored({ taskId }: TaskLog, record: string): void {
    for (const [name, effect] of this.#effects) {
      const stored = effect.results.find((result) => record.includes(`"${result}"`));
      if (name.startsWith(`${taskId} `) && stored !== undefined) effect.stored ??= stored;
    }
  }

  #checkNumbers({ taskId, entries, events }: TaskLog): void {
    if (entries.some(({ sequence }, at) => sequence !== at + 1))
      this.complain(`${taskId}: sequences have a gap`);
    if (events.some(({ generation }, at) => generation !== at + 1)) {
      this.complain(`${taskId}: generations have a gap`);
    }
  }

  #checkStates({ taskId, events, entries }: TaskLog): void {
    const states = events.map(({ state }) => state).filter((state) => state !== undefined);
    if (states[0] !== TaskState.SUBMITTED) this.complain(`${taskId}: begins as ${states[0]}`);
    states.slice(1).forEach((state, at) => {
      if (!followers.get(states[at] ?? TaskState.UNSPECIFIED)?.includes(state)) {
        this.complain(`${taskId}: goes from ${states[at]} to ${state}`);
      }
    });
    const end = events.findIndex(({ state }) => isFinal(state));
    if (end !== -1 && end !== events.length - 1) this.complain(`${taskId}: has events after its end`);
    const endSequence = entries.findIndex(({ generation }) => generation === end + 1);
    if (end !== -1 && entries.slice(endSequence).some(({ kind }) => kind === "input")) {
      this.complain(`${taskId}: took a message after its end`);
    }
    for (const { response, state } of events) {
      if (state !== TaskState.FAILED && state !== TaskState.CANCELED && state !== TaskState.REJECTED)
        continue;
      const message =
        response.payload.case === "statusUpdate" ? response.payload.value.status?.message : undefined;
      if (message === undefined || readLifecycleReport(message.metadata).reason === undefined) {
        this.complain(`${taskId}: ended as ${state} without a reason`);
      }
    }
  }

  /** One answer to a question, with WORKING right behind it; a message to a task at work only where it may wait. */
  #checkInputs(log: TaskLog): void {
    const { taskId, entries, skill } = log;
    let state: TaskState | undefined;
    for (const [at, { kind, generation }] of entries.entries()) {
      if (kind === "input") {
        const next = entries[at + 1];
        const nextState = next?.generation === undefined ? undefined : log.events[next.generation - 1]?.state;
        const isQueued = log.inputs.some(({ sequence, queued }) => sequence === at + 1 && queued);
        const isAnswer = isAsking(state) && nextState === TaskState.WORKING;
        const mayWait = skill === "queue" || skill === "again" || skill === "durable";
        if (isQueued ? !mayWait || isAsking(state) : !isAnswer) {
          this.complain(`${taskId}: entry ${at + 1} is a message that nothing asked for`);
        }
      } else if (generation !== undefined) {
        state = log.events[generation - 1]?.state ?? state;
      }
    }
  }

  /** A task is not complete by itself while a message waits for its turn. */
  #checkTurns({ taskId, skill, state, events, entries, inputs }: TaskLog): void {
    const isImplicit = state === TaskState.COMPLETED && events.at(-1)?.label === undefined;
    if (!isImplicit || (skill !== "queue" && skill !== "again")) return;
    const turns = entries
      .filter(({ kind }) => kind === "command")
      .map(({ payload }) => JSON.parse(decode(payload)));
    for (const { sequence, queued } of inputs) {
      const hadTurn = turns.some(({ type, input }) => type === "turn" && input === sequence);
      if (queued && !hadTurn) this.complain(`${taskId}: message ${sequence} never had its turn`);
    }
  }

  /** What executors emitted: each run the beginning of its program, all runs of a durable one together one run. */
  #checkEmissions(log: TaskLog): void {
    const { taskId, events, skill } = log;
    const isDurable = skill === "durable" || skill === "strict";
    const labelled = events.filter(({ label }) => label !== undefined);
    const runs = labelled.map(({ label }) => label?.run ?? 0);
    if (runs.some((run, at) => run < (runs[at - 1] ?? 0))) {
      this.complain(`${taskId}: two runs of its code write in turns: ${runs.join(", ")}`);
    }
    const byRun = Map.groupBy(labelled, ({ label }) => (isDurable ? 0 : (label?.run ?? 0)));
    const lastRun = [...byRun.values()].at(-1);
    for (const [, emitted] of byRun) {
      const program = this.programs.get(emitted[0]?.label?.program ?? "");
      if (program === undefined) throw new Error("a run has a program");
      const places = placesOf(program, isDurable);
      const got = emitted
        .filter((event, at) => !this.#isAskedAgain(log, emitted[at - 1], event))
        .map(({ label }) => label?.place ?? "");
      if (got.some((place, at) => place !== places[at])) {
        this.complain(`${taskId}: emitted ${got.join(" ")} of ${places.join(" ")}`);
      }
      const closing = emitted === lastRun ? events[emitted.at(-1)?.generation ?? 0] : undefined;
      if (
        closing?.state === TaskState.COMPLETED &&
        closing.label === undefined &&
        got.length < places.length
      ) {
        this.complain(`${taskId}: completed after ${got.join(" ")} of ${places.join(" ")}`);
      }
    }
    const { reason } = log;
    const mayFail = log.inputs.some(({ message }) => this.#mayFail(message.messageId));
    if (reason === "internal" && !mayFail) this.complain(`${taskId}: failed inside, and nothing was thrown`);
    if (reason === "journal-diverged") this.complain(`${taskId}: diverged`);
    if (isDurable && reason === "interrupted") this.complain(`${taskId}: a durable task was interrupted`);
  }

  #mayFail(messageId: string): boolean {
    return (this.programs.get(messageId)?.ops ?? []).some(
      (op) => op.does === "throw" || (op.does === "step" && op.fails > op.retries && !op.caught),
    );
  }

  /** The same question again, because an answer in between did not fit. */
  #isAskedAgain(log: TaskLog, before: LoggedEvent | undefined, event: LoggedEvent): boolean {
    return (
      before !== undefined &&
      event.label?.place.endsWith("q") === true &&
      before.label?.place === event.label.place &&
      log.inputs.some(({ after, queued }) => !queued && after === before.generation)
    );
  }
}

/** An event without its generation, as the store has it. */
export function encodeShown(response: StreamResponse): string {
  return Buffer.from(toBinary(StreamResponseSchema, withoutGeneration(response))).toString("base64");
}

function withoutGeneration(response: StreamResponse): StreamResponse {
  const shown = clone(StreamResponseSchema, response);
  const { payload } = shown;
  switch (payload.case) {
    case "task":
      clearField(payload.value, TaskSchema.field.generation);
      break;
    case "statusUpdate":
      clearField(payload.value, TaskStatusUpdateEventSchema.field.generation);
      break;
    case "artifactUpdate":
      clearField(payload.value, TaskArtifactUpdateEventSchema.field.generation);
      break;
    default: // has none
  }
  return shown;
}

/** Whether a skill's turns are failed when they are interrupted. */
export function failsWhenInterrupted(skill: string | undefined): boolean {
  const failing: readonly Skill[] = ["turn", "queue", "narrow"];
  return failing.some((each) => each === skill);
}

function stateOf({ payload }: StreamResponse): TaskState | undefined {
  return payload.case === "task" || payload.case === "statusUpdate" ? payload.value.status?.state : undefined;
}

function labelOf({ payload }: StreamResponse): Label | undefined {
  const parts =
    payload.case === "statusUpdate"
      ? payload.value.status?.message?.parts
      : payload.case === "artifactUpdate"
        ? payload.value.artifact?.parts
        : undefined;
  return parseLabel(partText({ parts: parts ?? [] }));
}

/** Whether the newest turn of a task never got its place: then no crash can have interrupted it. */
export function waitsForPlace({ entries }: Pick<TaskLog, "entries">): boolean {
  const newest = entries
    .filter(({ kind }) => kind === "command")
    .map(({ payload }) => decode(payload))
    .findLast((command) => command.includes('"waiting"') || command.includes('"begun"'));
  return newest?.includes('"waiting"') ?? false;
}

function decode(payload: Uint8Array): string {
  return new TextDecoder().decode(payload);
}
