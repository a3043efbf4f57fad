export {
  eventIdHeader,
  type HttpBody,
  type HttpHandler,
  type HttpRequest,
  type HttpResponse,
} from "./http.ts";
