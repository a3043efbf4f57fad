import { findA2AError } from "@a2a-connect/core";
import { idempotencyKeyHeader, lastEventIdHeader, versionHeader } from "@a2a-connect/core/internal";
import { type Message, type StreamResponse, type Task, TaskState } from "@a2a-connect/proto";
import type { A2AClient, FakeClock } from "@a2a-connect/testing";
import { Code, ConnectError } from "@connectrpc/connect";
import type { How } from "./action.ts";
import { isAsking, isFinal } from "./fold-log.ts";
import { encodeShown, type Ledger, type TaskLog } from "./ledger.ts";
import { privateText } from "./play-program.ts";
import type { EngineProcess } from "./process.ts";

/** A call and how it stands. `cut`: its process died, or the caller hung up. */
export interface Call {
  readonly process: EngineProcess;
  readonly controller: AbortController;
  state: "open" | "answered" | "refused" | "unknown" | "cut";
  error: ConnectError | undefined;
}

/** What the requests of this test hold. */
export interface Request {
  readonly message: Message;
  readonly configuration: { readonly ifGenerationMatch?: bigint };
}

/** A message that was sent. */
export interface Sending extends Call {
  readonly request: Request;
  readonly messageId: string;
  readonly how: How;
  readonly key: string | undefined;
  /** When it was sent and when it was acknowledged, in steps of the world. */
  readonly sentAt: number;
  acknowledgedAt: number | undefined;
  /** The task of the answer. */
  taskId: string | undefined;
  /** The id of a direct Message. */
  replyId: string | undefined;
}

/** A stream and how far its reader is. */
export interface Stream extends Call {
  readonly sending: Sending | undefined;
  readonly draft: boolean;
  taskId: string | undefined;
  /** Generations that the reader may be at; undefined before the first message. */
  cursors: readonly number[] | undefined;
  lastState: TaskState | undefined;
}

/** A long poll. */
export interface LongPoll extends Call {
  readonly taskId: string;
  readonly known: number;
}

/** Everything that callers do and get; what they get is held against the ledger in the very moment. */
export class Callers {
  readonly sendings: Sending[] = [];
  readonly streams: Stream[] = [];
  readonly longPolls: LongPoll[] = [];
  readonly cancels: Call[] = [];
  readonly counts = { acknowledged: 0, refused: 0, shown: 0, resumed: 0 };
  readonly #ledger: Ledger;
  readonly #clock: FakeClock;
  readonly #step: () => number;

  constructor(ledger: Ledger, clock: FakeClock, step: () => number) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#step = step;
  }

  send(
    process: EngineProcess,
    request: Request,
    { messageId, how, key }: Pick<Sending, "messageId" | "how" | "key">,
  ): void {
    const sending: Sending = {
      ...openCall(process),
      request,
      messageId,
      how,
      key,
      sentAt: this.#step(),
      acknowledgedAt: undefined,
      taskId: undefined,
      replyId: undefined,
    };
    this.sendings.push(sending);
    const headers = { [versionHeader]: "1.1", ...(key === undefined ? {} : { [idempotencyKeyHeader]: key }) };
    if (how === "stream") {
      this.#open(
        { ...sending, sending, draft: true, cursors: undefined, lastState: undefined },
        (client, signal) => client.sendStreamingMessage(request, { signal, headers }),
      );
      return;
    }
    const { configuration } = request;
    const returnImmediately = how === "immediate";
    this.#call(
      sending,
      (client, signal) =>
        client.sendMessage(
          { ...request, configuration: { ...configuration, returnImmediately } },
          { signal, headers },
        ),
      ({ payload }) => {
        this.#acknowledge(sending);
        if (payload.case === "message") sending.replyId = payload.value.messageId;
        if (payload.case !== "task") return;
        sending.taskId = payload.value.id;
        this.#checkTask(payload.value, "the answer to a send");
      },
    );
  }

  subscribe(process: EngineProcess, log: TaskLog, from: number | undefined, draft: boolean): void {
    const headers = {
      ...(draft ? { [versionHeader]: "1.1" } : {}),
      ...(from === undefined ? {} : { [lastEventIdHeader]: String(from) }),
    };
    const { taskId } = log;
    const cursors = from === undefined ? undefined : [from];
    this.counts.resumed += from === undefined ? 0 : 1;
    const wasFinal = isFinal(log.state);
    const tail = log.events.length;
    this.#open(
      { ...openCall(process), sending: undefined, draft, taskId, cursors, lastState: undefined },
      (client, signal) => client.subscribeToTask({ id: taskId }, { signal, headers }),
      (error) => {
        const isBeyond = from !== undefined && from > tail;
        if (error.code === Code.InvalidArgument && isBeyond) return;
        if (findA2AError(error)?.reason === "UNSUPPORTED_OPERATION" && from === undefined) {
          if (isFinal(log.state)) return;
        }
        if (findA2AError(error)?.reason === "TASK_NOT_FOUND" && wasFinal) return;
        this.#ledger.complain(`${taskId}: subscribe from ${from} of ${tail} was refused: ${error.message}`);
      },
    );
  }

  cancel(process: EngineProcess, log: TaskLog): void {
    const { taskId } = log;
    const call = openCall(process);
    this.cancels.push(call);
    this.#call(
      call,
      (client, signal) =>
        client.cancelTask(
          { id: taskId, metadata: { why: "tired" } },
          { signal, headers: { [versionHeader]: "1.1" } },
        ),
      (task) => {
        this.#checkTask(task, "the answer to a cancel");
        if (task.status?.state !== TaskState.CANCELED)
          this.#ledger.complain(`${taskId}: a cancel gave no CANCELED`);
      },
      (error) => {
        const reason = findA2AError(error)?.reason;
        const fits =
          reason === "TASK_NOT_CANCELABLE"
            ? isFinal(log.state)
            : reason === "TASK_NOT_FOUND" && isFinal(log.state);
        if (!fits) this.#ledger.complain(`${taskId}: a cancel was refused: ${error.message}`);
      },
    );
  }

  longPoll(process: EngineProcess, log: TaskLog, known: number): void {
    const { taskId } = log;
    const poll = { ...openCall(process), taskId, known };
    const until = this.#clock.now() + 30_000;
    this.longPolls.push(poll);
    this.#call(
      poll,
      (client, signal) =>
        client.getTask(
          { id: taskId, currentGeneration: BigInt(known) },
          { signal, headers: { [versionHeader]: "1.1" } },
        ),
      (task) => {
        this.#checkTask(task, "the answer to a long poll");
        const isOver = this.#clock.now() >= until;
        if (!isOver && Number(task.generation) <= known && !isFinal(task.status?.state)) {
          this.#ledger.complain(`${taskId}: a long poll after ${known} gave ${task.generation} too early`);
        }
      },
    );
  }

  /** A reader or sender goes away. */
  hangUp(call: Call): void {
    if (call.state !== "open") return;
    call.state = "cut";
    call.controller.abort();
  }

  /** All calls of a process that is gone are cut off. */
  lose(process: EngineProcess): void {
    for (const call of this.all) if (call.process === process && call.state === "open") call.state = "cut";
  }

  get all(): readonly Call[] {
    return [...this.sendings, ...this.streams, ...this.longPolls, ...this.cancels];
  }

  /** Nobody waits for what is there, has got too little, or was promised something that is not so. */
  check(isHealthy: boolean): void {
    const inputs = new Map(
      [...this.#ledger.logs.values()].flatMap((log) =>
        log.inputs.map((input) => [input.message.messageId, { ...input, log }] as const),
      ),
    );
    for (const sending of this.sendings) {
      const input = inputs.get(sending.messageId);
      const settled = input?.log.events.find(
        ({ state, generation }) => generation > input.accepted && (isAsking(state) || isFinal(state)),
      );
      if (sending.state === "open" && isHealthy && sending.how !== "stream" && settled !== undefined) {
        this.#ledger.complain(
          `${sending.messageId}: nobody answers its sender, although its task is settled`,
        );
      }
      if (
        sending.state === "answered" &&
        sending.how === "blocking" &&
        input !== undefined &&
        input.log.taskId === sending.taskId &&
        settled === undefined
      ) {
        this.#ledger.complain(`${sending.messageId}: its sender was answered before its task was settled`);
      }
    }
    for (const stream of this.streams) {
      if (stream.state === "open" && isHealthy)
        this.#checkCaughtUp(stream, inputs.get(stream.sending?.messageId ?? "")?.accepted);
    }
    for (const { state, taskId, known } of this.longPolls) {
      const log = this.#ledger.logs.get(taskId);
      if (
        state === "open" &&
        isHealthy &&
        log !== undefined &&
        (log.events.length > known || isFinal(log.state))
      ) {
        this.#ledger.complain(
          `${taskId}: a long poll after ${known} is not answered at ${log.events.length}`,
        );
      }
    }
  }

  #checkCaughtUp({ taskId, cursors, sending }: Stream, accepted: number | undefined): void {
    const log = this.#ledger.logs.get(taskId ?? "");
    if (log === undefined) return;
    if (isFinal(log.state)) this.#ledger.complain(`${taskId}: a stream is open after the end`);
    if (cursors?.includes(log.events.length) === false) {
      this.#ledger.complain(`${taskId}: a stream is at ${cursors.join(" or ")} of ${log.events.length}`);
    }
    const closing = log.events.find(
      ({ state, generation }) => generation > (accepted ?? 0) && state === TaskState.INPUT_REQUIRED,
    );
    if (sending !== undefined && accepted !== undefined && closing !== undefined) {
      this.#ledger.complain(`${taskId}: the stream of ${sending.messageId} is open after the question`);
    }
  }

  #acknowledge(sending: Sending): void {
    sending.acknowledgedAt ??= this.#step();
    this.counts.acknowledged += 1;
  }

  #open(
    stream: Stream,
    call: (client: A2AClient, signal: AbortSignal) => AsyncIterable<StreamResponse>,
    refused: (error: ConnectError) => void = () => {},
  ): void {
    this.streams.push(stream);
    const state = (next: Call["state"]) => {
      stream.state = next;
      if (stream.sending !== undefined && next !== "open") stream.sending.state = next;
    };
    const client = stream.process.harness?.client;
    if (client === undefined) throw new Error("nobody calls a process that does not serve");
    const read = async () => {
      for await (const event of call(client, stream.controller.signal)) {
        if (stream.state !== "open" || !stream.process.alive) return;
        this.#take(stream, event);
      }
    };
    read().then(
      () => {
        if (stream.state !== "open" || !stream.process.alive) return;
        state("answered");
        this.#checkClosed(stream);
      },
      (error: unknown) => {
        if (stream.state !== "open" || !stream.process.alive) return;
        const outcome = this.#explain(stream, error);
        state(outcome);
        if (stream.sending !== undefined) stream.sending.error = stream.error;
        if (outcome === "refused" && stream.error !== undefined) refused(stream.error);
      },
    );
  }

  #take(stream: Stream, event: StreamResponse): void {
    this.counts.shown += 1;
    const { payload } = event;
    const { sending } = stream;
    if (sending !== undefined && sending.acknowledgedAt === undefined) this.#acknowledge(sending);
    if (payload.case === "message") {
      if (sending !== undefined) sending.replyId = payload.value.messageId;
      stream.lastState = TaskState.COMPLETED;
      return;
    }
    const value = payload.value;
    if (payload.case === undefined || value === undefined) {
      this.#ledger.complain("an empty event");
      return;
    }
    const taskId = payload.case === "task" ? payload.value.id : payload.value.taskId;
    stream.taskId ??= taskId;
    if (sending !== undefined) sending.taskId = taskId;
    const log = this.#ledger.logs.get(taskId);
    if (log === undefined || stream.taskId !== taskId) {
      this.#ledger.complain(`${taskId}: an event of a task that is not there, or another one`);
      return;
    }
    const given = Number(value.generation); // 0: not set
    if (stream.draft !== given > 0) {
      this.#ledger.complain(`${taskId}: a generation where none belongs, or none`);
    }
    const numbered = (at: number) => given === 0 || given === at;
    if (stream.cursors === undefined) {
      if (payload.case !== "task") this.#ledger.complain(`${taskId}: a stream begins with ${payload.case}`);
      const shown = payload.case === "task" ? log.generationsOf(payload.value) : [];
      stream.cursors = shown.filter(numbered);
    } else {
      const encoded = encodeShown(event);
      stream.cursors = stream.cursors
        .map((cursor) => cursor + 1)
        .filter((at) => numbered(at) && log.events[at - 1]?.bytes === encoded);
    }
    if (stream.cursors.length === 0) {
      this.#ledger.complain(`${taskId}: a stream shows what is not in the log there (event ${given})`);
    }
    stream.lastState =
      payload.case === "artifactUpdate"
        ? stream.lastState
        : (payload.value.status?.state ?? stream.lastState);
  }

  /** A stream ends where it should. */
  #checkClosed({ lastState, sending, taskId, cursors }: Stream): void {
    const log = this.#ledger.logs.get(taskId ?? "");
    const atEnd = log !== undefined && isFinal(log.state) && cursors?.includes(log.events.length) === true;
    const mayEnd =
      atEnd || isFinal(lastState) || (sending !== undefined && lastState === TaskState.INPUT_REQUIRED);
    if (!mayEnd) this.#ledger.complain(`${taskId}: a stream ended in state ${lastState}`);
  }

  #call<Answer>(
    call: Call,
    invoke: (client: A2AClient, signal: AbortSignal) => Promise<Answer>,
    answered: (answer: Answer) => void,
    refused: (error: ConnectError) => void = () => {},
  ): void {
    const client = call.process.harness?.client;
    if (client === undefined) throw new Error("nobody calls a process that does not serve");
    invoke(client, call.controller.signal).then(
      (answer) => {
        if (call.state !== "open" || !call.process.alive) return;
        call.state = "answered";
        answered(answer);
      },
      (error: unknown) => {
        if (call.state !== "open" || !call.process.alive) return;
        call.state = this.#explain(call, error);
        if (call.state === "refused" && call.error !== undefined) refused(call.error);
      },
    );
  }

  /** Every error is one for callers, and says nothing private. */
  #explain(call: Call, error: unknown): "refused" | "unknown" {
    if (!(error instanceof ConnectError)) {
      this.#ledger.complain(`an error for nobody: ${error instanceof Error ? error.stack : error}`);
      return "unknown";
    }
    if (error.message.includes(privateText)) this.#ledger.complain("a private text in an error");
    call.error = error;
    this.counts.refused += 1;
    return error.code === Code.Unavailable || error.code === Code.Canceled ? "unknown" : "refused";
  }

  /** A task that is shown is one that the log adds up to, and durable by then. */
  #checkTask(task: Task, what: string): void {
    const log = this.#ledger.logs.get(task.id);
    if (log === undefined || !log.generationsOf(task).includes(Number(task.generation))) {
      this.#ledger.complain(`${task.id}: ${what} is not what the log has at ${task.generation}`);
    }
  }
}

function openCall(process: EngineProcess): Call {
  return { process, controller: new AbortController(), state: "open", error: undefined };
}
