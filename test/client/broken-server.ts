import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import type { MethodName } from "@a2a-connect/core";
import { createRouteTable } from "@a2a-connect/core/internal";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { startHttpServer } from "../../packages/client/test-support/http-server.ts";
import { createCardJson } from "../support/cards.ts";

/** The two wires that are JSON over HTTP/1.1. */
export const jsonBindings = ["JSONRPC", "HTTP+JSON"] as const;

/** The name of one of them. */
export type JsonBinding = (typeof jsonBindings)[number];

/** A call that has arrived and is to be answered badly. */
export interface Call {
  readonly binding: JsonBinding;
  readonly method: MethodName;
  /** Of the JSON-RPC envelope. */
  readonly id: JsonValue;
  /** How many calls of this method there were, this one included. */
  readonly attempt: number;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/** Answers a call, or does not. */
export type Answer = (call: Call) => void | Promise<void>;

/** A server that says it is an agent. */
export interface BrokenServer extends AsyncDisposable {
  /** Base URL, without a trailing slash. */
  readonly url: string;
  /** The card that it serves, unless it serves something else in its place. */
  readonly card: JsonObject;
  /** Calls so far, by their methods. */
  readonly calls: readonly MethodName[];
}

/** What is wrong with a server. */
export interface BrokenServerOptions {
  /** Serves whatever is asked for in place of a card. Default: a card that is right. */
  readonly serveCard?: (card: JsonObject, request: IncomingMessage, response: ServerResponse) => void;
  /** Default: never answers. */
  readonly answer?: Answer;
}

/** Starts one on a free port of this machine. */
export async function startBrokenServer({
  serveCard = (card, _, response) => respondJson(response, card),
  answer = () => {},
}: BrokenServerOptions): Promise<BrokenServer> {
  const calls: MethodName[] = [];
  const routes = createRouteTable();
  let card: JsonObject = {};

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    if (!pathname.startsWith("/rpc") && !pathname.startsWith("/rest")) {
      serveCard(card, request, response);
      return;
    }
    const body = (await buffer(request)).toString();
    const envelope = pathname.startsWith("/rpc") ? (JSON.parse(body) as JsonObject) : undefined; // our client's own
    const match = routes.find(request.method ?? "", pathname.slice("/rest".length));
    const method =
      envelope?.["method"] ?? (match !== undefined && "method" in match ? match.method.name : undefined);
    calls.push(method as MethodName); // our client calls nothing else
    await answer({
      binding: envelope === undefined ? "HTTP+JSON" : "JSONRPC",
      method: method as MethodName,
      id: envelope?.["id"] ?? null,
      attempt: calls.filter((each) => each === method).length,
      request,
      response,
    });
  }

  const server = await startHttpServer((request, response) => {
    void take(request, response).catch(() => response.destroy());
  });
  const { url } = server;
  card = createCardJson([
    { url: `${url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    { url: `${url}/rest`, protocolBinding: "HTTP+JSON", protocolVersion: "1.0" },
  ]);
  return { ...server, card, calls };
}

/** Responds with JSON, and with the right type of it unless `headers` say otherwise. */
export function respondJson(
  response: ServerResponse,
  body: JsonValue,
  status = 200,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}

/** Responds as the binding wraps a result. */
export function respondResult({ binding, id, response }: Call, result: JsonValue): void {
  respondJson(response, binding === "JSONRPC" ? { jsonrpc: "2.0", id, result } : result);
}

/** A stream of server-sent events that is being answered with. */
export interface EventStream {
  /** Sends an event as the binding wraps it. */
  send(event: JsonValue, id?: number): void;
  /** Sends these bytes as they are. Resolves when there is room for more, `false` once nobody reads any more. */
  sendRaw(bytes: string | Uint8Array): Promise<boolean>;
  /** The bytes that `send` would send. */
  encode(event: JsonValue, id?: number): Buffer;
  end(): void;
  /** Closes the connection without ending the response, when everything so far is out. */
  cut(): void;
}

/** Until what was written is out, or the connection is gone. Leaves no listener behind. */
export function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.once("drain", done).once("close", done);
  });
}

/** Responds with a stream. */
export function openStream({ binding, id: callId, response }: Call, firstEventId?: number): EventStream {
  response.writeHead(200, {
    "content-type": "text/event-stream",
    ...(firstEventId === undefined ? {} : { "x-a2a-event-id": String(firstEventId) }),
  });
  response.flushHeaders();
  const encode = (event: JsonValue, id?: number): Buffer => {
    const data = binding === "JSONRPC" ? { jsonrpc: "2.0", id: callId, result: event } : event;
    return Buffer.from(`${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`);
  };
  return {
    encode,
    send: (event, id) => void response.write(encode(event, id)),
    async sendRaw(bytes) {
      if (!response.write(bytes)) await drained(response);
      return !response.destroyed;
    },
    end: () => void response.end(),
    cut: () => response.socket?.destroySoon(),
  };
}
