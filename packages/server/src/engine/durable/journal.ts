import { nextSlice } from "@a2a-connect/bindings/server";
import { constantTimeEqual, decodeInSteps, encodeMessage } from "@a2a-connect/core/internal";
import { type Message, MessageSchema, Role } from "@a2a-connect/proto";
import { create } from "@bufbuild/protobuf";
import { BinaryReader } from "@bufbuild/protobuf/wire";
import type { Grant } from "../../agent/grant.ts";
import type { LogEntry, LogTail, Owner, TaskRef } from "../../store/task-store.ts";
import { type CallDetails, type Command, decodeCommand } from "../command.ts";
import type { EngineContext } from "../engine-context.ts";
import { weighMessage } from "../memory-weight.ts";
import { DecodingTurns, entryBytes } from "../read-task.ts";
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
  /** What they take in memory, about, in bytes. */
  readonly recordMemory: number;
  /** The same of messages that are not those of the task in memory. */
  readonly messageMemory: number;
  /** Messages and grants that answered a question, oldest first. The newest message may have what came with it. */
  readonly answers: readonly QueuedMessage[];
  /** Messages that came while the executor was at work, oldest first. Those not taken, and the newest turn's, may have what came with them. */
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
  /** How often a durable executor began since it last added a record, and where in the log; undefined: not once. */
  readonly begun: { readonly runs: number; readonly emissions: number } | undefined;
  /** The sequence of the newest note that says that a run which began after a start only waits. */
  readonly restedAt: number | undefined;
}

/** The journal of a task that has none yet. */
export const emptyJournal: Journal = {
  records: new Map(),
  bytes: 0,
  recordMemory: 0,
  messageMemory: 0,
  answers: [],
  queued: [],
  untaken: [],
  call: undefined,
  stop: undefined,
  turnInput: undefined,
  restarts: 0,
  isWaiting: false,
  begun: undefined,
  restedAt: undefined,
};

type JournalSource = Pick<EngineContext, "store" | "journalCodec">;

/**
 * Reads a task's journal. A large one is decoded in slices, and other calls run in between. Few are read at a time, because what is
 * decoded may be large and is counted only then.
 *
 * @param history the messages of the task that are in memory: those of the journal become the same objects
 * @param withDetails whether queued messages and the newest answer have what came with them, for turns of their own. The journal has no
 *   records then, because turns need none
 * @param share whose task it is
 * @param onProgress called with each answer of the store, and each slice
 */
export async function readJournal(
  { reads, ...source }: JournalSource & Pick<EngineContext, "reads">,
  {
    owner,
    taskId,
    history,
    withDetails,
  }: TaskRef & { readonly history: readonly Message[]; readonly withDetails: boolean },
  share: string | undefined,
  onProgress: () => void = () => {},
): Promise<Journal> {
  return reads.loads.run({ share }, async () => {
    const turns = turnsOf(share, onProgress);
    const reader = await readNotes(source, owner, taskId, turns, {
      withDetails,
      withRecords: !withDetails,
      onProgress,
    });
    const steps = reader.journal(new KnownMessages(history));
    for (;;) {
      const step = steps.next();
      if (step.done === true) return step.value;
      const turn = turns.count(step.value);
      if (turn !== undefined) await turn;
    }
  });
}

/** The messages of a task that came while its executor was at work, and that no turn or inbox took, as they are stored. */
export async function readUntaken(
  source: JournalSource,
  owner: Owner,
  taskId: string,
  share: string | undefined,
): Promise<readonly StoredMessage[]> {
  const kept = { withDetails: false, withRecords: false, onProgress: () => {} };
  return (await readNotes(source, owner, taskId, turnsOf(share), kept)).untaken;
}

function turnsOf(share: string | undefined, onProgress: () => void = () => {}): DecodingTurns {
  return new DecodingTurns({ nextTurn: () => nextSlice(share, "read").then(onProgress) });
}

async function readNotes(
  { store, journalCodec }: JournalSource,
  owner: Owner,
  taskId: string,
  turns: DecodingTurns,
  { onProgress, ...kept }: Kept & { readonly onProgress: () => void },
): Promise<JournalReader> {
  const reader = new JournalReader(journalCodec, kept);
  let after: LogTail = { sequence: 0, generation: 0 };
  for (;;) {
    const { entries, end, more } = await store.entries(owner, taskId, after, "notes", pageSize);
    onProgress();
    for (const entry of entries) {
      const turn = turns.count(entryBytes + (entry.kind === "input" ? 0 : entry.payload.length));
      if (turn !== undefined) await turn;
      reader.read(entry);
    }
    if (!more) return reader;
    after = end;
  }
}

/** A message in the log. */
export interface StoredMessage {
  readonly sequence: number;
  readonly payload: Uint8Array;
  readonly details?: CallDetails;
}

/** What is kept of a journal besides its messages. */
interface Kept {
  /** What came with them. */
  readonly withDetails: boolean;
  readonly withRecords: boolean;
}

/** Bytes of a record that says which message an inbox gave, at most. */
const maxInboxBytes = 512;

class JournalReader {
  readonly #codec: JournalCodec;
  readonly #withDetails: boolean;
  readonly #withRecords: boolean;
  readonly #records = new Map<string, LoggedRecord>();
  /** Inputs and grants, oldest first. A command moves queued ones out. */
  readonly #inputs: (StoredMessage | QueuedMessage)[] = [];
  readonly #queued = new Map<number, StoredMessage>();
  readonly #taken = new Set<number>();
  #notes = 0;
  #bytes = 0;
  #recordMemory = 0;
  #call: Journal["call"];
  #stop: Journal["stop"];
  #turnInput: number | undefined;
  #restarts = 0;
  #isWaiting = false;
  #begun: Journal["begun"];
  #restedAt: number | undefined;
  /** An input that was just read: the next entries say whether it was queued or began a turn. */
  #newest: number | undefined;

  constructor(codec: JournalCodec, { withDetails, withRecords }: Kept) {
    this.#codec = codec;
    this.#withDetails = withDetails;
    this.#withRecords = withRecords;
  }

  read({ kind, sequence, payload }: LogEntry): void {
    const command = kind === "command" ? decodeCommand(payload) : undefined;
    this.#settleNewest(command);
    this.#notes++;
    switch (kind) {
      case "journal": {
        if (!this.#withRecords && payload.length > maxInboxBytes) break;
        const record = this.#codec.decode(payload, (bytes) => {
          this.#recordMemory += bytes;
        });
        this.#bytes += payload.length;
        this.#begun = undefined;
        if (this.#withRecords) this.#records.set(record.op, { ...record, ...this.#placeOf(sequence) });
        if (record.op.startsWith("inbox.") && "value" in record) {
          this.#taken.add(Number(record.value));
          this.#forgetDetails(Number(record.value));
        }
        break;
      }
      case "input":
        this.#inputs.push({ sequence, payload });
        this.#newest = sequence;
        break;
      default: // events are no notes
    }
    if (command !== undefined) {
      this.#command(command, sequence);
    }
  }

  /** Queued messages for which no turn began, and which were not taken from an inbox. */
  get untaken(): readonly StoredMessage[] {
    return [...this.#queued.values()].filter(({ sequence }) => !this.#taken.has(sequence));
  }

  /** Decodes the messages; yields the number of bytes that it has read. */
  *journal(known: KnownMessages): Generator<number, Journal> {
    this.#settleNewest(undefined);
    // In the order of the log, as the known ones are.
    const all = [...this.#queued.values(), ...this.#inputs].sort((a, b) => a.sequence - b.sequence);
    const { messages, messageMemory } = yield* decodeMessages(all, known);
    const queued = messages.filter(({ sequence }) => this.#queued.has(sequence));
    return {
      records: this.#records,
      bytes: this.#bytes,
      recordMemory: this.#recordMemory,
      messageMemory,
      answers: messages.filter(({ sequence }) => !this.#queued.has(sequence)),
      queued,
      untaken: queued.filter(({ sequence }) => !this.#taken.has(sequence)),
      call: this.#call,
      stop: this.#stop,
      turnInput: this.#turnInput,
      restarts: this.#restarts,
      isWaiting: this.#isWaiting,
      begun: this.#begun,
      restedAt: this.#restedAt,
    };
  }

  /**
   * The log has no gaps, so every entry that is not a note is an event. The engine's own events are the creation, and
   * WORKING after an answer.
   */
  #placeOf(sequence: number): LogPlace {
    return { sequence, emissions: sequence - this.#notes - 1 - this.#inputs.length };
  }

  #settleNewest(next: Command | undefined): void {
    const wasQueued = next?.type === "queued" && next.input === this.#newest;
    if (this.#newest !== undefined && !wasQueued) {
      const before = this.#inputs.at(-2);
      if (before !== undefined && "payload" in before) this.#inputs.splice(-2, 1, withoutDetails(before));
      this.#beginTurn(undefined);
    }
    this.#newest = undefined;
  }

  /** @param input of the turn when it was queued before */
  #beginTurn(input: number | undefined): void {
    if (this.#turnInput !== undefined) this.#forgetDetails(this.#turnInput);
    this.#turnInput = input;
    this.#restarts = 0;
    this.#isWaiting = false;
    this.#begun = undefined;
  }

  /** No later run needs what came with a queued message that was taken long ago. */
  #forgetDetails(sequence: number): void {
    const queued = this.#queued.get(sequence);
    if (queued !== undefined) this.#queued.set(sequence, withoutDetails(queued));
  }

  #command(command: Command, sequence: number): void {
    switch (command.type) {
      case "call":
        this.#noteCall(command);
        break;
      case "queued": {
        const queued = this.#inputs.at(-1); // both are in one commit, one after the other
        if (queued?.sequence === command.input && "payload" in queued) {
          this.#inputs.pop();
          this.#queued.set(queued.sequence, this.#withDetails ? { ...queued, details: command } : queued);
        }
        break;
      }
      case "grant":
        this.#inputs.push(grantAnswer(sequence, command.grant));
        this.#newest = sequence;
        break;
      case "turn":
        this.#beginTurn(command.input);
        this.#taken.add(command.input);
        break;
      case "waiting":
        this.#isWaiting = true;
        break;
      case "begun":
        this.#isWaiting = false;
        this.#noteBegun(this.#placeOf(sequence));
        break;
      case "survived":
        this.#begun = undefined;
        if (command.atRest) this.#restedAt = sequence;
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

  /** What the executor has emitted since it last began ends the count, too. */
  #noteBegun({ emissions }: LogPlace): void {
    const before = this.#begun?.emissions === emissions ? this.#begun.runs : 0;
    this.#begun = { runs: before + 1, emissions };
  }

  /** The details came with the newest answer or, before any answer, with the message that created the task. */
  #noteCall(call: Extract<Command, { type: "call" }>): void {
    const answer = this.#inputs.at(-1);
    if (answer === undefined) {
      this.#call = call;
    } else if (this.#withDetails) {
      this.#inputs.splice(-1, 1, { ...answer, details: call });
    }
  }
}

function withoutDetails({ sequence, payload }: StoredMessage): StoredMessage {
  return { sequence, payload };
}

/** Yields the number of bytes that it has read. @returns the messages, and what those take in memory that are not known ones */
function* decodeMessages(
  all: readonly (StoredMessage | QueuedMessage)[],
  known: KnownMessages,
): Generator<number, { readonly messages: readonly QueuedMessage[]; readonly messageMemory: number }> {
  const messages: QueuedMessage[] = [];
  let messageMemory = 0;
  for (const each of all) {
    if ("message" in each) {
      messages.push(each);
      continue;
    }
    const { payload, ...rest } = each;
    let message = yield* known.find(payload);
    if (message === undefined) {
      message = yield* decodeInSteps(MessageSchema, payload);
      messageMemory += weighMessage(message);
    }
    messages.push({ ...rest, message });
  }
  return { messages, messageMemory };
}

/** Messages with one id that a message of the journal is compared with. Both are in order, so the first one is nearly always the same. */
const maxCompared = 3;

/** Messages that are in memory and have not been found yet, by their ids. The first one is at the end, where it can be taken out at once. */
class KnownMessages {
  readonly #byId = new Map<string, Message[]>();

  constructor(messages: readonly Message[]) {
    for (const message of messages.toReversed()) {
      const others = this.#byId.get(message.messageId);
      if (others === undefined) this.#byId.set(message.messageId, [message]);
      else others.push(message);
    }
  }

  /** The message with exactly these bytes, which takes as long as to decode one; yields the number of bytes that it has written. */
  *find(payload: Uint8Array): Generator<number, Message | undefined> {
    const others = this.#byId.get(readMessageId(payload)) ?? [];
    for (const message of others.slice(-maxCompared).reverse()) {
      const bytes = encodeMessage(MessageSchema, message);
      yield bytes.length;
      if (!constantTimeEqual(bytes, payload)) continue;
      others.splice(others.lastIndexOf(message), 1);
      return message;
    }
    return undefined;
  }
}

/** The id of an encoded message. The log has messages as `encodeMessage` writes them: the id comes first. */
function readMessageId(payload: Uint8Array): string {
  const reader = new BinaryReader(payload);
  const [field] = reader.tag();
  return field === MessageSchema.field.messageId.number ? reader.string() : "";
}
