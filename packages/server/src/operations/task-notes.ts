import { notesScope } from "@a2a-connect/auth";
import type { HttpHandler, HttpRequest } from "@a2a-connect/bindings";
import { type BindingOptions, createServiceHandlers, runInTurns } from "@a2a-connect/bindings/server";
import { invalidParams, methods, principalKey } from "@a2a-connect/core";
import { ReadTurns } from "@a2a-connect/core/internal";
import {
  type TaskNote,
  TaskNoteKind,
  TaskNoteSchema,
  TaskNotesService,
} from "@a2a-connect/proto/a2aconnect/notes/v1";
import { create } from "@bufbuild/protobuf";
import { durationFromMs, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  Code,
  ConnectError,
  createServiceImplSpec,
  type HandlerContext,
  type ServiceImplSpec,
} from "@connectrpc/connect";
import type { Clock } from "../engine/clock.ts";
import { decodeCommandHead, type LoggedCommand } from "../engine/command.ts";
import { type JournalRecord, parseRecord } from "../engine/durable/journal-codec.ts";
import { type CountBytes, entryBytes, taskNotFound } from "../engine/read-task.ts";
import { findWakes } from "../engine/wakes.ts";
import type { Gate, GatedCall } from "../gates/protocol-gates.ts";
import type { LogEntry, LogPage, LogTail, TaskStore } from "../store/task-store.ts";
import { formatUpTo } from "./limited-json.ts";
import { answerCounterOf, callerOf } from "./operation.ts";
import { formatPageToken, parsePageToken } from "./page-token.ts";
import { pass } from "./pass-gates.ts";

/** What the service reads, and who may call it. */
export interface TaskNotesOptions {
  readonly store: Pick<TaskStore, "entries" | "weigh">;
  readonly clock: Pick<Clock, "nextTurn" | "ticks">;
  /** The gates that find out who calls, which tasks are theirs, and whether they may read them. */
  readonly gates: readonly Gate[];
  /** Whether a caller is certainly on this machine. */
  readonly isOfThisMachine: (request: HttpRequest) => boolean;
}

const pageSizes = { default: 100, max: 1_000 };

/** Longest payload that is shown, in characters. */
const maxPayload = 64 * 1024;

/** Characters of all payloads of a page: it ends with the note that exceeds them. What is stored of them may be far less. */
const maxPagePayloads = 1024 * 1024;

/** Memory of a character, at most. */
const characterBytes = 2;

/**
 * The service by its paths. Callers read notes where GetTask would show them the task; from other machines, or through a proxy,
 * only with `notesScope`.
 */
export function mountTaskNotes(
  options: TaskNotesOptions,
  wires: BindingOptions,
): ReadonlyMap<string, HttpHandler> {
  const mount = (gates: readonly Gate[]): ReadonlyMap<string, HttpHandler> =>
    createServiceHandlers(implementTaskNotes({ ...options, gates }), wires);
  const own = mount(options.gates);
  const foreign = mount([...options.gates, notesGate]);
  return new Map(
    [...own].map(([path, handler]) => [
      path,
      (request) => (options.isOfThisMachine(request) ? handler : (foreign.get(path) ?? handler))(request),
    ]),
  );
}

/** @throws ConnectError PermissionDenied for callers without the scope */
function notesGate({ context }: GatedCall): void {
  const { scopes = [] } = context.values.get(principalKey);
  if (!scopes.includes(notesScope)) {
    throw new ConnectError(
      `notes of tasks are read on the machine of the agent, or with the scope ${notesScope}`,
      Code.PermissionDenied,
    );
  }
}

function implementTaskNotes({
  store,
  clock,
  gates,
}: Pick<TaskNotesOptions, "store" | "clock" | "gates">): ServiceImplSpec {
  const turns = new ReadTurns(2, { pace: findWakes(clock).reads }); // a page takes several times its megabytes until it is an answer
  return createServiceImplSpec<typeof TaskNotesService>(TaskNotesService, {
    async listTaskNotes(request, context: HandlerContext) {
      await pass({ method: methods.getTask, request, context }, gates);
      const { taskId, pageSize, pageToken, includePayloads } = request;
      if (pageSize < 0 || pageSize > pageSizes.max) {
        throw invalidParams({ field: "pageSize", description: `must be 0 to ${pageSizes.max}` });
      }
      const caller = callerOf(context);
      const { owner } = caller;
      const scope = [owner.tenant, owner.principal, "notes", taskId];
      const after = pageToken === "" ? { sequence: 0, generation: 0 } : readPosition(pageToken, scope);
      if ((await store.weigh(owner, taskId)) === undefined) {
        throw taskNotFound(taskId);
      }
      const count = answerCounterOf(context);
      return await turns.run(caller, async () => {
        const page = await store.entries(owner, taskId, after, "notes", pageSize || pageSizes.default);
        const stored = page.entries.reduce((sum, { payload }) => sum + payload.length, 0);
        count(stored);
        const { notes, end, more } = await runInTurns(
          describePage(page, after, includePayloads, count),
          caller.share,
          "read",
        );
        count(-stored);
        return {
          notes,
          nextPageToken: formatPageToken([end.sequence, end.generation], scope),
          hasMore: more,
        };
      });
    },
  });
}

interface NotesPage extends Pick<LogPage, "end" | "more"> {
  readonly notes: TaskNote[];
}

/** The notes of a page, as many as its payloads leave room for. Yields the bytes and characters of each entry before and after it is read. */
function* describePage(
  { entries, end, more }: LogPage,
  after: LogTail,
  withPayloads: boolean,
  count: CountBytes,
): Generator<number, NotesPage> {
  const before = after.sequence - after.generation;
  const notes: TaskNote[] = [];
  let shown = 0;
  for (const [index, entry] of entries.entries()) {
    yield entryBytes + entry.payload.length;
    const { sequence } = entry;
    // The log has no gaps: what is no note before an entry is an event.
    const generation = sequence - before - index - 1;
    const { note, work } = describe(entry, generation, withPayloads);
    notes.push(note);
    const { length } = note.payload;
    count(length * characterBytes);
    shown += length;
    if (shown > maxPagePayloads && index + 1 < entries.length) {
      return { notes, end: { sequence, generation }, more: true };
    }
    yield work;
  }
  return { notes, end, more };
}

function readPosition(token: string, scope: readonly (string | number)[]): LogTail {
  const [sequence, generation] = parsePageToken(token, scope);
  if (!Number.isSafeInteger(sequence) || !Number.isSafeInteger(generation)) {
    throw invalidParams({ field: "pageToken", description: "has no position in a log" });
  }
  return { sequence: Number(sequence), generation: Number(generation) };
}

/** A note, and what it took to make its payload (`formatUpTo`). */
interface Described {
  readonly note: TaskNote;
  readonly work: number;
}

function describe(entry: LogEntry, generation: number, withPayload: boolean): Described {
  const { sequence, payload } = entry;
  const note = create(TaskNoteSchema, {
    sequence: BigInt(sequence),
    generation: BigInt(generation),
    payloadBytes: payload.length,
  });
  const { content, kind = TaskNoteKind.UNSPECIFIED, ...facts } = read(entry); // a later version may have written it
  const { text, work } = withPayload ? formatUpTo(content, maxPayload) : noText;
  return { note: Object.assign(note, facts, { kind, payload: text }), work };
}

const noText = { text: "", work: 0 };

/** What an entry tells, and what is shown of it on demand. */
interface EntryFacts extends Partial<TaskNote> {
  readonly content?: unknown;
}

function read({ kind, payload }: LogEntry): EntryFacts {
  switch (kind) {
    case "command":
      return readCommand(decodeCommandHead(payload));
    case "journal":
      return readRecord(payload);
    default:
      return { kind: TaskNoteKind.MESSAGE };
  }
}

const commandKinds: Readonly<Record<LoggedCommand["type"], TaskNoteKind>> = {
  call: TaskNoteKind.CALL,
  queued: TaskNoteKind.QUEUED,
  grant: TaskNoteKind.GRANTED,
  turn: TaskNoteKind.TURN,
  waiting: TaskNoteKind.WAITING,
  begun: TaskNoteKind.BEGUN,
  survived: TaskNoteKind.SURVIVED,
  restart: TaskNoteKind.RESTARTED,
  stop: TaskNoteKind.STOPPED,
  "deadline-passed": TaskNoteKind.DEADLINE_PASSED,
  "timer-moved": TaskNoteKind.TIMER,
};

/** Commands have credentials and grants, which are never shown. */
function readCommand(command: LoggedCommand): EntryFacts {
  const { type, at } = command;
  return {
    kind: commandKinds[type],
    ...(at === undefined ? {} : { recordedAt: timestampFromMs(at) }),
    ...(type === "stop" ? { name: command.cause } : {}),
    ...("input" in command ? { content: { message: command.input } } : {}),
  };
}

const recordKinds: Readonly<Record<JournalRecord["kind"], TaskNoteKind>> = {
  value: TaskNoteKind.RESULT,
  error: TaskNoteKind.FAILURE,
  aborted: TaskNoteKind.ABORTED,
  over: TaskNoteKind.OVER,
  mistake: TaskNoteKind.MISTAKE,
  remembered: TaskNoteKind.REMEMBERED,
  sleep: TaskNoteKind.SLEEP,
  retry: TaskNoteKind.RETRY,
};

/** Messages and errors by their type alone: their classes and schemas are the agent's. */
const revivers = {
  Message: ([typeName]: [string]) => ({ $typeName: typeName }),
  Error: ([name, message]: [string, string]) => ({ name, message }),
};

function readRecord(payload: Uint8Array): EntryFacts {
  const record = parseRecord(payload, revivers);
  const { kind, op, at, tookMs, resumedAt } = record;
  const until = kind === "sleep" ? record.until : kind === "retry" ? record.retryAt : undefined;
  return {
    kind: recordKinds[kind],
    name: op,
    ...(at === undefined ? {} : { recordedAt: timestampFromMs(at) }),
    ...(tookMs === undefined ? {} : { elapsed: durationFromMs(tookMs) }),
    ...(resumedAt === undefined ? {} : { resumedAt: timestampFromMs(resumedAt) }),
    ...(until === undefined ? {} : { until: timestampFromMs(until) }),
    ...(kind === "retry" ? { attempts: record.attempts } : {}),
    content: contentOf(record),
  };
}

/** What an operation gave, or why it failed. */
function contentOf(record: JournalRecord): unknown {
  return "value" in record ? record.value : "message" in record ? { message: record.message } : undefined;
}
