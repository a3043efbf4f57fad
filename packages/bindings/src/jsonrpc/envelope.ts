import { invalidParams } from "@a2a-connect/core";
import type { ConnectError } from "@connectrpc/connect";
import { runInTurns } from "../large-answer.ts";
import { findMemberInSteps } from "./member-text.ts";
import type { JsonRpcId } from "./response.ts";

/** A JSON-RPC request whose envelope is in order. */
export interface Envelope {
  readonly id: JsonRpcId;
  readonly method: string;
  /** As it came: nobody has looked at it yet. Absent and null params are `{}` (requirement I-2). */
  readonly params: unknown;
}

/** What is wrong with an envelope, and the id to answer to: null when the request's own cannot be used. */
export interface EnvelopeRefusal {
  readonly id: JsonRpcId;
  readonly refused: ConnectError;
}

/**
 * Check the envelope of a JSON-RPC request (requirements I-2, I-8, I-9).
 *
 * Batches are refused: A2A does not know them. So are notifications: every operation has a result. An id is a string of up to 65,536 characters,
 * null, or an integer that JSON numbers carry exactly, because it is echoed.
 */
export function readEnvelope(json: unknown): Envelope | EnvelopeRefusal {
  if (Array.isArray(json)) {
    return refuse(null, "", "batches are not supported, send one request at a time");
  }
  if (typeof json !== "object" || json === null) {
    return refuse(null, "", "the body must be a JSON-RPC request object");
  }
  const { jsonrpc, id, method, params }: Partial<Record<string, unknown>> = json;
  if (!isJsonRpcId(id)) {
    return refuse(null, "id", describeId(id));
  }
  if (jsonrpc !== "2.0") {
    return refuse(id, "jsonrpc", 'must be "2.0"');
  }
  if (typeof method !== "string") {
    return refuse(id, "method", method === undefined ? "is required" : "must be a string");
  }
  return { id, method, params: params ?? {} };
}

/** The id of a request whose text was not parsed to its end; null when it has none that can be used. Others have turns. */
export async function readId(text: string): Promise<JsonRpcId> {
  try {
    const id = (await runInTurns(findMemberInSteps(text, "id"))) ?? "null";
    const parsed: unknown = id.length <= longestIdText ? JSON.parse(id) : null;
    return isJsonRpcId(parsed) ? parsed : null;
  } catch {
    return null; // it was no JSON
  }
}

/** An id is in every event of a stream. */
const maxIdLength = 65_536;
/** Each character may be written as an escape of six. */
const longestIdText = 6 * maxIdLength + 2;

function isJsonRpcId(id: unknown): id is JsonRpcId {
  return id === null || (typeof id === "string" ? id.length <= maxIdLength : Number.isSafeInteger(id));
}

function describeId(id: unknown): string {
  if (id === undefined) {
    return "is required";
  }
  return typeof id === "string"
    ? `has ${id.length} characters; at most ${maxIdLength} are taken`
    : "must be a string, an integer or null";
}

function refuse(id: JsonRpcId, field: string, description: string): EnvelopeRefusal {
  return { id, refused: invalidParams({ field, description }) };
}
