import { a2aError, findA2AError } from "@a2a-connect/core";
import {
  Role,
  SendMessageConfigurationSchema,
  type StreamResponse,
  StreamResponseSchema,
  type Task,
  TaskSchema,
  TaskState,
} from "@a2a-connect/proto";
import { clone, create } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { accepting, answering, asking, failing, heading, presenting, streaming } from "./faulty-calls.ts";
import type { Mutant } from "./mutant.ts";

/** A task that has ended, as a careless server makes it up. */
const madeUp = (id: string, state: TaskState) => ({
  id,
  contextId: "made-up",
  status: { state, timestamp: { seconds: 1_800_000_000n } },
});

const isLast = ({ payload }: StreamResponse): boolean =>
  payload.case === "statusUpdate" && (payload.value.status?.state ?? 0) >= TaskState.COMPLETED;

/** A copy of an event, to be changed. */
const copyOf = (event: StreamResponse): StreamResponse => clone(StreamResponseSchema, event);

async function withoutLast(events: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
  return (await Array.fromAsync(events)).filter((event) => !isLast(event));
}

/** What a server may do wrong whatever the wire. */
export const callMutants: readonly Mutant[] = [
  {
    name: "answers before the task has ended",
    ids: "A-2",
    place: "grpc",
    agent: "reference",
    says: /waits until the task has ended, and returns all of it/,
    calls: asking(["sendMessage"], (request) => {
      request.configuration ??= create(SendMessageConfigurationSchema);
      request.configuration.returnImmediately = true;
    }),
  },
  {
    name: "starts a task for an unknown task id",
    ids: "A-6",
    place: "connect",
    says: /refuses a task id that it has not given out: the call was answered/,
    calls: asking(["sendMessage"], ({ message }) => {
      if (message !== undefined) message.taskId = "";
    }),
  },
  {
    name: "takes a message for a task that has ended",
    ids: "A-7",
    place: "jsonrpc",
    says: /refuses a message for a task that has ended.*the call was answered/,
    calls: accepting("sendMessage", "UNSUPPORTED_OPERATION", ({ message }) => ({
      payload: { case: "task", value: madeUp(message?.taskId ?? "", TaskState.COMPLETED) },
    })),
  },
  {
    name: "takes a media type that its card does not name",
    ids: "A-9",
    place: "grpc-web",
    says: /refuses a media type that its card does not name: the call was answered/,
    server: "bare",
    calls: asking(["sendMessage"], ({ message }) => {
      for (const part of message?.parts ?? []) part.mediaType = "text/plain";
    }),
  },
  {
    name: "takes a message without an id",
    ids: "A-13",
    place: "grpc",
    says: /with no message id invalid: the call was answered/,
    calls: asking(["sendMessage"], ({ message }) => {
      if (message !== undefined) message.messageId ||= "made-up";
    }),
  },
  {
    name: "takes a message without a role",
    ids: "A-13",
    place: "http-json",
    says: /with no role invalid: the call was answered/,
    calls: asking(["sendMessage"], ({ message }) => {
      if (message !== undefined) message.role ||= Role.USER;
    }),
  },
  {
    name: "takes a message without parts",
    ids: "A-13",
    place: "connect",
    says: /with no parts invalid: the call was answered/,
    calls: accepting("sendMessage", "INVALID_PARAMS", ({ message }) => {
      if (message === undefined || message.messageId === "" || message.parts.length > 0) {
        throw a2aError("INVALID_PARAMS", "the message is invalid");
      }
      return { payload: { case: "task", value: madeUp("t", TaskState.COMPLETED) } };
    }),
  },
  {
    name: "streams although its card does not declare it",
    ids: "A-20",
    place: "grpc",
    server: "bare",
    says: /refuses to stream the answer to a hello.*the call was answered/,
    calls: accepting("sendStreamingMessage", "UNSUPPORTED_OPERATION", () => ({
      payload: { case: "task", value: madeUp("t", TaskState.COMPLETED) },
    })),
  },
  {
    name: "begins a stream with an update and not with the task",
    ids: "A-22",
    place: "grpc",
    says: /with a task and its updates to the end.*(statusUpdate|task)/,
    calls: streaming(async function* (events) {
      for await (const event of events) if (event.payload.case !== "task") yield event;
    }),
  },
  {
    name: "ends a stream before the task has ended",
    ids: "A-22",
    place: "connect",
    says: /with a task and its updates to the end/,
    calls: streaming(async function* (events) {
      yield* await withoutLast(events);
    }),
  },
  {
    name: "keeps a stream open when the task has ended",
    ids: "A-21",
    place: "grpc-web",
    says: /with a task and its updates to the end: It took longer than/,
    scenarioTimeoutMs: 1_000,
    calls: (next) => async (call) => {
      const response = await next(call);
      if (!response.stream) return response;
      const { signal } = call;
      const events = async function* () {
        yield* response.message;
        const { promise, resolve } = Promise.withResolvers<void>();
        signal.addEventListener("abort", () => resolve(), { once: true });
        await promise;
      };
      return { ...response, message: events() };
    },
  },
  {
    name: "sends an event after the last state",
    ids: "A-22 B-2",
    place: "grpc",
    says: /with a task and its updates to the end/,
    calls: streaming(async function* (events) {
      for await (const event of events) {
        yield event;
        if (!isLast(event)) continue;
        const late = copyOf(event);
        if (late.payload.case === "statusUpdate" && late.payload.value.status !== undefined) {
          late.payload.value.status.state = TaskState.WORKING;
        }
        yield late;
      }
    }),
  },
  {
    name: "sends events in another order",
    ids: "A-25",
    place: "connect",
    says: /with a task and its updates to the end/,
    calls: streaming(async function* (events) {
      const [first, ...rest] = await Array.fromAsync(events);
      if (first !== undefined) yield first;
      yield* rest.toReversed();
    }),
  },
  {
    name: "lets times of a stream go back",
    ids: "B-9",
    place: "grpc",
    says: /times never go back/,
    calls: streaming(async function* (events) {
      for await (const event of events) {
        const copy = copyOf(event);
        if (isLast(copy) && copy.payload.case === "statusUpdate" && copy.payload.value.status?.timestamp) {
          copy.payload.value.status.timestamp.seconds -= 3_600n;
        }
        yield copy;
      }
    }),
  },
  {
    name: "streams for an unknown task",
    ids: "A-27 A-35",
    place: "grpc",
    says: /(stream for unknown|nothing to subscribe to).*the call was answered/,
    calls: streaming(async function* (events) {
      try {
        yield* events;
      } catch (error) {
        if (findA2AError(error)?.reason !== "TASK_NOT_FOUND") throw error;
      }
    }),
  },
  {
    name: "leaves the context out of updates",
    ids: "A-28",
    place: "jsonrpc",
    says: /names the task and the context in every update/,
    calls: streaming(async function* (events) {
      for await (const event of events) {
        const copy = copyOf(event);
        if (copy.payload.case === "statusUpdate") copy.payload.value.contextId = "";
        yield copy;
      }
    }),
  },
  {
    name: "sends an artifact twice",
    ids: "A-29",
    place: "grpc",
    says: /streams just what the task then has/,
    calls: streaming(async function* (events) {
      for await (const event of events) {
        yield event;
        if (event.payload.case !== "artifactUpdate") continue;
        const again = copyOf(event);
        if (again.payload.case === "artifactUpdate") again.payload.value.append = true;
        yield again;
      }
    }),
  },
  {
    name: "drops artifacts from streams",
    ids: "A-29",
    place: "connect",
    says: /streams just what the task then has/,
    calls: streaming(async function* (events) {
      for await (const event of events) if (event.payload.case !== "artifactUpdate") yield event;
    }),
  },
  {
    name: "returns another task than the one that was answered",
    ids: "A-30",
    place: "grpc",
    says: /returns the task of a hello as it was answered/,
    calls: answering(["getTask"], (task) => {
      task.artifacts = [];
    }),
  },
  {
    name: "makes up a task for every id",
    ids: "A-30",
    place: "grpc-web",
    says: /answers TASK_NOT_FOUND for a task that does not exist: the call was answered/,
    calls: accepting("getTask", "TASK_NOT_FOUND", ({ id }) => madeUp(id, TaskState.COMPLETED)),
  },
  {
    name: "calls an unknown task an internal error",
    ids: "E-7",
    place: "grpc",
    says: /unknown task/,
    calls: failing((error) =>
      findA2AError(error)?.reason === "TASK_NOT_FOUND"
        ? new ConnectError(error.rawMessage, Code.Internal)
        : error,
    ),
  },
  {
    name: "cancels a task that has ended",
    ids: "A-31",
    place: "grpc",
    says: /does not cancel a task that has ended.*the call was answered/,
    calls: accepting("cancelTask", "TASK_NOT_CANCELABLE", ({ id }) => madeUp(id, TaskState.CANCELED)),
  },
  {
    name: "says that it cannot cancel unknown tasks, and not that they are unknown",
    ids: "A-31",
    place: "connect",
    says: /answers TASK_NOT_FOUND for a task that does not exist.*TASK_NOT_CANCELABLE/,
    calls: failing((error, { method }) =>
      method.localName === "cancelTask" && findA2AError(error)?.reason === "TASK_NOT_FOUND"
        ? a2aError("TASK_NOT_CANCELABLE", error.rawMessage)
        : error,
    ),
  },
  {
    name: "subscribes to a task that has ended",
    ids: "A-35",
    place: "grpc",
    says: /refuses to subscribe to the task of a hello that has ended: the call was answered/,
    calls: accepting("subscribeToTask", "UNSUPPORTED_OPERATION", ({ id }) => ({
      payload: { case: "task", value: madeUp(id, TaskState.COMPLETED) },
    })),
  },
  {
    name: "lists tasks in no order",
    ids: "A-41",
    place: "grpc",
    says: /orders the tasks of a context by the time of their status/,
    calls: answering(["listTasks"], (page) => {
      page.tasks.reverse();
    }),
  },
  {
    name: "gives out the token of the page that it is given for",
    ids: "A-42",
    place: "connect",
    says: /the pages do not end/,
    calls: answering(["listTasks"], (page, { pageToken }) => {
      if (pageToken !== "" && page.nextPageToken !== "") page.nextPageToken = pageToken;
    }),
  },
  {
    name: "begins anew with every page",
    ids: "A-42",
    place: "grpc",
    says: /page by page/,
    calls: asking(["listTasks"], (request) => {
      if (request.pageToken !== "garbage") request.pageToken = "";
    }),
  },
  {
    name: "has no token for the second page",
    ids: "A-42",
    place: "grpc-web",
    says: /page by page/,
    calls: answering(["listTasks"], (page) => {
      page.nextPageToken = "";
    }),
  },
  {
    name: "counts the tasks of the page and not of the list",
    ids: "A-43",
    place: "grpc",
    says: /page by page.*found 2, wanted 3/,
    calls: answering(["listTasks"], (page) => {
      page.totalSize = page.tasks.length;
    }),
  },
  {
    name: "cuts a page size that is too large",
    ids: "A-44",
    place: "grpc",
    says: /a page of 101 invalid: the call was answered/,
    calls: asking(["listTasks"], (request) => {
      if (request.pageSize !== undefined && request.pageSize > 100) request.pageSize = 100;
    }),
  },
  {
    name: "takes a page size of 0 for none",
    ids: "A-44",
    place: "http-json",
    says: /a page of 0 invalid: the call was answered/,
    calls: asking(["listTasks"], (request) => {
      if (request.pageSize === 0) delete request.pageSize;
    }),
  },
  {
    name: "has pages of 100 when nothing is said",
    ids: "A-44",
    place: "grpc",
    says: /at most 50 tasks in a page when nothing is said/,
    calls: asking(["listTasks"], (request) => {
      request.pageSize ??= 100;
    }),
  },
  {
    name: "lists the tasks of all contexts",
    ids: "A-45",
    place: "grpc",
    says: /finds the task of a hello by its context/,
    calls: asking(["listTasks"], (request) => {
      request.contextId = "";
    }),
  },
  {
    name: "does not filter by state",
    ids: "A-45",
    place: "connect",
    says: /its state, and not by others/,
    calls: asking(["listTasks"], (request) => {
      request.status = TaskState.UNSPECIFIED;
    }),
  },
  {
    name: "does not filter by time",
    ids: "A-45",
    place: "jsonrpc",
    says: /later times/,
    calls: asking(["listTasks"], (request) => {
      delete request.statusTimestampAfter;
    }),
  },
  {
    name: "leaves out the moment itself from statusTimestampAfter",
    ids: "A-45",
    place: "grpc",
    says: /takes the moment itself/,
    calls: asking(["listTasks"], ({ statusTimestampAfter: bound }) => {
      if (bound !== undefined) bound.nanos += 1;
    }),
  },
  {
    name: "lists artifacts that are not asked for",
    ids: "A-46",
    place: "grpc",
    says: /leaves the artifacts of a hello out unless/,
    calls: asking(["listTasks"], (request) => {
      request.includeArtifacts = true;
    }),
  },
  {
    name: "never lists artifacts",
    ids: "A-46",
    place: "http-json",
    says: /artifacts/,
    calls: asking(["listTasks"], (request) => {
      request.includeArtifacts = false;
    }),
  },
  {
    name: "takes a page token that it has not given out",
    ids: "A-48",
    place: "grpc",
    says: /page token invalid that it has not given out: the call was answered/,
    calls: asking(["listTasks"], (request) => {
      if (request.pageToken === "garbage") request.pageToken = "";
    }),
  },
  {
    name: "shows an extended card that its card does not declare",
    ids: "A-60",
    place: "grpc",
    server: "bare",
    says: /refuses the operation when the card does not declare it: the call was answered/,
    calls: accepting("getExtendedAgentCard", "UNSUPPORTED_OPERATION", () => ({ name: "Secret" })),
  },
  {
    name: "has an extended card without its required members",
    ids: "A-61",
    place: "grpc",
    says: /shows a whole extended card.*description/,
    calls: answering(["getExtendedAgentCard"], (card) => {
      card.description = "";
      card.skills = [];
    }),
  },
  {
    name: "has tasks without a time",
    ids: "B-9",
    place: "connect",
    says: /has a time in every status.*without a time/,
    calls: streaming(async function* (events) {
      for await (const event of events) {
        const copy = copyOf(event);
        if (copy.payload.case === "statusUpdate") delete copy.payload.value.status?.timestamp;
        yield copy;
      }
    }),
  },
  {
    name: "takes a message whose context is not that of its task",
    ids: "B-6",
    place: "grpc",
    says: /refuses a message whose context is not that of its task/,
    calls: accepting("sendMessage", "INVALID_PARAMS", ({ message }) => ({
      payload: { case: "task", value: madeUp(message?.taskId ?? "", TaskState.COMPLETED) },
    })),
  },
  {
    name: "does not limit the history of GetTask",
    ids: "C-1",
    place: "grpc",
    says: /history of a hello than GetTask is asked for/,
    calls: asking(["getTask"], (request) => {
      delete request.historyLength;
    }),
  },
  {
    name: "takes a historyLength of 0 for none",
    ids: "C-4",
    place: "jsonrpc",
    says: /history/,
    calls: asking(["getTask"], (request) => {
      if (request.historyLength === 0) delete request.historyLength;
    }),
  },
  {
    name: "does not limit the history of SendMessage",
    ids: "C-1",
    place: "connect",
    says: /history of a hello than SendMessage is asked for/,
    calls: asking(["sendMessage"], ({ configuration }) => {
      delete configuration?.historyLength;
    }),
  },
  {
    name: "does not limit the histories of a list",
    ids: "A-47",
    place: "grpc",
    says: /shortens the history of a hello as it is told/,
    calls: asking(["listTasks"], (request) => {
      if ((request.historyLength ?? 0) >= 0) delete request.historyLength;
    }),
  },
  {
    name: "has the oldest messages of a history and not the newest",
    ids: "C-2",
    place: "grpc",
    says: /has the newest 1 of GetTask/,
    agent: "reference",
    calls: (next) => async (call) => {
      if (call.stream || call.method.localName !== "getTask") return next(call);
      const { historyLength } = call.message as { historyLength?: number };
      if (historyLength === undefined || historyLength <= 0) return next(call);
      const all = await next({
        ...call,
        message: create(call.method.input, { ...call.message, historyLength: undefined }),
      });
      const task = clone(TaskSchema, all.message as unknown as Task); // of GetTask
      task.history = task.history.slice(0, historyLength);
      return { ...all, message: task } as typeof all;
    },
  },
  {
    name: "has the newest messages of a history first",
    ids: "C-2",
    place: "connect",
    most: 5,
    says: /has the newest messages of GetTask/,
    agent: "reference",
    calls: answering(["getTask"], (task) => {
      task.history.reverse();
    }),
  },
  {
    name: "keeps no history",
    ids: "C-3",
    place: "grpc",
    says: /keeps what was said in a hello/,
    calls: answering(["getTask", "sendMessage"], (answer) => {
      const task = "payload" in answer ? answer.payload.value : answer;
      if (task?.$typeName === "lf.a2a.v1.Task") task.history = [];
    }),
  },
  {
    name: "keeps messages under other ids",
    ids: "C-3",
    place: "grpc",
    says: /keeps what was said in a hello/,
    calls: asking(["sendMessage"], ({ message }) => {
      if (message !== undefined && message.messageId !== "")
        message.messageId = `${message.messageId}-changed`;
    }),
  },
  {
    name: "uses the id of the context for its tasks, too",
    ids: "D-1 D-5",
    place: "grpc",
    says: /starts another task for a second hello in the same context/,
    calls: answering(["sendMessage"], ({ payload }) => {
      if (payload.case === "task") payload.value.id = payload.value.contextId;
    }),
  },
  {
    name: "has no context for a message without one",
    ids: "D-2",
    place: "connect",
    says: /an id of its own, and a context/,
    calls: answering(["sendMessage"], ({ payload }) => {
      if (payload.case === "task") payload.value.contextId = "";
    }),
  },
  {
    name: "replaces the context of the caller",
    ids: "D-3",
    place: "grpc",
    says: /keeps a context of the caller's/,
    calls: asking(["sendMessage"], ({ message }) => {
      if (message !== undefined && message.taskId === "") message.contextId = "";
    }),
  },
  {
    name: "refuses a reference to a task that it does not know",
    ids: "D-6",
    place: "grpc",
    says: /takes a reference to a task that it does not know.*no such task/,
    calls: asking(["sendMessage"], ({ message }) => {
      if ((message?.referenceTaskIds.length ?? 0) > 0) throw a2aError("TASK_NOT_FOUND", "no such task");
    }),
  },
  {
    name: "has errors without ErrorInfo",
    ids: "E-2",
    place: "grpc",
    most: 5,
    says: /in the ErrorInfo for an unknown task/,
    calls: failing((error) => new ConnectError(error.rawMessage, error.code)),
  },
  {
    name: "has another domain in ErrorInfo",
    ids: "E-2",
    place: "connect",
    most: 5,
    says: /ErrorInfo for an unknown task.*example\.com/,
    calls: failing((error) => {
      for (const { value } of error.details as unknown as { value?: { domain?: string } }[]) {
        if (value?.domain !== undefined) value.domain = "example.com";
      }
      return error;
    }),
  },
  {
    name: "has errors without a sentence",
    ids: "E-1",
    place: "grpc",
    most: 7,
    says: /for an unknown task, and a sentence/,
    calls: failing((error) => Object.assign(new ConnectError("", error.code), { details: error.details })),
  },
  {
    name: "calls a cancel that comes too late unsupported",
    ids: "A-31",
    place: "jsonrpc",
    says: /does not cancel a task that has ended.*UNSUPPORTED_OPERATION/,
    calls: failing((error) =>
      findA2AError(error)?.reason === "TASK_NOT_CANCELABLE"
        ? a2aError("UNSUPPORTED_OPERATION", error.rawMessage)
        : error,
    ),
  },
  {
    name: "does not say which fields are wrong",
    ids: "E-3",
    place: "grpc",
    says: /names the fields that a send lacks/,
    calls: failing((error) =>
      error.code === Code.InvalidArgument ? a2aError("INVALID_PARAMS", error.rawMessage) : error,
    ),
  },
  {
    name: "names wrong fields in snake_case",
    ids: "E-3",
    place: "connect",
    says: /by their camelCase path.*message_id/,
    calls: failing((error) => {
      for (const { value } of error.details as unknown as {
        value?: { fieldViolations?: { field: string }[] };
      }[]) {
        for (const violation of value?.fieldViolations ?? []) {
          violation.field = violation.field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
        }
      }
      return error;
    }),
  },
  {
    name: "does not look at the version",
    ids: "F-5",
    place: "grpc",
    says: /does not speak version 99\.0: .*VERSION_NOT_SUPPORTED/,
    calls: presenting((header) => header.set("a2a-version", "1.0")),
  },
  {
    name: "takes a call without a version for 1.0",
    ids: "F-4",
    place: "connect",
    server: "lenient-version",
    isInSetup: true,
    says: /no version of any call for 0\.3/,
  },
  {
    name: "refuses versions with a patch number",
    ids: "F-1",
    place: "grpc",
    says: /accepts a call of version 1\.0\.7/,
    calls: presenting((header) => {
      if (/^1\.0\./.test(header.get("a2a-version") ?? ""))
        throw a2aError("VERSION_NOT_SUPPORTED", "only 1.0");
    }),
  },
  {
    name: "claims all extensions that it is asked for",
    ids: "G-3",
    place: "grpc",
    says: /does not claim them/,
    calls: heading((header, asked) => {
      const extensions = asked.get("a2a-extensions");
      if (extensions !== null) header.set("a2a-extensions", extensions);
    }),
  },
  {
    name: "refuses extensions that it does not know",
    ids: "G-3",
    place: "connect",
    says: /ignores extensions that no card of it names/,
    calls: presenting((header) => {
      if (header.has("a2a-extensions")) throw a2aError("UNSUPPORTED_OPERATION", "unknown extension");
    }),
  },
  {
    name: "does not require the extension that its card requires",
    ids: "G-4",
    place: "grpc",
    server: "required-extension",
    says: /refuses calls without the extension.*the call was answered/,
    calls: presenting((header) => header.set("a2a-extensions", "urn:a2a:tck:required-extension")),
  },
  {
    name: "refuses calls that name the extension that its card requires",
    ids: "G-4",
    place: "connect",
    server: "required-extension",
    says: /takes calls that name the extensions that its card requires.*this agent requires extensions/,
    calls: presenting((header) => header.delete("a2a-extensions")),
  },
  {
    name: "takes a webhook in a send although its card declares none",
    ids: "A-15",
    place: "grpc",
    server: "no-push",
    says: /refuses a webhook in a send when it has no push: the call was answered/,
    calls: asking(["sendMessage"], (request) => {
      delete request.configuration;
    }),
  },
  {
    name: "does not say which extensions are active",
    ids: "G-5",
    place: "grpc",
    server: "required-extension",
    says: /names the extensions of its card that a call has activated/,
    calls: heading((header) => header.delete("a2a-extensions")),
  },
  {
    name: "has messages without a role",
    ids: "H-7",
    place: "grpc",
    says: /REQUIRED field in its answers to a hello.*role/,
    calls: answering(["getTask", "sendMessage"], (answer) => {
      const task = "payload" in answer ? answer.payload.value : answer;
      if (task?.$typeName !== "lf.a2a.v1.Task") return;
      for (const message of task.history) message.role = Role.UNSPECIFIED;
    }),
  },
  {
    name: "has artifacts without an id",
    ids: "H-7",
    place: "connect",
    says: /REQUIRED field.*artifactId/,
    calls: answering(["getTask", "sendMessage"], (answer) => {
      const task = "payload" in answer ? answer.payload.value : answer;
      if (task?.$typeName !== "lf.a2a.v1.Task") return;
      for (const artifact of task.artifacts) artifact.artifactId = "";
    }),
  },
  {
    name: "loses the metadata of messages",
    ids: "H-13",
    place: "grpc",
    says: /gives back the metadata of a hello/,
    calls: asking(["sendMessage"], ({ message }) => {
      delete message?.metadata;
    }),
  },
  {
    name: "loses parts of empty text",
    ids: "H-9",
    place: "grpc",
    says: /accepts empty text as a content/,
    calls: asking(["sendMessage"], ({ message }) => {
      if (message !== undefined && message.parts.length > 1) {
        message.parts = message.parts.filter(({ content }) => content.value !== "");
      }
    }),
  },
  {
    name: "lets callers in without credentials",
    ids: "O-2",
    place: "grpc",
    server: "credentials",
    says: /refuses a call without credentials: expected 'OK \(0\)' to be one of/,
    calls: accepting("getTask", undefined, ({ id }) => madeUp(id, TaskState.COMPLETED)),
  },
];
