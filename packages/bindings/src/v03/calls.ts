import {
  a2aError,
  findA2AError,
  findFieldViolations,
  invalidParams,
  isTerminal,
  type MethodLocalName,
  type RpcMethod,
} from "@a2a-connect/core";
import {
  extensionsHeader,
  formatJsonInPieces,
  formatLazily,
  formatMessage,
  isLarge,
  KeptTexts,
  type LazyJson,
  type LazyObject,
  parseMessage,
  protocolVersion,
  startWalk,
  unsentKey,
  versionHeader,
} from "@a2a-connect/core/internal";
import {
  GetTaskRequestSchema,
  ListTaskPushNotificationConfigsRequestSchema,
  type StreamResponse,
  StreamResponseSchema,
  type Task,
  TaskState,
  type TaskStatus,
} from "@a2a-connect/proto";
import { create, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import type { BoundMethod, BoundOperation, StreamMethod, UnaryMethod } from "../invoke.ts";
import { type Form, same } from "./form.ts";
import type { Forms } from "./forms.ts";
import { type OlderMethod, olderExtensionsHeader, olderMethods } from "./methods.ts";
import { markPushConfig } from "./push.ts";

/** An operation for callers of an older version: it takes their JSON, and answers in theirs. */
export interface OlderCall {
  readonly name: string;
  /** The method of `a2a.v1.A2AService`. */
  readonly rpc: OlderMethod["rpc"];
  readonly method: RpcMethod;
  /** The operation; it names fields as its callers do. */
  readonly bound: BoundMethod;
  /** @throws ConnectError InvalidArgument that names the wrong fields */
  read(json: unknown, maxDepth: number): Message;
  /** An answer or an event as JSON, which is converted while it is read. */
  toOlder(message: Message): LazyJson;
  /** Its text; that of a large one in pieces, which are made while they are read. */
  write(message: Message): string | Iterable<string>;
}

/** The operations that older versions have. */
export function bindOlderCalls(operations: readonly BoundOperation[], forms: Forms): readonly OlderCall[] {
  const byName = new Map(operations.map((operation) => [operation.method.localName, operation]));
  const bounds: Bounds = (name) => byName.get(name)?.bound;
  return olderMethods.flatMap((older) => {
    const operation = byName.get(older.operation);
    return operation === undefined ? [] : [bindOlderCall(older, operation, bounds, forms)];
  });
}

type Bounds = (name: MethodLocalName) => BoundMethod | undefined;

function bindOlderCall(
  { name, rpc, request, response }: OlderMethod,
  { method, bound }: BoundOperation,
  bounds: Bounds,
  forms: Forms,
): OlderCall {
  const asked = request === undefined ? same : forms[request];
  const { input, output } = method.desc;
  const format = response === "card" ? formatMessage : formatLazily; // a card is the server's own, and small
  const toOlder = (message: Message): LazyJson => {
    const json = forms[response].toOlder(format(output, message));
    return passed.has(message) ? { ...(json as LazyObject), final: false } : json; // an event is an object
  };
  /** All readers of an event get the same object, so its text is made once. */
  const texts = new KeptTexts<string>();
  return {
    name,
    rpc,
    method,
    toOlder,
    bound: withOlderNames(adapt(method.localName, bound, bounds), asked),
    read(json, maxDepth) {
      const walk = startWalk("", maxDepth);
      const current = request === undefined ? {} : asked.toCurrent(json, walk);
      if (walk.violations.length > 0) {
        throw invalidParams(walk.violations);
      }
      try {
        const message = parseMessage(input, current, { maxDepth });
        markPushConfig(message);
        return message;
      } catch (error) {
        throw renameFields(error, asked);
      }
    },
    write(message) {
      const known = texts.get(message);
      if (known !== undefined) {
        return known;
      }
      if (isLarge(message)) {
        return formatJsonInPieces(toOlder(message), pieceLength);
      }
      const text = JSON.stringify(toOlder(message));
      if (bound.kind === "stream") {
        texts.set(message, text);
      }
      return text;
    },
  };
}

/* ---- The headers of a call ---- */

/** A caller's header in the words of 1.0. */
export function toCurrentHeader(header: Headers): Headers {
  const current = new Headers(header);
  current.set(versionHeader, protocolVersion);
  const extensions = header.get(olderExtensionsHeader);
  if (extensions !== null) {
    current.set(extensionsHeader, extensions);
  }
  return current;
}

/** The header of an answer in the words of older versions. */
export function toOlderHeader(header: Headers): void {
  const extensions = header.get(extensionsHeader);
  if (extensions !== null) {
    header.delete(extensionsHeader);
    header.set(olderExtensionsHeader, extensions);
  }
}

/* ---- What a caller is told ---- */

/** Length of one piece of a large answer, in characters. */
const pieceLength = 64 * 1024;

/** The events of a task that other events follow, although the caller was asked something. */
const passed = new WeakSet<Message>();

/** An error about fields, with the names that the caller has used. */
function renameFields(error: unknown, form: Form): unknown {
  const violations = findFieldViolations(error);
  return violations.length === 0
    ? error
    : invalidParams(
        violations.map(({ field, description }) => ({ field: olderPath(field, form), description })),
      );
}

/** `message.parts[0].raw` as a caller knows it: `message.parts[0].file.bytes`. */
export function olderPath(path: string, form: Form): string {
  const segments = path.match(/\[(?:"(?:[^"\\]|\\.)*"|[^\]]*)\]|[^.[]+/g) ?? [];
  return (segments.length === 0 ? segments : form.olderPath(segments))
    .map((segment, index) => (index === 0 || segment.startsWith("[") ? segment : `.${segment}`))
    .join("");
}

function withOlderNames(bound: BoundMethod, form: Form): BoundMethod {
  const renamed = (error: unknown): never => {
    throw renameFields(error, form);
  };
  return bound.kind === "unary"
    ? { ...bound, call: (request, context) => bound.call(request, context).catch(renamed) }
    : {
        ...bound,
        call(request, context) {
          const events = bound.call(request, context);
          return {
            next: () => events.next().catch(renamed),
            return: () => events.return?.() ?? Promise.resolve({ done: true, value: undefined }),
          };
        },
      };
}

/* ---- Operations that did something else ---- */

function adapt(name: MethodLocalName, bound: BoundMethod, bounds: Bounds): BoundMethod {
  const [listing, reading] = [bounds("listTaskPushNotificationConfigs"), bounds("getTask")];
  if (name === "getTaskPushNotificationConfig" && bound.kind === "unary" && listing?.kind === "unary") {
    return { ...bound, call: readConfig(bound, listing) };
  }
  if (name === "listTaskPushNotificationConfigs" && bound.kind === "unary") {
    return { ...bound, call: listAllConfigs(bound) };
  }
  if (bound.kind === "stream" && reading?.kind === "unary") {
    return { ...bound, call: endAtQuestion(bound, reading, name === "subscribeToTask") };
  }
  return bound;
}

/** Without an id the first config of the task is meant. */
function readConfig(bound: UnaryMethod, listing: UnaryMethod): UnaryMethod["call"] {
  return async (request, context) => {
    const { taskId, id } = request as Message & { readonly taskId: string; readonly id: string }; // its request
    if (id !== "") {
      return bound.call(request, context);
    }
    const [first] = (await listPage(listing, { taskId, pageSize: 1 }, context)).configs;
    if (first === undefined) {
      throw a2aError("TASK_NOT_FOUND", "the task has no push config", { taskId });
    }
    return first;
  };
}

/** A list was not divided into pages. */
function listAllConfigs(bound: UnaryMethod): UnaryMethod["call"] {
  return async (request, context) => {
    const { taskId } = request as Message & { readonly taskId: string }; // its request
    const page = await listPage(bound, { taskId }, context);
    while (page.nextPageToken !== "") {
      const next = await listPage(bound, { taskId, pageToken: page.nextPageToken }, context);
      page.configs.push(...next.configs);
      page.nextPageToken = next.nextPageToken;
    }
    return page;
  };
}

interface ConfigPage extends Message {
  readonly configs: Message[];
  nextPageToken: string;
}

async function listPage(
  listing: UnaryMethod,
  request: { readonly taskId: string; readonly pageSize?: number; readonly pageToken?: string },
  context: HandlerContext,
): Promise<ConfigPage> {
  const message = create(ListTaskPushNotificationConfigsRequestSchema, request);
  return (await listing.call(message, context)) as ConfigPage; // the answer to this request
}

/**
 * A stream ended where the agent asked its caller. A caller that reads old events again also sees questions that were answered
 * meanwhile: these are not `final`.
 *
 * @param subscribes whether the caller knows the task: then the stream also ends with one that waits for its caller, and is
 *   the task alone when that has ended
 */
function endAtQuestion(bound: StreamMethod, reading: UnaryMethod, subscribes: boolean): StreamMethod["call"] {
  return (request, context) => {
    const events = bound.call(request, context);
    /** Whether the task is known to have ended: then it need not be read for each question of its past. */
    let hasEnded = false;
    let isOver = false;
    return { next, return: leave }; // no generator: it would keep the event that it has given last

    async function next(): Promise<IteratorResult<Message, undefined>> {
      if (isOver) return leave();
      try {
        const next = await events.next();
        return next.done === true
          ? await leave()
          : { done: false, value: await show(next.value as StreamResponse) }; // an event of these streams
      } catch (thrown) {
        isOver = true;
        return { done: false, value: await endedTask(thrown).finally(leave) };
      }
    }

    async function leave(): Promise<IteratorReturnResult<undefined>> {
      isOver = true;
      await events.return?.();
      return { done: true, value: undefined };
    }

    async function show(event: StreamResponse): Promise<StreamResponse> {
      const question = questionOf(event, subscribes);
      if (question === undefined) return event;
      isOver = event.payload.case === "task" || (await isUnanswered(question));
      if (isOver) return event;
      const copy = { ...event };
      passed.add(copy);
      return copy;
    }

    async function isUnanswered({ taskId: id, status: asked }: Question): Promise<boolean> {
      if (hasEnded) {
        return false;
      }
      context.values.set(unsentKey, true); // what is counted comes back with the end of the stream, which may pass hundreds of questions
      const { status } = await readTask({ id, historyLength: 0 }).finally(() =>
        context.values.delete(unsentKey),
      );
      hasEnded = status !== undefined && isTerminal(status.state);
      return status !== undefined && isSameStatus(status, asked);
    }

    /** @throws what was thrown when that does not say that the task has ended */
    async function endedTask(thrown: unknown): Promise<StreamResponse> {
      const { reason, metadata: { taskId = "" } = {} } = findA2AError(thrown) ?? {};
      if (!subscribes || reason !== "UNSUPPORTED_OPERATION" || taskId === "") {
        throw thrown;
      }
      const value = await readTask({ id: taskId });
      return create(StreamResponseSchema, { payload: { case: "task", value } });
    }

    async function readTask(asked: MessageInitShape<typeof GetTaskRequestSchema>): Promise<Task> {
      return (await reading.call(create(GetTaskRequestSchema, asked), context)) as Task; // the answer to this request
    }
  };
}

/** The task and the status of an event that asks the caller for something. */
interface Question {
  readonly taskId: string;
  readonly status: TaskStatus;
}

function questionOf({ payload }: StreamResponse, looksAtTasks: boolean): Question | undefined {
  if (payload.case !== "statusUpdate" && (payload.case !== "task" || !looksAtTasks)) {
    return undefined;
  }
  const { status } = payload.value;
  const taskId = payload.case === "task" ? payload.value.id : payload.value.taskId;
  return status?.state === TaskState.INPUT_REQUIRED ? { taskId, status } : undefined;
}

/** Compares what tells statuses of one task apart, not what they say: a question may have 100,000 values. */
function isSameStatus(one: TaskStatus, other: TaskStatus): boolean {
  return (
    one.state === other.state &&
    one.message?.messageId === other.message?.messageId &&
    one.timestamp?.seconds === other.timestamp?.seconds &&
    one.timestamp?.nanos === other.timestamp?.nanos
  );
}
