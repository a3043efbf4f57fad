import { decodeMessage } from "@a2a-connect/core/internal";
import { type Message, MessageSchema, Role } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import type { Grant } from "../../agent/grant.ts";
import type { LogEntry, LogTail, Owner, TaskStore } from "../../store/task-store.ts";
import { type CallDetails, type Command, decodeCommand } from "../command.ts";
import type { JournalCodec, JournalRecord } from "./journal-codec.ts";

/** Entries in one page. */
const pageSize = 1_000;

/** A message that came while the executor was at work, or an answer. */
export interface QueuedMessage {
  readonly sequence: number;
  readonly message: Message;
  readonly details?: CallDetails;
}

/** A grant as an answer: the executor gets a message without parts. */
export function grantAnswer(sequence: number, grant: Grant): QueuedMessage {
  const message = create(MessageSchema, { messageId: `grant-${sequence}`, role: Role.USER });
  return { sequence, message, details: { grant } };
}

/** A position in a task's log. */
export interface LogPlace {
  readonly sequence: number;
  /**
   * How many of the executor's events the log has before it; for a durable executor, in which each answer is followed
   * by one.
   */
  readonly emissions: number;
}

/** A record of the journal, and its position in the log. */
export type LoggedRecord = JournalRecord & LogPlace;

/** Everything in a task's log that callers do not see: a later run of its code needs it. */
export interface Journal {
  /** The newest record of each operation. */
  readonly records: ReadonlyMap<string, LoggedRecord>;
  /** Bytes of all records. */
  readonly bytes: number;
  /** Messages and grants that answered a question, oldest first. */
  readonly answers: readonly QueuedMessage[];
  /** Messages that came while the executor was at work, oldest first. */
  readonly queued: readonly QueuedMessage[];
  readonly call: Extract<Command, { type: "call" }> | undefined;
  /** Queued messages for which no turn began, and which were not taken from an inbox. */
  readonly untaken: readonly QueuedMessage[];
  /** The executor has been told to stop. */
  readonly stop: (Extract<Command, { type: "stop" }> & LogPlace) | undefined;
  /** The queued message of the newest turn; undefined: the newest other message before it. */
  readonly turnInput: number | undefined;
  /** How often the newest turn began again. */
  readonly restarts: number;
  /** Whether the newest turn never got its slot. */
  readonly isWaiting: boolean;
}

/** The journal of a task that has none yet. */
export const emptyJournal: Journal = {
  records: new Map(),
  bytes: 0,
  answers: [],
  queued: [],
  untaken: [],
  call: undefined,
  stop: undefined,
  turnInput: undefined,
  restarts: 0,
  isWaiting: false,
};

/** Reads a task's journal, page by page. */
export async function readJournal(
  store: Pick<TaskStore, "entries">,
  codec: JournalCodec,
  owner: Owner,
  taskId: string,
): Promise<Journal> {
  const reader = new JournalReader(codec);
  let after: LogTail = { sequence: 0, generation: 0 };
  for (;;) {
    const { entries, end, more } = await store.entries(owner, taskId, after, "notes", pageSize);
    for (const entry of entries) {
      reader.read(entry);
    }
    if (!more) {
      return reader.journal();
    }
    after = end;
  }
}

class JournalReader {
  readonly #codec: JournalCodec;
  readonly #records = new Map<string, LoggedRecord>();
  /** Inputs and grants by sequence. A command moves queued ones out. */
  readonly #inputs = new Map<number, QueuedMessage>();
  readonly #queued: QueuedMessage[] = [];
  readonly #taken = new Set<number>();
  #notes = 0;
  #bytes = 0;
  #call: Journal["call"];
  #stop: Journal["stop"];
  #turnInput: number | undefined;
  #restarts = 0;
  #isWaiting = false;
  /** An input that was just read: the next entries say whether it was queued or began a turn. */
  #newest: number | undefined;

  constructor(codec: JournalCodec) {
    this.#codec = codec;
  }

  read({ kind, sequence, payload }: LogEntry): void {
    const command = kind === "command" ? decodeCommand(payload) : undefined;
    this.#settleNewest(command);
    this.#notes++;
    switch (kind) {
      case "journal": {
        const record = this.#codec.decode(payload);
        this.#bytes += payload.length;
        this.#records.set(record.op, { ...record, ...this.#placeOf(sequence) });
        if (record.op.startsWith("inbox.") && "value" in record) {
          this.#taken.add(Number(record.value));
        }
        break;
      }
      case "input":
        this.#inputs.set(sequence, { sequence, message: decodeMessage(MessageSchema, payload) });
        this.#newest = sequence;
        break;
      default: // events are no notes
    }
    if (command !== undefined) {
      this.#command(command, sequence);
    }
  }

  journal(): Journal {
    this.#settleNewest(undefined);
    return {
      records: this.#records,
      bytes: this.#bytes,
      answers: [...this.#inputs.values()],
      queued: this.#queued,
      untaken: this.#queued.filter((queued) => !this.#taken.has(queued.sequence)),
      call: this.#call,
      stop: this.#stop,
      turnInput: this.#turnInput,
      restarts: this.#restarts,
      isWaiting: this.#isWaiting,
    };
  }

  /**
   * The log has no gaps, so every entry that is not a note is an event. The engine's own events are the creation, and
   * WORKING after an answer.
   */
  #placeOf(sequence: number): LogPlace {
    return { sequence, emissions: sequence - this.#notes - 1 - this.#inputs.size };
  }

  #settleNewest(next: Command | undefined): void {
    const wasQueued = next?.type === "queued" && next.input === this.#newest;
    if (this.#newest !== undefined && !wasQueued) {
      this.#turnInput = undefined;
      this.#restarts = 0;
      this.#isWaiting = false;
    }
    this.#newest = undefined;
  }

  #command(command: Command, sequence: number): void {
    switch (command.type) {
      case "call":
        this.#noteCall(command);
        break;
      case "queued": {
        const queued = this.#inputs.get(command.input);
        if (queued !== undefined) {
          this.#inputs.delete(command.input);
          this.#queued.push({ ...queued, details: command });
        }
        break;
      }
      case "grant":
        this.#inputs.set(sequence, grantAnswer(sequence, command.grant));
        this.#newest = sequence;
        break;
      case "turn":
        this.#turnInput = command.input;
        this.#taken.add(command.input);
        this.#restarts = 0;
        this.#isWaiting = false;
        break;
      case "waiting":
      case "begun":
        this.#isWaiting = command.type === "waiting";
        break;
      case "restart":
        this.#restarts++;
        break;
      case "stop":
        this.#stop ??= { ...command, ...this.#placeOf(sequence) };
        break;
      case "deadline-passed":
      case "timer-moved":
        break;
    }
  }

  /** The details came with the newest answer or, before any answer, with the message that created the task. */
  #noteCall(call: Extract<Command, { type: "call" }>): void {
    const answer = [...this.#inputs.values()].at(-1);
    if (answer === undefined) {
      this.#call = call;
    } else {
      this.#inputs.set(answer.sequence, { ...answer, details: call });
    }
  }
}
