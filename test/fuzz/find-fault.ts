import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { methodByName, type RpcMethod } from "@a2a-connect/core";
import { defaultMaxDepth, findMissingFields, parseMessage } from "@a2a-connect/core/internal";
import { type DescMessage, fromBinary, type Message } from "@bufbuild/protobuf";
import { readFrames } from "../bad-input/framing.ts";
import type { RawAnswer } from "../bad-input/raw-call.ts";
import { type Refusal, readRefusal } from "../bad-input/refusal.ts";
import type { Protocol } from "../bad-input/wires.ts";
import type { Entry } from "./entry.ts";

/**
 * What is wrong with an answer, whatever was asked: it must be a success or an error of its wire, complete, and no internal error.
 * Undefined when nothing is.
 */
export function findFault(entry: Entry, answer: RawAnswer): string | undefined {
  try {
    checkAnswer(entry, answer);
    return undefined;
  } catch (error) {
    const text = Buffer.from(answer.body).toString().slice(0, 500);
    return `${error instanceof Error ? error.message : error}; the answer: HTTP ${answer.status} ${JSON.stringify([...answer.fields])} ${text}`;
  }
}

function checkAnswer(entry: Entry, answer: RawAnswer): void {
  const type = answer.fields.get("content-type") ?? "";
  const plain = decompress(answer);
  // 501 and 504 are Connect's statuses for "unimplemented" and for a deadline, which is the caller's.
  if (answer.status >= 500 && answer.status !== 501 && answer.status !== 504) {
    throw new Error("the server says that it failed");
  }
  if (type.startsWith("application/grpc-web")) {
    checkGrpcWeb(plain);
  } else if (type.startsWith("application/grpc")) {
    checkGrpc(entry, plain);
  } else if (type.startsWith("application/connect+")) {
    checkConnectStream(plain);
  } else if (type.startsWith("text/event-stream")) {
    checkEvents(entry, plain);
  } else if (type === "application/proto") {
    checkProto(entry, plain);
  } else if (/^application\/(a2a\+)?json/.test(type)) {
    checkJson(entry, plain);
  } else if (entry.verb === "GET" && type.startsWith("text/html")) {
    return; // a path with ".." may lead to the front page
  } else if (plain.body.length > 0 || !wirelessStatuses.includes(plain.status)) {
    throw new Error("the answer is of no wire");
  }
}

/** Statuses of answers without a body: to what no wire takes, so that there is no wire whose error it could be. */
const wirelessStatuses: readonly number[] = [204, 404, 405, 415];

/** An answer as it was before it was compressed as a whole. */
function decompress(answer: RawAnswer): RawAnswer {
  const { fields, body } = answer;
  switch (fields.get("content-encoding")) {
    case "gzip":
      return { ...answer, body: gunzipSync(body) };
    case "br":
      return { ...answer, body: brotliDecompressSync(body) };
    default:
      return answer;
  }
}

/** google.rpc.Code: the server's own faults. */
const internalCodes: readonly number[] = [2, 13, 15, 500, -32603];

function checkRefusal(protocol: Protocol, answer: RawAnswer): Refusal {
  const refusal = readRefusal(protocol, answer);
  if (internalCodes.includes(refusal.code)) throw new Error(`an internal error: ${refusal.message}`);
  return refusal;
}

function checkGrpc({ http }: Entry, answer: RawAnswer): void {
  const status = answer.trailers.get("grpc-status") ?? answer.fields.get("grpc-status");
  if (http === 1 && status === null) return; // trailers of HTTP/1.1 are not looked at
  if (status !== "0") checkRefusal("grpc", answer);
  checkFrames(answer, 0);
}

function checkGrpcWeb(answer: RawAnswer): void {
  const isRefused =
    answer.fields.has("grpc-status") || !/^grpc-status: ?0\r?$/m.test(checkFrames(answer, 0x80));
  if (isRefused) checkRefusal("grpc-web", answer);
}

function checkConnectStream(answer: RawAnswer): void {
  const end: { error?: unknown } = JSON.parse(checkFrames(answer, 0x02));
  if (end.error !== undefined) checkRefusal("connect", answer);
}

/** Checks that a body is whole frames, of which only the last has this flag, if there is one. @returns the text of the last one */
function checkFrames({ body }: RawAnswer, flag: number): string {
  const frames = readFrames(body);
  const ends = frames.filter(({ flags }) => (flags & flag) !== 0);
  const last = frames.at(-1);
  if (flag !== 0 && (ends.length !== 1 || last === undefined || !ends.includes(last))) {
    throw new Error("the body does not end with its last frame");
  }
  return Buffer.from(last?.message ?? []).toString();
}

function checkProto(entry: Entry, { body }: RawAnswer): void {
  const output = methodOf(entry)?.desc.output;
  if (output === undefined) throw new Error("an answer of no method");
  expectWhole(output, fromBinary<DescMessage>(output, body));
}

function checkJson(entry: Entry, answer: RawAnswer): void {
  const json: Record<string, unknown> = JSON.parse(
    new TextDecoder("utf-8", { fatal: true }).decode(answer.body),
  );
  const protocol = jsonProtocolOf(entry);
  if (protocol === "jsonrpc") {
    checkJsonRpc(entry, answer, json);
  } else if (answer.status !== 200) {
    checkRefusal(protocol ?? ("error" in json ? "http-json" : "connect"), answer);
  } else {
    const output = methodOf(entry)?.desc.output;
    if (output !== undefined) expectWhole(output, readAnswer(output, json));
  }
}

/** Undefined where no wire is: there the request's header says whose error it is. */
function jsonProtocolOf({ target }: Entry): Protocol | undefined {
  if (/^\/rpc\/?(\?|$)/.test(target)) return "jsonrpc";
  if (/^\/lf\.a2a\.v1\.A2AService\/\w+(\?|$)/.test(target)) return "connect";
  return target.startsWith("/rest/") ? "http-json" : undefined;
}

function checkJsonRpc(entry: Entry, answer: RawAnswer, json: Record<string, unknown>): void {
  const { id, method } = readCall(entry);
  if ("error" in json) {
    const { code } = checkRefusal("jsonrpc", answer);
    const isUnread = code === -32700 || answer.status !== 200;
    if (json["id"] !== id && !(isUnread && json["id"] === null)) {
      throw new Error(`the answer's id is not ${JSON.stringify(id)}`);
    }
    return;
  }
  checkResult(json, id, method?.desc.output);
}

function checkResult(json: Record<string, unknown>, id: unknown, output: DescMessage | undefined): void {
  if (json["jsonrpc"] !== "2.0" || Object.keys(json).length !== 3 || json["id"] !== id) {
    throw new Error("not a JSON-RPC response to this request");
  }
  if (output === undefined) throw new Error("a result of no method");
  expectWhole(output, readAnswer(output, json["result"]));
}

function checkEvents(entry: Entry, { body }: RawAnswer): void {
  const text = Buffer.from(body).toString();
  if (!text.endsWith("\n\n")) throw new Error("the stream ends within an event");
  const call = jsonProtocolOf(entry) === "jsonrpc" ? readCall(entry) : undefined;
  const output = methodOf(entry)?.desc.output;
  for (const line of text.split("\n")) {
    if (!line.startsWith("data:")) continue;
    const json: Record<string, unknown> = JSON.parse(line.slice(5));
    if (call !== undefined && !("error" in json)) checkResult(json, call.id, call.method?.desc.output);
    else if (!("error" in json) && output !== undefined) {
      expectWhole(output, readAnswer(output, json));
    }
  }
}

/** An answer may be nested deeper than any request: it repeats a request's message within a task. */
const maxDepth = defaultMaxDepth + 10;

function readAnswer(output: DescMessage, json: unknown): Message {
  return parseMessage(output, json, { maxDepth });
}

function expectWhole(output: DescMessage, message: Message): void {
  const missing = findMissingFields(output, message, "", maxDepth);
  if (missing.length > 0) throw new Error(`the answer lacks ${missing.map(({ field }) => field).join(", ")}`);
}

/** The operation that a request names; of HTTP+JSON and changed paths none. */
function methodOf(entry: Entry): RpcMethod | undefined {
  if (jsonProtocolOf(entry) === "jsonrpc") return readCall(entry).method;
  return methodByName(/^\/lf\.a2a\.v1\.A2AService\/(\w+)(\?|$)/.exec(entry.target)?.[1] ?? "");
}

/** The id that the answer to a JSON-RPC request must have, and its method. Both are unknown when the body cannot be read. */
function readCall(entry: Entry): { readonly id: unknown; readonly method: RpcMethod | undefined } {
  try {
    const body = entry.fields["content-encoding"] === "gzip" ? gunzipSync(entry.body) : entry.body;
    const { id = null, method }: { id?: unknown; method?: string } = JSON.parse(
      new TextDecoder("utf-8", { fatal: true }).decode(body),
    );
    const isId = typeof id === "string" || Number.isSafeInteger(id);
    return { id: isId ? id : null, method: typeof method === "string" ? methodByName(method) : undefined };
  } catch {
    return { id: null, method: undefined };
  }
}
