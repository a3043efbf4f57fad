export { ReceivedText, receivedTextKey } from "./fetch/json-transport.ts";
export { type EventIds, eventIdsKey, readChunks, responseCutOff } from "./fetch/read-response.ts";
export {
  HttpStatusError,
  ResponseLimitError,
  readTooManyRequests,
  responseTooLarge,
  tooManyRequests,
} from "./fetch/response-errors.ts";
export type { JsonTransportOptions } from "./fetch/transport-options.ts";
export { createHttpJsonTransport, type HttpJsonTransportOptions } from "./http-json/transport.ts";
export { createJsonRpcTransport, type JsonRpcTransportOptions } from "./jsonrpc/transport.ts";
export { translateErrors } from "./translate-errors.ts";
