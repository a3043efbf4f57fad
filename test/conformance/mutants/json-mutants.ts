import { TaskState } from "@a2a-connect/proto";
import {
  documents,
  isStream,
  type Json,
  members,
  queries,
  readJson,
  refusing,
  requests,
  results,
} from "./faulty-json.ts";
import type { Mutant } from "./mutant.ts";

const camel = /[A-Z]/g;

/** Has a task in an answer changed, wherever it is. */
const tasks = (change: (task: Json) => Json) =>
  results((message) => {
    if (message.task !== undefined) return { ...message, task: change(message.task) };
    if (Array.isArray(message.tasks)) return { ...message, tasks: message.tasks.map(change) };
    return message.status !== undefined && message.id !== undefined ? change(message) : message;
  });

/** Names that the messages of 1.0 have, for a server that refuses all others. */
const known =
  /^(message|configuration|metadata|tenant|messageId|contextId|taskId|role|parts|extensions|referenceTaskIds|text|raw|url|data|filename|mediaType|historyLength|returnImmediately|acceptedOutputModes|taskPushNotificationConfig|id|token|authentication|scheme|credentials|status|pageSize|pageToken|statusTimestampAfter|includeArtifacts|a2a-version|message_id|history_length|return_immediately)$/i;

/** What a server may do wrong in the JSON that it reads and writes. */
export const jsonMutants: readonly Mutant[] = [
  {
    name: "writes names in snake_case",
    ids: "H-1",
    place: "jsonrpc",
    most: 5,
    says: /context_id is no member of Task/,
    alter: members((name, value) => [name.replace(camel, (letter) => `_${letter.toLowerCase()}`), value]),
  },
  {
    name: "writes the members of 0.3, too",
    ids: "H-1 F-6",
    place: "http-json",
    most: 5,
    says: /kind.*is no member of Task/,
    alter: tasks((task) => ({ ...task, kind: "task" })),
  },
  {
    name: "writes enums as numbers",
    ids: "H-3",
    place: "jsonrpc",
    most: 5,
    says: /state.*is 3, which is no name of TaskState/,
    alter: members((name, value) => [
      name,
      name === "state" ? TaskState[value.replace("TASK_STATE_", "") as "COMPLETED"] : value,
    ]),
  },
  {
    name: "writes the states of 0.3",
    ids: "B-1",
    place: "http-json",
    says: /no state, or one that the protocol does not know/,
    alter: members((name, value) => [
      name,
      name === "state" ? value.replace("TASK_STATE_", "").toLowerCase().replace("_", "-") : value,
    ]),
  },
  {
    name: "writes times with an offset and not in UTC",
    ids: "H-4",
    place: "jsonrpc",
    most: 5,
    says: /\+02:00/,
    alter: members((name, value) => [
      name,
      name === "timestamp"
        ? new Date(Date.parse(value) + 7_200_000).toISOString().replace("Z", "+02:00")
        : value,
    ]),
  },
  {
    name: "writes times without a zone",
    ids: "H-4",
    place: "http-json",
    most: 5,
    says: /timestamp.*T\d\d:\d\d:\d\d\.\d+",? .*not a time/,
    alter: members((name, value) => [name, name === "timestamp" ? value.replace("Z", "") : value]),
  },
  {
    name: "writes null for what has no value",
    ids: "H-7",
    place: "http-json",
    most: 4,
    says: /metadata.*null/,
    alter: tasks((task) => ({ ...task, metadata: null })),
  },
  {
    name: "writes bytes in the alphabet for URLs",
    ids: "H-5",
    place: "jsonrpc",
    says: /writes them in the standard one.*-_8/,
    alter: members((name, value) => [
      name,
      name === "raw" ? value.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "") : value,
    ]),
  },
  {
    name: "reads bytes only in the standard alphabet",
    ids: "H-5",
    place: "http-json",
    says: /reads bytes in each alphabet/,
    ask: refusing((name, value) => name === "raw" && /[-_]|^[^=]{3}$/.test(value)),
  },
  {
    name: "refuses members that it does not know",
    ids: "H-6",
    place: "jsonrpc",
    says: /ignores members that it does not know in a hello.*the request is invalid/,
    ask: refusing((name) => !known.test(name)),
  },
  {
    name: "does not read the proto's own names",
    ids: "H-2",
    place: "http-json",
    says: /reads the proto's own names in a hello/,
    ask: requests((message) => dropSnake(message)),
  },
  {
    name: "reads enums only by name",
    ids: "H-3",
    place: "jsonrpc",
    says: /reads (a role by its number|the number of a state)/,
    ask: refusing((name, value) => (name === "role" || name === "status") && typeof value === "number"),
  },
  {
    name: "takes an unknown state for none",
    ids: "H-3",
    place: "http-json",
    says: /calls a state that does not exist invalid/,
    ask: queries((query) => {
      if (query.get("status") === "TASK_STATE_RUNNING") query.delete("status");
    }),
  },
  {
    name: "refuses null",
    ids: "H-11",
    place: "jsonrpc",
    says: /treats null as a missing member of a hello.*the request is invalid/,
    ask: refusing((_, value) => value === null),
  },
  {
    name: "refuses numbers in strings",
    ids: "H-12",
    place: "jsonrpc",
    says: /reads small integers from decimal strings.*the request is invalid/,
    ask: refusing((name, value) => name === "pageSize" && typeof value === "string" && /^\d+$/.test(value)),
  },
  {
    name: "takes the last of two contents of a part",
    ids: "H-9",
    place: "jsonrpc",
    says: /a part of a hello invalid that has two contents/,
    ask: requests((message) => {
      for (const part of message?.message?.parts ?? []) {
        if (part !== null && typeof part === "object" && "text" in part && "url" in part) delete part.url;
      }
      return message;
    }),
  },
  {
    name: "writes the names in metadata anew",
    ids: "H-13",
    place: "jsonrpc",
    says: /gives back the metadata of a hello/,
    alter: members((name, value) => [name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()), value]),
  },
  {
    name: "leaves REQUIRED members out when they are empty",
    ids: "H-7 A-43",
    place: "jsonrpc",
    says: /the four members of a list even when it is empty/,
    alter: members((name, value) =>
      value === 0 || value === "" || value?.length === 0 ? undefined : [name, value],
    ),
  },
  {
    name: "has no nextPageToken on the last page",
    ids: "A-42",
    place: "http-json",
    says: /nextPageToken/,
    alter: members((name, value) => (name === "nextPageToken" && value === "" ? undefined : [name, value])),
  },
  {
    name: "has empty artifacts where none are asked for",
    ids: "A-46",
    place: "http-json",
    says: /the member `artifacts` of the task of a hello exactly when it is asked for/,
    alter: tasks((task) => ({ artifacts: [], ...task })),
  },
  {
    name: "puts a task and a message into one answer",
    ids: "A-1",
    place: "jsonrpc",
    says: /exactly one member into the answer/,
    alter: results((message) =>
      message.task === undefined
        ? message
        : { ...message, message: { messageId: "m", role: "ROLE_AGENT", parts: [{ text: "done" }] } },
    ),
  },
  {
    name: "writes the fields of the draft 1.1",
    ids: "F-6",
    place: "jsonrpc",
    says: /without the members of 0\.3 and 1\.1/,
    alter: tasks((task) => ({ ...task, generation: 3 })),
  },
  {
    name: "writes the int64 of the draft 1.1 as a number",
    ids: "R-5",
    place: "jsonrpc",
    agent: "reference",
    says: /writes a generation as a string/,
    alter: members((name, value) => [name, name === "generation" ? Number(value) : value]),
  },
  {
    name: "does not look for the version in the query",
    ids: "F-3",
    place: "http-json",
    says: /reads the version from the query/,
    ask: queries((query) => {
      for (const name of [...query.keys()]) if (name.toLowerCase() === "a2a-version") query.delete(name);
    }),
  },
  {
    name: "does not say how to authenticate",
    ids: "O-2",
    place: "http-json",
    server: "credentials",
    says: /says with a challenge how to authenticate/,
    alter: ({ headers }) => headers.delete("www-authenticate"),
  },
  {
    name: "answers a caller without credentials with 404",
    ids: "O-2",
    place: "http-json",
    server: "credentials",
    says: /refuses a call without credentials: expected 404 to be one of/,
    alter(answer) {
      if (answer.status === 401) answer.status = 404;
    },
  },
];

/** JSON-RPC: what a server may do wrong in its envelope and its streams. */
export const jsonRpcMutants: readonly Mutant[] = (
  [
    {
      name: "leaves the id out of answers",
      ids: "I-2",
      most: 8,
      says: /repeats the id of a call/,
      alter: documents(({ id: _id, ...document }) => document),
    },
    {
      name: "answers with the id as a string",
      ids: "I-2",
      says: /repeats the id of a call as it was/,
      alter: documents((document) => ({ ...document, id: String(document.id) })),
    },
    {
      name: "has null beside an error for its result",
      ids: "I-2",
      most: 8,
      says: /beside a result or an error/,
      alter: documents((document) =>
        document.error === undefined ? document : { ...document, result: null },
      ),
    },
    {
      name: "says that it speaks JSON-RPC 1.0",
      ids: "I-2",
      says: /repeats the id of a call.*1\.0/,
      alter: documents((document) => ({ ...document, jsonrpc: "1.0" })),
    },
    {
      name: "takes calls of version 1.0 of JSON-RPC",
      ids: "I-2",
      says: /a call of version 1\.0 of JSON-RPC/,
      ask: (request) => {
        const call = readJson(request.body);
        if (call?.jsonrpc === "1.0") request.body = JSON.stringify({ ...call, jsonrpc: "2.0" });
        return undefined;
      },
    },
    {
      name: "calls a text that is not JSON an invalid request",
      ids: "I-13",
      says: /has the code for a text that is not JSON.*-32600/,
      alter: documents((document) =>
        document.error?.code === -32700
          ? { ...document, error: { ...document.error, code: -32600 } }
          : document,
      ),
    },
    {
      name: "calls an unknown method an internal error",
      ids: "I-13",
      says: /has the code for a method.*-32603/,
      alter: documents((document) =>
        document.error?.code === -32601
          ? { ...document, error: { ...document.error, code: -32603 } }
          : document,
      ),
    },
    {
      name: "hears methods in any letters",
      ids: "I-13",
      says: /a method in other letters/,
      ask: (request) => {
        request.body = request.body.replace('"method":"l', '"method":"L');
        return undefined;
      },
    },
    {
      name: "lacks a method",
      ids: "I-13",
      says: /knows each of the eleven methods.*DeleteTaskPushNotificationConfig/,
      ask: (request) => {
        request.body = request.body.replace('"DeleteTaskPushNotificationConfig"', '"DeleteConfig"');
        return undefined;
      },
    },
    {
      name: "hears the methods of 0.3",
      ids: "I-13",
      agent: "reference",
      says: /tasks\/get/,
      ask: (request) => {
        request.body = request.body.replace('"tasks/get"', '"GetTask"');
        return undefined;
      },
    },
    {
      name: "answers a batch with a batch",
      ids: "I-8",
      agent: "reference",
      says: /takes no batches/,
      ask: (request) =>
        Array.isArray(readJson(request.body))
          ? { status: 200, type: "application/json", body: "[]" }
          : undefined,
    },
    {
      name: "takes notifications",
      ids: "I-9",
      agent: "reference",
      says: /takes no requests without a proper id/,
      ask: (request) => {
        const call = readJson(request.body);
        return call?.method === undefined || "id" in call
          ? undefined
          : { status: 204, type: "text/plain", body: "" };
      },
    },
    {
      name: "wraps a task that is read",
      ids: "I-3",
      says: /returns the task of a hello, and a list, themselves/,
      alter: results((message, { request }) =>
        request.body.includes('"GetTask"') && message.id !== undefined ? { task: message } : message,
      ),
    },
    {
      name: "answers as text/plain",
      ids: "I-1",
      says: /answers with it.*text\/plain/,
      alter(answer) {
        if (!isStream(answer) && answer.path.startsWith("/rpc"))
          answer.headers.set("content-type", "text/plain");
      },
    },
    {
      name: "refuses a media type with a charset",
      ids: "I-1",
      says: /with or without a charset/,
      ask: ({ headers }) =>
        headers.get("content-type")?.includes("charset")
          ? { status: 415, type: "application/json", body: '{"error":"unsupported media type"}' }
          : undefined,
    },
    {
      name: "takes every media type",
      ids: "I-10",
      agent: "reference",
      says: /refuses other media types/,
      ask: ({ path, headers }) => {
        if (path.startsWith("/rpc")) headers.set("content-type", "application/json");
        return undefined;
      },
    },
    {
      name: "redirects the URL with a slash at its end",
      ids: "I-11",
      agent: "reference",
      says: /both spellings of its URL/,
      ask: ({ path }) =>
        path === "/rpc/" ? { status: 404, type: "text/plain", body: "no such page" } : undefined,
    },
    {
      name: "streams bare events and not whole responses",
      ids: "I-5",
      says: /events that are whole responses/,
      alter: documents((document, answer) => (isStream(answer) ? document.result : document)),
    },
    {
      name: "streams responses with an id of its own",
      ids: "I-5",
      says: /with the id of the call/,
      alter: documents((document, answer) => (isStream(answer) ? { ...document, id: "stream" } : document)),
    },
    {
      name: "calls a stream application/json",
      ids: "I-5",
      says: /application\/json/,
      alter(answer) {
        if (isStream(answer)) answer.headers.set("content-type", "application/json");
      },
    },
    {
      name: "writes an event as several lines of data",
      ids: "I-6",
      says: /writes each event of a hello as one line of data/,
      alter(answer) {
        if (isStream(answer)) answer.body = answer.body.replaceAll(',"result":', ',\ndata: "result":');
      },
    },
    {
      name: "lets caches keep streams",
      ids: "I-6",
      says: /lets nothing on the way keep it/,
      alter(answer) {
        if (isStream(answer)) answer.headers.delete("cache-control");
      },
    },
    {
      name: "opens a stream to say that there is no task",
      ids: "I-7",
      says: /answers in plain JSON when there is nothing to subscribe to/,
      alter(answer) {
        if (!answer.request.body.includes('"SubscribeToTask"') || !answer.body.includes("-32001")) return;
        answer.headers.set("content-type", "text/event-stream");
        answer.body = `data: ${answer.body}\n\n`;
      },
    },
    {
      name: "has another number for an unknown task",
      ids: "E-7",
      says: /has the number for an unknown task.*-32004/,
      alter: documents((document) =>
        document.error?.code === -32001
          ? { ...document, error: { ...document.error, code: -32004 } }
          : document,
      ),
    },
    {
      name: "has text for the data of errors, and not a list of details",
      ids: "E-1",
      most: 7,
      says: /in the shape of its wire/,
      alter: documents((document) =>
        document.error === undefined
          ? document
          : { ...document, error: { ...document.error, data: "details" } },
      ),
    },
    {
      name: "has members of its own in errors",
      ids: "E-1",
      most: 7,
      says: /in the shape of its wire.*traceback/,
      alter: documents((document) =>
        document.error === undefined
          ? document
          : { ...document, error: { ...document.error, traceback: "at …" } },
      ),
    },
  ] satisfies readonly Omit<Mutant, "place">[]
).map((mutant) => ({ ...mutant, place: "jsonrpc" }));

function dropSnake(value: Json): Json {
  if (Array.isArray(value)) return value.map(dropSnake);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      name.includes("_") ? [] : [[name, dropSnake(member)]],
    ),
  );
}
