import { invalidParams } from "@a2a-connect/core";
import type { ConnectError } from "@connectrpc/connect";
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
 * Batches are refused: A2A does not know them. So are notifications: every operation has a result. An id is a string,
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
    return refuse(null, "id", id === undefined ? "is required" : "must be a string, an integer or null");
  }
  if (jsonrpc !== "2.0") {
    return refuse(id, "jsonrpc", 'must be "2.0"');
  }
  if (typeof method !== "string") {
    return refuse(id, "method", method === undefined ? "is required" : "must be a string");
  }
  return { id, method, params: params ?? {} };
}

function isJsonRpcId(id: unknown): id is JsonRpcId {
  return id === null || typeof id === "string" || Number.isSafeInteger(id);
}

function refuse(id: JsonRpcId, field: string, description: string): EnvelopeRefusal {
  return { id, refused: invalidParams({ field, description }) };
}
