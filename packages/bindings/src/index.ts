export type {
  HttpBody,
  HttpHandler,
  HttpRequest,
  HttpResponse,
} from "./http.ts";
export {
  createHttpJsonHandler,
  type HttpJsonOptions,
} from "./http-json/handler.ts";
export { createOpenApi, type OpenApiOptions } from "./http-json/openapi.ts";
export { createJsonRpcHandler } from "./jsonrpc/handler.ts";
export type { BindingOptions, ErrorContext } from "./options.ts";
export { eventIdHeader } from "./sse/respond-stream.ts";
export type { Timer } from "./timer.ts";
