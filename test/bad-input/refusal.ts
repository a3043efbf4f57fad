import { BadRequestSchema, ErrorInfoSchema } from "@a2a-connect/proto/google/rpc/error_details";
import { StatusSchema } from "@a2a-connect/proto/google/rpc/status";
import {
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonValue,
  type MessageShape,
} from "@bufbuild/protobuf";
import { grpcCodeNames } from "./error-table.ts";
import { readFrames } from "./framing.ts";
import type { RawAnswer } from "./raw-call.ts";
import type { Protocol } from "./wires.ts";

/** An error as its wire says it, in words that all wires share. */
export interface Refusal {
  /** Status line of the response. */
  readonly http: number;
  /** `error.code` of JSON-RPC, `error.code` of HTTP+JSON, else the gRPC code. */
  readonly code: number;
  readonly message: string;
  /** Of the `google.rpc.ErrorInfo`, if there is one. */
  readonly reason: string | undefined;
  readonly metadata: Readonly<Record<string, string>>;
  /** The fields that the `google.rpc.BadRequest` names; none without one. */
  readonly fields: readonly string[];
}

interface Detail {
  readonly type: string;
  readonly read: <Desc extends DescMessage>(desc: Desc) => MessageShape<Desc>;
}

/**
 * The error in an answer.
 *
 * @throws Error when the answer is none, or not of its wire's shape (requirement E.3)
 */
export function readRefusal(protocol: Protocol, answer: RawAnswer): Refusal {
  switch (protocol) {
    case "jsonrpc":
      return readJsonRpc(answer);
    case "http-json":
      return readHttpJson(answer);
    case "grpc":
      return readTrailers(answer, answer.fields.has("grpc-status") ? answer.fields : answer.trailers);
    case "grpc-web":
      return readTrailers(answer, grpcWebTrailers(answer));
    case "connect":
      return readConnect(answer);
  }
}

function readJsonRpc(answer: RawAnswer): Refusal {
  const { error, ...envelope } = readObject(readJson(answer));
  const { code, message, data = [], ...others } = readObject(error);
  if (envelope["jsonrpc"] !== "2.0" || !("id" in envelope) || "result" in envelope) {
    throw new Error(`not the envelope of an error: ${JSON.stringify(envelope)}`);
  }
  if (Object.keys(others).length > 0) throw new Error(`members that E.3 forbids: ${Object.keys(others)}`);
  return toRefusal(answer, code, message, jsonDetails(data));
}

function readHttpJson(answer: RawAnswer): Refusal {
  const { error, ...others } = readObject(readJson(answer));
  if (Object.keys(others).length > 0) throw new Error(`members beside error: ${Object.keys(others)}`);
  const { code, status, message, details = [] } = readObject(error);
  if (code !== answer.status) throw new Error(`error.code is ${code}, but the status line ${answer.status}`);
  if (!grpcCodeNames.some((name) => name === status)) throw new Error(`${status} is no google.rpc.Code`);
  return toRefusal(answer, code, message, jsonDetails(details));
}

function readTrailers(answer: RawAnswer, trailers: Headers): Refusal {
  const code = Number(trailers.get("grpc-status") ?? "NaN");
  const packed = trailers.get("grpc-status-details-bin");
  const status = packed === null ? undefined : fromBinary(StatusSchema, Buffer.from(packed, "base64"));
  if (status !== undefined && status.code !== code) {
    throw new Error(`grpc-status is ${code}, but its details say ${status.code}`);
  }
  const details = (status?.details ?? []).map(({ typeUrl, value }) => binaryDetail(typeUrl, value));
  return toRefusal(answer, code, decodeURIComponent(trailers.get("grpc-message") ?? ""), details);
}

/** In the header when there is nothing else, in the last frame otherwise. */
function grpcWebTrailers({ fields, body }: RawAnswer): Headers {
  if (fields.has("grpc-status")) return fields;
  const last = readFrames(body).find(({ flags }) => (flags & 0x80) !== 0);
  const lines = new TextDecoder().decode(last?.message).split("\r\n");
  return new Headers(
    lines
      .filter((line) => line !== "")
      .map((line): [string, string] => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon), line.slice(colon + 1).trim()];
      }),
  );
}

function readConnect(answer: RawAnswer): Refusal {
  const streaming = answer.fields.get("content-type")?.startsWith("application/connect+") === true;
  const error = streaming ? readObject(endOfStream(answer))["error"] : readJson(answer);
  const { code, message = "", details = [] } = readObject(error);
  const number = grpcCodeNames.findIndex(
    (name) => name.toLowerCase().replace("cancelled", "canceled") === code,
  );
  if (number === -1) throw new Error(`${code} is no code of Connect`);
  const list = asArray(details).map((detail) => {
    const { type, value } = readObject(detail);
    return binaryDetail(String(type), Buffer.from(String(value), "base64"));
  });
  return toRefusal(answer, number, message, list);
}

function endOfStream({ body }: RawAnswer): unknown {
  const last = readFrames(body).find(({ flags }) => (flags & 0x02) !== 0);
  return JSON.parse(new TextDecoder().decode(last?.message));
}

function toRefusal(answer: RawAnswer, code: unknown, message: unknown, details: readonly Detail[]): Refusal {
  if (typeof code !== "number" || !Number.isInteger(code) || code === 0) {
    throw new Error(`not an error: HTTP ${answer.status} ${new TextDecoder().decode(answer.body)}`);
  }
  if (typeof message !== "string" || message === "") throw new Error("an error needs a message (E-1)");
  const info = findDetail(details, ErrorInfoSchema);
  return {
    http: answer.status,
    code,
    message,
    reason: info?.reason,
    metadata: info?.metadata ?? {},
    fields: findDetail(details, BadRequestSchema)?.fieldViolations.map(({ field }) => field) ?? [],
  };
}

function findDetail<Desc extends DescMessage>(
  details: readonly Detail[],
  desc: Desc,
): MessageShape<Desc> | undefined {
  return details.find(({ type }) => type === desc.typeName)?.read(desc);
}

function jsonDetails(details: unknown): Detail[] {
  return asArray(details).map((detail) => {
    const { "@type": type, ...value } = readObject(detail);
    return {
      type: String(type).replace("type.googleapis.com/", ""),
      read: (desc) => fromJson(desc, value as JsonValue), // it came out of JSON.parse
    };
  });
}

function binaryDetail(typeUrl: string, value: Uint8Array): Detail {
  return { type: typeUrl.slice(typeUrl.lastIndexOf("/") + 1), read: (desc) => fromBinary(desc, value) };
}

function readJson({ body, fields, status }: RawAnswer): unknown {
  const type = fields.get("content-type") ?? "";
  if (!/^application\/(?:a2a\+)?json$/.test(type)) throw new Error(`HTTP ${status} with ${type}, not JSON`);
  return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
}

function readObject(value: unknown): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new Error(`not an object: ${JSON.stringify(value)}`);
  }
  return { ...value };
}

function asArray(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`not an array: ${JSON.stringify(value)}`);
  return value;
}
