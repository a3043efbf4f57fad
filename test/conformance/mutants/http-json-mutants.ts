import type { PassingAnswer } from "../altering-proxy.ts";
import { documents, errors, isStream, queries, readJson } from "./faulty-json.ts";
import type { Mutant } from "./mutant.ts";

const isFailure = ({ path, status }: PassingAnswer): boolean => path.startsWith("/rest") && status >= 400;

/** HTTP+JSON: what a server may do wrong in its status, its paths, its errors and its streams. */
export const httpJsonMutants: readonly Mutant[] = (
  [
    {
      name: "answers errors with 200",
      ids: "K-7",
      most: 13,
      says: /unknown task.*found (\[ )?200/,
      alter(answer) {
        if (isFailure(answer)) answer.status = 200;
      },
    },
    {
      name: "answers an unknown task with 400",
      ids: "K-7",
      most: 4,
      says: /unknown task.*found 400, wanted 404/,
      alter(answer) {
        if (answer.status === 404) answer.status = 400;
      },
    },
    {
      name: "has the number of JSON-RPC for the code of an error",
      ids: "K-7",
      most: 4,
      says: /with an error whose code is the status.*-32001/,
      alter: errors((error) => ({ ...error, code: error.code === 404 ? -32001 : error.code })),
    },
    {
      name: "writes errors as application/problem+json",
      ids: "E-8",
      most: 7,
      says: /in the shape of its wire.*application\/problem\+json/,
      alter(answer) {
        if (isFailure(answer)) answer.headers.set("content-type", "application/problem+json");
      },
    },
    {
      name: "writes errors without an envelope",
      ids: "K-7",
      most: 13,
      says: /with an error whose code is the status/,
      alter: documents((document) => document.error ?? document),
    },
    {
      name: "has errors without details",
      ids: "E-2",
      most: 5,
      says: /in the ErrorInfo for an unknown task/,
      alter: errors(({ details: _details, ...error }) => error),
    },
    {
      name: "has the class of an error for its reason",
      ids: "E-2",
      says: /names TASK_NOT_FOUND in the ErrorInfo for an unknown task/,
      alter(answer) {
        answer.body = answer.body.replaceAll('"TASK_NOT_FOUND"', '"TaskNotFoundError"');
      },
    },
    {
      name: "says nothing in errors",
      ids: "E-1",
      most: 14,
      says: /for an unknown task, and a sentence/,
      alter: errors((error) => ({ ...error, message: "" })),
    },
    {
      name: "answers errors as a page for people",
      ids: "K-7",
      most: 13,
      says: /with an error whose code is the status/,
      alter(answer) {
        if (!isFailure(answer)) return;
        answer.headers.set("content-type", "text/html");
        answer.body = "<h1>Something is wrong</h1>";
      },
    },
    {
      name: "subscribes neither with GET nor with POST",
      ids: "K-1",
      says: /subscribes with GET or with POST/,
      ask: ({ path }) =>
        path.endsWith(":subscribe") ? { status: 405, type: "application/json", body: "{}" } : undefined,
    },
    {
      name: "does not decode paths",
      ids: "K-2",
      says: /decodes the path to a task/,
      ask(request) {
        request.path = request.path.replaceAll("%", "%25");
        return undefined;
      },
    },
    {
      name: "refuses application/a2a+json",
      ids: "K-3",
      says: /accepts a hello of application\/a2a\+json/,
      ask: ({ headers }) =>
        headers.get("content-type")?.startsWith("application/a2a+json")
          ? { status: 415, type: "application/json", body: '{"error":{"code":415,"message":"unsupported"}}' }
          : undefined,
    },
    {
      name: "answers as text/plain",
      ids: "K-3",
      says: /with a JSON media type.*text\/plain/,
      alter(answer) {
        if (answer.path.endsWith("/message:send")) answer.headers.set("content-type", "text/plain");
      },
    },
    {
      name: "needs a body for a cancel",
      ids: "K-4",
      says: /needs no body for a cancel/,
      ask: ({ path, body }) =>
        path.endsWith(":cancel") && body === ""
          ? { status: 400, type: "application/json", body: '{"error":{"code":400,"message":"no body"}}' }
          : undefined,
    },
    {
      name: "does not read filters from the query",
      ids: "K-5",
      says: /takes the filters of a list from the query/,
      ask: queries((query) => query.delete("status")),
    },
    {
      name: "does not hear historyLength=0 in a query",
      ids: "C-4",
      says: /history/,
      ask: queries((query) => {
        if (query.get("historyLength") === "0") query.delete("historyLength");
      }),
    },
    {
      name: "refuses parameters that it does not know",
      ids: "K-6",
      says: /ignores parameters that it does not know/,
      ask: ({ path }) =>
        path.includes("foo=")
          ? { status: 400, type: "application/json", body: '{"error":{"code":400,"message":"foo"}}' }
          : undefined,
    },
    {
      name: "takes a wrong number in the query for none",
      ids: "K-6",
      says: /answers \?pageSize=abc with 400/,
      ask: queries((query) => {
        if (query.get("pageSize") === "abc") query.delete("pageSize");
      }),
    },
    {
      name: "takes a wrong truth value in the query for false",
      ids: "K-6",
      says: /answers \?includeArtifacts=maybe with 400/,
      ask: queries((query) => {
        if (query.get("includeArtifacts") === "maybe") query.set("includeArtifacts", "false");
      }),
    },
    {
      name: "streams whole responses and not bare events",
      ids: "K-8",
      says: /streams a hello as bare events/,
      alter: documents((document, answer) =>
        isStream(answer) ? { jsonrpc: "2.0", id: 1, result: document } : document,
      ),
    },
    {
      name: "calls a stream application/json",
      ids: "K-8",
      says: /streams a hello as bare events.*application\/json/,
      alter(answer) {
        if (isStream(answer)) answer.headers.set("content-type", "application/json");
      },
    },
    {
      name: "opens a stream to say that there is no task",
      ids: "A-27",
      says: /opens no event stream/,
      alter(answer) {
        if (!answer.path.includes("stream") || answer.status !== 404) return;
        answer.status = 200;
        answer.headers.set("content-type", "text/event-stream");
        answer.body = `data: ${answer.body}\n\n`;
      },
    },
    {
      name: "does not look at the version",
      ids: "F-5",
      says: /does not speak version 99\.0: .*VERSION_NOT_SUPPORTED/,
      ask: ({ headers }) => {
        if (headers.has("a2a-version")) headers.set("a2a-version", "1.0");
        return undefined;
      },
    },
    {
      name: "answers a read with 201",
      ids: "K-12",
      says: /answers a hello, and what is read of it, with 200.*201/,
      alter(answer) {
        if (answer.path.startsWith("/rest/tasks") && answer.status === 200) answer.status = 201;
      },
    },
    {
      name: "answers a deletion with the webhook",
      ids: "K-12",
      says: /takes the path of a webhook for its name, and deletes it/,
      alter(answer) {
        if (answer.request.method === "DELETE") answer.body = '{"id":"hook"}';
      },
    },
    {
      name: "takes a text that is not JSON for an empty message",
      ids: "K-7",
      says: /a text that is not JSON/,
      ask: ({ method, path, body }) =>
        method === "POST" && path.endsWith("/message:send") && body !== "" && readJson(body) === undefined
          ? { status: 200, type: "application/json", body: "{}" }
          : undefined,
    },
  ] satisfies readonly Omit<Mutant, "place">[]
).map((mutant) => ({ ...mutant, place: "http-json" }));
