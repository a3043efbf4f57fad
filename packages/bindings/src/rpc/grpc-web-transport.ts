import { parseBase64, parseMediaType } from "@a2a-connect/core/internal";
import { StatusSchema } from "@a2a-connect/proto/google/rpc/status";
import { fromBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type Transport } from "@connectrpc/connect";
import { encodeEnvelope } from "@connectrpc/connect/protocol";
import { requestHeader, trailerFlag, trailerParse } from "@connectrpc/connect/protocol-grpc-web";
import { tooManyRequests } from "../fetch/response-errors.ts";
import {
  createRpcTransport,
  type RpcTransportOptions,
  type RpcWire,
  readEnvelopes,
} from "./rpc-transport.ts";

/** The client end of gRPC-Web, in its binary form. */
export function createGrpcWebTransport(options: RpcTransportOptions): Transport {
  return createRpcTransport(grpcWebWire, options);
}

const grpcWebWire: RpcWire = {
  header: (_, timeoutMs, own) => requestHeader(true, timeoutMs, own, false),

  pack: (message) => encodeEnvelope(0, message),

  async readUnary(response, maxBytes, decode) {
    const { headers } = response;
    checkResponse(response);
    const trailer = new Headers();
    let message: ReturnType<typeof decode> | undefined;
    for await (const data of readMessages(response, maxBytes, trailer)) {
      if (message !== undefined) {
        throw new ConnectError("the response has more than one message", Code.Unimplemented, headers);
      }
      message = decode(data);
    }
    if (message === undefined) {
      throw new ConnectError("the response has no message", Code.Unimplemented, headers);
    }
    return { header: headers, trailer, message };
  },

  checkStream: checkResponse,

  readStream: readMessages,
};

async function* readMessages(
  response: Response,
  maxBytes: number,
  trailer: Headers,
): AsyncGenerator<Uint8Array, void> {
  const { headers } = response;
  if (headers.has("grpc-status")) {
    response.body?.cancel().catch(() => {}); // the header has the whole status, and no message follows
    return;
  }
  for await (const { flags, data } of readEnvelopes(response, maxBytes, trailerFlag)) {
    if ((flags & trailerFlag) === 0) {
      yield data;
      continue;
    }
    const found = trailerParse(data);
    const error = findStatusError(found, headers);
    if (error !== undefined) {
      throw error;
    }
    if (!found.has("grpc-status")) {
      throw new ConnectError("the response has no status", Code.Internal, headers);
    }
    found.forEach((value, name) => {
      trailer.set(name, value);
    });
  }
}

/** @throws ConnectError when it is an error, or no response of this protocol */
function checkResponse({ ok, status, headers }: Response): void {
  if (status === 429) {
    throw tooManyRequests(headers);
  }
  if (!ok) {
    const message = readMessage(headers) || `HTTP ${status}`;
    throw new ConnectError(message, httpCodes.get(status) ?? Code.Unknown, headers);
  }
  const error = findStatusError(headers, new Headers());
  if (error !== undefined) {
    throw error;
  }
  const subtype = parseMediaType(headers.get("content-type") ?? "")?.subtype ?? "";
  if (!headers.has("grpc-status") && !/^grpc-web(?:$|\+)/.test(subtype)) {
    throw new ConnectError(
      `the server answered with HTTP status ${status} and no gRPC-Web response`,
      Code.Internal,
      headers,
    );
  }
}

/** What gRPC says about a status of HTTP without one of gRPC. */
const httpCodes: ReadonlyMap<number, Code> = new Map([
  [400, Code.Internal],
  [401, Code.Unauthenticated],
  [403, Code.PermissionDenied],
  [404, Code.Unimplemented],
  [502, Code.Unavailable],
  [503, Code.Unavailable],
  [504, Code.Unavailable],
]);

/** The error that trailers have, or a header in their place; undefined for success. */
function findStatusError(trailer: Headers, header: Headers): ConnectError | undefined {
  const number = trailer.get("grpc-status");
  const details = readDetails(trailer.get("grpc-status-details-bin"));
  if ((number ?? "0") === "0" && (details?.code ?? 0) === 0) {
    return undefined;
  }
  const code = details?.code ?? Number(number);
  const isKnown = Code[code] !== undefined;
  const error = new ConnectError(
    isKnown ? (details?.message ?? readMessage(trailer)) : `invalid grpc-status: ${number}`,
    isKnown ? code : Code.Internal,
    trailer,
  );
  error.isWireError = true; // it is the server's answer
  header.forEach((value, name) => {
    error.metadata.append(name, value);
  });
  for (const { typeUrl, value } of details?.details ?? []) {
    error.details.push({ type: typeUrl.slice(typeUrl.lastIndexOf("/") + 1), value });
  }
  return error;
}

/** The status with its details; undefined when there is none, or it cannot be read: the other fields have the rest. */
function readDetails(text: string | null) {
  const bytes = text === null ? undefined : parseBase64(text);
  try {
    return bytes && fromBinary(StatusSchema, bytes);
  } catch {
    return undefined;
  }
}

function readMessage(headers: Headers): string {
  const text = headers.get("grpc-message") ?? "";
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
