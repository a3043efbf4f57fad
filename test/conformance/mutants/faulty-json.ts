import { isObject } from "@a2a-connect/core/internal";
import type { OwnAnswer, PassingAnswer, PassingRequest, ProxyOptions } from "../altering-proxy.ts";

/** JSON whose members are looked up by name. */
// biome-ignore lint/suspicious/noExplicitAny: each mutant knows what it changes
export type Json = any;

type Alter = NonNullable<ProxyOptions["alter"]>;
type Ask = NonNullable<ProxyOptions["ask"]>;

const isRpc = ({ path }: Pick<PassingRequest, "path">): boolean => path.startsWith("/rpc");
const isRest = ({ path }: Pick<PassingRequest, "path">): boolean => path.startsWith("/rest");

/** Whether it is an answer of a stream. */
export const isStream = ({ headers }: PassingAnswer): boolean =>
  headers.get("content-type")?.startsWith("text/event-stream") === true;

/** Changes every JSON document that a JSON wire answers with: whole bodies, and the data of events. */
export function documents(change: (document: Json, answer: PassingAnswer) => unknown): Alter {
  return (answer) => {
    if (!isRpc(answer) && !isRest(answer)) return;
    const rewrite = (text: string): string => JSON.stringify(change(JSON.parse(text), answer));
    if (isStream(answer))
      answer.body = answer.body.replace(/^data: (.*)$/gm, (_, text) => `data: ${rewrite(text)}`);
    else if (answer.body !== "") answer.body = rewrite(answer.body);
  };
}

/** Changes every message in an answer: `result` of JSON-RPC, the body of HTTP+JSON. */
export function results(change: (message: Json, answer: PassingAnswer) => unknown): Alter {
  return documents((document, answer) => {
    if (document.error !== undefined) return document;
    return isRpc(answer)
      ? { ...document, result: change(document.result, answer) }
      : change(document, answer);
  });
}

/** Changes every error in an answer. */
export function errors(change: (error: Json, answer: PassingAnswer) => unknown): Alter {
  return documents((document, answer) =>
    document.error === undefined ? document : { ...document, error: change(document.error, answer) },
  );
}

/** Changes every member of every object, however deep; undefined leaves one out. */
export function members(
  change: (name: string, value: Json, holder: Json) => readonly [string, unknown] | undefined,
): Alter {
  const walk = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(walk);
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, member]) => {
        const changed = change(name, member, value);
        return changed === undefined ? [] : [[changed[0], walk(changed[1])]];
      }),
    );
  };
  return results(walk);
}

/** Refuses requests of the JSON wires whose JSON has something that is looked for, however deep. */
export function refusing(found: (name: string, value: Json) => boolean): Ask {
  const has = (value: unknown): boolean =>
    Array.isArray(value)
      ? value.some(has)
      : isObject(value) && Object.entries(value).some(([name, member]) => found(name, member) || has(member));
  return (request) => {
    const document = readJson(request.body);
    const message = isRpc(request) ? document?.params : document;
    const query = Object.fromEntries(new URL(request.path, "http://proxy").searchParams);
    return has(message) || (isRest(request) && has(query)) ? invalid(request) : undefined;
  };
}

/** Changes the request messages of the JSON wires: `params` of JSON-RPC, the body of HTTP+JSON. */
export function requests(change: (message: Json) => unknown): Ask {
  return (request) => {
    const document = readJson(request.body);
    if (!isObject(document)) return undefined;
    if (isRpc(request)) request.body = JSON.stringify({ ...document, params: change(document["params"]) });
    else if (isRest(request)) request.body = JSON.stringify(change(document));
    return undefined;
  };
}

/** Changes the query of every request. */
export function queries(change: (query: URLSearchParams) => void): Ask {
  return (request) => {
    const url = new URL(request.path, "http://proxy");
    change(url.searchParams);
    request.path = url.pathname + url.search;
    return undefined;
  };
}

/** The JSON of a text; undefined when it is none. */
export function readJson(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error for an invalid request, as it should be. */
function invalid(request: PassingRequest): OwnAnswer {
  const reason = {
    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
    reason: "INVALID_PARAMS",
    domain: "a2a-protocol.org",
  };
  const message = "the request is invalid";
  return isRpc(request)
    ? {
        status: 200,
        type: "application/json",
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: readJson(request.body)?.id ?? null,
          error: { code: -32602, message, data: [reason] },
        }),
      }
    : {
        status: 400,
        type: "application/json",
        body: JSON.stringify({
          error: { code: 400, status: "INVALID_ARGUMENT", message, details: [reason] },
        }),
      };
}
