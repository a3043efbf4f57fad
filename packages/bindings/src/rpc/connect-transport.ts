import { appendHeaders, type Transport } from "@connectrpc/connect";
import {
  endStreamFlag,
  endStreamFromJson,
  errorFromJsonBytes,
  requestHeader,
  trailerDemux,
  validateResponse,
} from "@connectrpc/connect/protocol-connect";
import { tooManyRequests } from "../fetch/response-errors.ts";
import {
  createRpcTransport,
  type RpcTransportOptions,
  type RpcWire,
  readBody,
  readEnvelopes,
} from "./rpc-transport.ts";

/** The client end of the Connect protocol, in its binary form. */
export function createConnectTransport(options: RpcTransportOptions): Transport {
  return createRpcTransport(connectWire, options);
}

const connectWire: RpcWire = {
  header: (method, timeoutMs, own) => requestHeader(method.methodKind, true, timeoutMs, own, false),

  pack: (message) => message,

  async readUnary(response, maxBytes, decode) {
    const { status, headers } = response;
    const body = await readBody(response, maxBytes);
    if (status === 429 && !isConnectError(body)) {
      throw tooManyRequests(headers); // of another server, perhaps with JSON
    }
    const { isUnaryError, unaryError } = validateResponse("unary", true, status, headers);
    const [header, trailer] = trailerDemux(headers);
    if (isUnaryError) {
      throw errorFromJsonBytes(body, appendHeaders(header, trailer), unaryError);
    }
    return { header, trailer, message: decode(body) };
  },

  async *readStream(response, maxBytes, trailer) {
    const { headers } = response;
    for await (const { flags, data } of readEnvelopes(response, maxBytes, endStreamFlag)) {
      if ((flags & endStreamFlag) === 0) {
        yield data;
        continue;
      }
      const { error, metadata } = endStreamFromJson(data);
      if (error !== undefined) {
        headers.forEach((value, name) => {
          error.metadata.append(name, value);
        });
        throw error;
      }
      metadata.forEach((value, name) => {
        trailer.set(name, value);
      });
    }
  },

  checkStream({ status, headers }) {
    if (status === 429) {
      throw tooManyRequests(headers);
    }
    validateResponse("server_streaming", true, status, headers);
  },
};

function isConnectError(body: Uint8Array): boolean {
  try {
    const json: unknown = JSON.parse(new TextDecoder().decode(body));
    return typeof json === "object" && json !== null && "code" in json && typeof json.code === "string";
  } catch {
    return false;
  }
}
