export { HttpStatusError, readTooManyRequests, tooManyRequests } from "./fetch/http-status.ts";
export { type EventIds, eventIdsKey } from "./fetch/read-events.ts";
export { readChunks, responseCutOff } from "./fetch/read-response.ts";
export { ReceivedText, receivedTextKey } from "./fetch/received-text.ts";
export { ResponseLimitError, responseTooLarge } from "./fetch/response-limit.ts";
export type { JsonTransportOptions } from "./fetch/transport-options.ts";
export { createHttpJsonTransport, type HttpJsonTransportOptions } from "./http-json/transport.ts";
export { createJsonRpcTransport, type JsonRpcTransportOptions } from "./jsonrpc/transport.ts";
