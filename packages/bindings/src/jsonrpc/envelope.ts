import { invalidParams } from "@a2a-connect/core";
import { findMemberInSteps } from "@a2a-connect/core/internal";
import type { ConnectError } from "@connectrpc/connect";
import { runInTurns } from "../large-answer.ts";
import type { JsonRpcId } from "./response.ts";

/** A JSON-RPC request with a valid envelope. */
export interface Envelope {
  readonly id: JsonRpcId;
  readonly method: string;
  /** As received, not checked yet. Absent and null params are `{}` (requirement I-2). */
  readonly params: unknown;
}

/** What is wrong with an envelope, and the id for the answer: null when the request's own id cannot be used. */
export interface EnvelopeRefusal {
  readonly id: JsonRpcId;
  readonly refused: ConnectError;
}

/**
 * Checks the envelope of a JSON-RPC request (requirements I-2, I-8, I-9).
 *
 * It refuses batches, because A2A does not have them, and notifications, because every operation has a result. An id is
 * a string of up to 65,536 characters, null, or an integer that JSON numbers carry exactly, because the server echoes
 * it.
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

/** The id of a request whose text was not parsed to its end; null when it has no usable id. Works in slices. */
export async function readId(text: string): Promise<JsonRpcId> {
  try {
    const id = (await runInTurns(findMemberInSteps(text, "id"))) ?? "null";
    const parsed: unknown = id.length <= longestIdText ? JSON.parse(id) : null;
    return isJsonRpcId(parsed) ? parsed : null;
  } catch {
    return null; // it was not JSON
  }
}

/** Every event of a stream contains the id. */
const maxIdLength = 65_536;
/** Each character may be an escape of six characters. */
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
