import { a2aError, isInterrupted, isTerminal } from "@a2a-connect/core";
import { type Message, type TaskPushNotificationConfig, TaskState } from "@a2a-connect/proto";
import type { ConnectError } from "@connectrpc/connect";
import type { Grant } from "../agent/grant.ts";
import type { LogTail, RequestKey } from "../store/task-store.ts";
import type { CallDetails, Command } from "./command.ts";
import { grantAnswer, type QueuedMessage } from "./durable/journal.ts";
import type { StatusInit, TaskName } from "./events.ts";
import { weighDetails } from "./memory-weight.ts";
import { MessageQueue } from "./message-queue.ts";

/** Stored together with a caller's message, in the same commit. */
export interface Intake {
  /** Webhooks to register with the task; one without an id gets that of the task. */
  readonly pushConfigs: readonly TaskPushNotificationConfig[];
  /** Called with the id of the task before these are stored. */
  readonly onRegister?: ((taskId: string) => void) | undefined;
  /** The idempotency key of the request, if it came with one. */
  readonly key?: RequestKey | undefined;
}

/** What the messages of a task need of it. */
interface MessagedTask {
  readonly name: TaskName;
  readonly ended: boolean;
  readonly acceptedState: TaskState;
  readonly accepted: LogTail;
  acceptMessage(message: Message, details: number): void;
  register(intake: Intake, generation: number): void;
  note(command: Command): void;
  emitStatus(init: StatusInit): void;
}

/** Which messages a task takes after its first: answers to its questions, and those that wait while it is at work. */
export class TaskMessages {
  readonly #task: MessagedTask;
  /** The generation under whose condition a message was queued: until the task goes on, no other message gets it. */
  #matched: number | undefined;
  #queue: MessageQueue | undefined;

  constructor(task: MessagedTask) {
    this.#task = task;
  }

  /** What waits for a turn of its own; for most tasks nothing ever does. */
  get queue(): MessageQueue {
    this.#queue ??= new MessageQueue();
    return this.#queue;
  }

  /** Whether the task can take a message at all. @throws ConnectError UNSUPPORTED_OPERATION when it has ended */
  assertGoing(): void {
    if (isTerminal(this.#task.acceptedState)) {
      throw this.#unsupported("the task has ended; send a new message in its context instead");
    }
  }

  /**
   * Whether the task waits for a message. @throws ConnectError UNSUPPORTED_OPERATION when it has ended or is working
   */
  assertInterrupted(): void {
    this.assertGoing();
    if (!isInterrupted(this.#task.acceptedState)) {
      throw this.#unsupported("the task is at work and takes no message until it asks a question");
    }
  }

  /**
   * Whether the task still has the caller's generation (requirement R-4). Accepted events count, and so do messages that
   * were queued under the same condition and have not changed the task yet: of two callers with the same generation one
   * passes.
   *
   * @throws ConnectError TASK_GENERATION_MISMATCH
   */
  assertGeneration(expected: bigint | undefined): void {
    const { generation } = this.#task.accepted;
    const isOld = expected !== undefined && expected !== BigInt(generation);
    if (isOld || (expected !== undefined && this.#matched === generation)) {
      throw a2aError(
        "TASK_GENERATION_MISMATCH",
        isOld
          ? `the task is at generation ${generation}, not ${expected}: read it again before you go on`
          : `a message for generation ${generation} waits for its turn: read the task again when it has gone on`,
        {
          taskId: this.#task.name.taskId,
          expectedGeneration: String(expected),
          currentGeneration: String(generation),
        },
      );
    }
  }

  /** Whether the turn for a queued message has begun. @throws ConnectError UNSUPPORTED_OPERATION when it never will */
  assertTaken(sequence: number): void {
    if (this.#task.ended && this.queue.has(sequence)) {
      throw this.#unsupported("the task ended before it read this message; send it in a new task");
    }
  }

  /**
   * Takes the answer to a question: the message and WORKING, in one commit, so that the task takes exactly one answer.
   *
   * @param kept what came with the message and is kept in the log, for code that may run again
   * @param ifGenerationMatch the generation that the caller knows; undefined accepts any
   * @returns its entry, and the generation after which its consequences begin
   * @throws ConnectError TASK_GENERATION_MISMATCH, UNSUPPORTED_OPERATION when the task is not waiting, TASK_TOO_LARGE
   *   when it can take no more
   */
  answer(
    message: Message,
    intake: Intake,
    kept: CallDetails | undefined,
    ifGenerationMatch?: bigint,
  ): { readonly answer: QueuedMessage; readonly generation: number } {
    const task = this.#task;
    this.assertGeneration(ifGenerationMatch);
    this.assertInterrupted();
    task.acceptMessage(message, kept === undefined ? 0 : weighDetails(kept));
    const { sequence } = task.accepted;
    task.emitStatus({ state: TaskState.WORKING });
    const { generation } = task.accepted;
    task.register(intake, generation);
    if (kept !== undefined) {
      task.note({ type: "call", ...kept });
    }
    return { answer: { sequence, message }, generation };
  }

  /**
   * Takes what the task asked for as credentials: a note and WORKING, in one commit, so that it takes exactly one grant or
   * answer.
   *
   * @throws ConnectError UNSUPPORTED_OPERATION when the task does not wait for credentials
   */
  grant(grant: Grant): QueuedMessage {
    const task = this.#task;
    if (task.acceptedState !== TaskState.AUTH_REQUIRED) {
      throw this.#unsupported("the task does not wait for credentials");
    }
    task.note({ type: "grant", grant });
    const answer = grantAnswer(task.accepted.sequence, grant);
    task.emitStatus({ state: TaskState.WORKING });
    return answer;
  }

  /**
   * Takes a message while the executor is at work: it goes to the inbox, or gets a turn of its own.
   *
   * @returns its entry, and the generation after which its consequences begin
   * @throws ConnectError as `answer`, and UNSUPPORTED_OPERATION when the task has ended
   */
  enqueue(
    message: Message,
    intake: Intake,
    details: CallDetails,
    ifGenerationMatch?: bigint,
  ): { readonly queued: QueuedMessage; readonly generation: number } {
    const task = this.#task;
    this.assertGeneration(ifGenerationMatch);
    this.assertGoing();
    task.acceptMessage(message, weighDetails(details));
    const { sequence, generation } = task.accepted;
    task.note({ type: "queued", input: sequence, ...details });
    if (ifGenerationMatch !== undefined) this.#matched = generation;
    task.register(intake, generation);
    const queued = { sequence, message, details };
    this.queue.add(queued);
    return { queued, generation };
  }

  /**
   * Gives the next turn to the message that has waited longest, in the same commit as what was accepted just before. So
   * no crash can come between a question and the turn that follows it.
   */
  beginNext(): void {
    const next = this.queue.choose();
    if (next === undefined) {
      return;
    }
    this.#task.note({ type: "turn", input: next.sequence });
    if (isInterrupted(this.#task.acceptedState)) {
      this.#task.emitStatus({ state: TaskState.WORKING });
    }
  }

  #unsupported(sentence: string): ConnectError {
    return a2aError("UNSUPPORTED_OPERATION", sentence, { taskId: this.#task.name.taskId });
  }
}
