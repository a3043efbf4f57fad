export { CallEnding, OnlyMessage, onlyMessage, runStreamingCall, runUnaryCall } from "./client-call.ts";
export { ReceivedText, receivedTextKey } from "./fetch/json-transport.ts";
export { type EventIds, eventIdsKey, type ReadyMessages } from "./fetch/message-stream.ts";
export { manyNamesValues, maxValuesOf, parseResponse, parseResponseJson } from "./fetch/read-response.ts";
export {
  HttpStatusError,
  ResponseLimitError,
  readTooManyRequests,
  responseTooLarge,
} from "./fetch/response-errors.ts";
export type { JsonTransportOptions } from "./fetch/transport-options.ts";
export type { WireBody, WireFetch, WireReader, WireResponse } from "./fetch/wire-fetch.ts";
export { formatCode } from "./http-json/error-body.ts";
export { createHttpJsonTransport, type HttpJsonTransportOptions } from "./http-json/transport.ts";
export { createJsonRpcTransport, type JsonRpcTransportOptions } from "./jsonrpc/transport.ts";
export { createConnectTransport } from "./rpc/connect-transport.ts";
export { createGrpcWebTransport } from "./rpc/grpc-web-transport.ts";
export type { RpcTransportOptions } from "./rpc/rpc-transport.ts";
export { translateErrors } from "./translate-errors.ts";
