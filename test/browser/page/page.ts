// A page as anybody could write it: Connect's web transports, and ours for the JSON wires, below one generated client.
import { createHttpJsonTransport, createJsonRpcTransport } from "@a2a-connect/bindings/client";
import { userMessage } from "@a2a-connect/core";
import { setServiceParameters } from "@a2a-connect/core/internal";
import {
  A2AService,
  type Message,
  SendMessageResponseSchema,
  StreamResponseSchema,
} from "@a2a-connect/proto";
import { ErrorInfoSchema } from "@a2a-connect/proto/google/rpc/error_details";
import { type JsonValue, toJson } from "@bufbuild/protobuf";
import {
  type Client,
  Code,
  ConnectError,
  createClient,
  type Interceptor,
  type Transport,
} from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import type { BrowserWire, SeenError } from "./page-api.ts";

const version: Interceptor = (next) => (request) => {
  setServiceParameters(request.header);
  return next(request);
};

const transports: Readonly<Record<BrowserWire, (baseUrl: string) => Transport>> = {
  Connect: (baseUrl) => createConnectTransport({ baseUrl, interceptors: [version] }),
  "gRPC-Web": (baseUrl) => createGrpcWebTransport({ baseUrl, interceptors: [version] }),
  "HTTP+JSON": (baseUrl) => createHttpJsonTransport({ baseUrl: `${baseUrl}/rest` }),
  "JSON-RPC": (baseUrl) => createJsonRpcTransport({ url: `${baseUrl}/rpc` }),
};

let client: Client<typeof A2AService>;
let following = new AbortController();

globalThis.pageApi = {
  connect(wire, agentUrl) {
    client = createClient(A2AService, transports[wire](agentUrl));
  },
  async send(text) {
    return toJson(SendMessageResponseSchema, await client.sendMessage({ message: newMessage(text) }));
  },
  async stream(text) {
    const events: JsonValue[] = [];
    for await (const event of client.sendStreamingMessage({ message: newMessage(text) })) {
      events.push(toJson(StreamResponseSchema, event));
    }
    return events;
  },
  async fail(id) {
    try {
      await client.getTask({ id });
    } catch (error) {
      return toSeenError(error);
    }
    throw new Error("the call should have failed");
  },
  async follow(id) {
    following = new AbortController();
    try {
      for await (const event of client.subscribeToTask({ id }, { signal: following.signal })) {
        await seen(toJson(StreamResponseSchema, event));
      }
      return undefined;
    } catch (error) {
      return toSeenError(error);
    }
  },
  leave() {
    following.abort();
  },
};

function newMessage(text: string): Message {
  return userMessage(text, { messageId: crypto.randomUUID() });
}

function toSeenError(thrown: unknown): SeenError {
  const error = ConnectError.from(thrown);
  const [info] = error.findDetails(ErrorInfoSchema);
  return {
    code: Code[error.code],
    message: error.rawMessage,
    reason: info?.reason,
    metadata: info?.metadata ?? {},
  };
}
