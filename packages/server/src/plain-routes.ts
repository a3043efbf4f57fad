import type { HttpHandler, HttpResponse } from "@a2a-connect/bindings";
import {
  absentProtocolVersion,
  type ForwardedUrlSource,
  parseProtocolVersion,
  versionHeader,
} from "@a2a-connect/core/internal";
import type { AgentCard } from "@a2a-connect/proto";
import type { JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { catalogPath } from "./card/ai-catalog.ts";
import type { CardForm, Cards } from "./card/cards.ts";
import { serveDocument } from "./documents/serve-document.ts";
import { renderFrontPage } from "./front-page.ts";
import type { BaseUrls } from "./reach/base-urls.ts";

/** What the plain routes show. */
export interface PlainRouteOptions {
  readonly cards: Cards;
  readonly baseUrls: BaseUrls;
  /** How long clients may keep the card, in seconds. */
  readonly maxAgeSeconds: number;
  readonly keySetHandler: HttpHandler;
  /** Whether the card is also served where callers before A2A 0.3 look. */
  readonly olderCardPath: boolean;
  /** The form of a signed card that a request without a version gets; undefined where callers of A2A 0.3 are not answered. */
  readonly signedCardVersion: string | undefined;
  /** The catalog with this agent; undefined for one of several agents, which are listed together. */
  readonly catalogHandler: HttpHandler | undefined;
  /** The OpenAPI document of the agent's HTTP+JSON interface at that URL. */
  readonly openApi: (card: AgentCard, serverUrl: string) => unknown;
  /** Whether the server takes calls. */
  readonly ready: () => boolean;
  /** Which authorization servers give tokens for it, for a caller who has reached it in that way. Undefined: none do. */
  readonly resource: ((reached: ForwardedUrlSource) => JsonObject) | undefined;
}

/** Which authorization servers give tokens for this server (RFC 9728). */
export const resourceMetadataPath = "/.well-known/oauth-protected-resource";

/** The pages of the paths that belong to no wire: they need no version header. The router answers HEAD, too (`readOnly`). */
export function plainRoutes({
  cards,
  baseUrls,
  maxAgeSeconds,
  keySetHandler,
  olderCardPath,
  signedCardVersion,
  catalogHandler,
  openApi,
  ready,
  resource,
}: PlainRouteOptions): ReadonlyMap<string, HttpHandler> {
  const openApiText = derivedFromCard((card) => {
    const served = card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === "HTTP+JSON");
    return JSON.stringify(openApi(card, served?.url ?? "/"));
  });
  /** A document that contains URLs as its caller knows them. */
  const pageFor =
    (contentType: string, textFor: (reached: ForwardedUrlSource) => string): HttpHandler =>
    async (request) => {
      const fields = baseUrls.varyBy(request);
      const header = fields.length === 0 ? {} : { vary: fields.join(", ") };
      return textResponse(200, contentType, textFor(request), header);
    };
  const derivedPage = (contentType: string, textOf: (card: AgentCard) => string): HttpHandler =>
    pageFor(contentType, (reached) => textOf(cards.cardFor(reached)));
  // The card (spec §8.2, §8.6) needs no version header (requirement F-9).
  const page =
    (form: CardForm): HttpHandler =>
    async (request) => {
      const document = await cards
        .findDocument(form, request, request.signal)
        .finally(() => request.turnToGoOn?.()); // thousands may have waited for one signature
      return serveDocument(request, document, { maxAgeSeconds, varyBy: baseUrls.varyBy(request) });
    };
  /** A card that is signed has a form for each version: the one that the request names. */
  const cardPage: HttpHandler = async (request) => {
    if (signedCardVersion === undefined || !cards.signed) return page("current")(request);
    const version = parseProtocolVersion(request.header.get(versionHeader) || signedCardVersion);
    const response = await page(version === absentProtocolVersion ? "older" : "current")(request);
    response.header?.append("vary", versionHeader);
    return response;
  };
  const olderPage = page(signedCardVersion === undefined ? "current" : "older");
  return new Map<string, HttpHandler>([
    ["/.well-known/agent-card.json", explained(cardPage)],
    ...(olderCardPath
      ? [["/.well-known/agent.json", explained(olderPage)] satisfies [string, HttpHandler]]
      : []),
    ["/.well-known/jwks.json", explained(keySetHandler)],
    ...catalogRoutes(catalogHandler),
    ...(resource === undefined
      ? []
      : [
          [
            resourceMetadataPath,
            pageFor("application/json", (reached) => JSON.stringify(resource(reached))),
          ] satisfies [string, HttpHandler],
        ]),
    ["/openapi.json", derivedPage("application/json", openApiText)],
    ...healthRoutes(ready),
    ["/", derivedPage("text/html; charset=utf-8", renderFrontPage)],
  ]);
}

/** Whether the process lives, and whether it takes calls. */
export function healthRoutes(ready: () => boolean): [path: string, page: HttpHandler][] {
  return [
    ["/healthz", async () => jsonResponse(200, { status: "ok" })],
    [
      "/readyz",
      async () =>
        ready() ? jsonResponse(200, { status: "ready" }) : jsonResponse(503, { status: "draining" }),
    ],
  ];
}

function catalogRoutes(handler: HttpHandler | undefined): [path: string, page: HttpHandler][] {
  return handler === undefined ? [] : [[catalogPath, handler]];
}

/** A text made from a card, once for each card. */
function derivedFromCard(make: (card: AgentCard) => string): (card: AgentCard) => string {
  const made = new WeakMap<AgentCard, string>();
  return (card) => {
    const text = made.get(card) ?? make(card);
    made.set(card, text);
    return text;
  };
}

/** The document, or why there is none at the moment. */
export function explained(page: HttpHandler): HttpHandler {
  return async (request) => {
    try {
      return await page(request);
    } catch (error) {
      if (error instanceof ConnectError && error.code === Code.Unavailable) {
        return plainError(503, "UNAVAILABLE", error.rawMessage, error.metadata);
      }
      if (error instanceof ConnectError && error.code === Code.NotFound) {
        return plainError(404, "NOT_FOUND", error.rawMessage);
      }
      throw error;
    }
  };
}

/** Answers GET with a page, HEAD with its head, and refuses other methods with 405 and `Allow`. */
export function readOnly(page: HttpHandler): HttpHandler {
  return async (request) => {
    if (request.method !== "GET" && request.method !== "HEAD") {
      return plainError(405, "UNIMPLEMENTED", "only GET and HEAD are answered here", { allow: "GET, HEAD" });
    }
    const response = await page(request);
    return request.method === "HEAD" ? withoutBody(response) : response;
  };
}

/** The answer to HEAD: the head of GET's answer, including the length of its body (RFC 9110 §9.3.2). */
function withoutBody({ body, header = new Headers(), ...rest }: HttpResponse): HttpResponse {
  if (typeof body === "string" || body instanceof Uint8Array) {
    const { length } = typeof body === "string" ? new TextEncoder().encode(body) : body;
    header.set("content-length", String(length));
  }
  return { ...rest, header };
}

/** An error of the plain routes, in the form of the HTTP+JSON wire (requirement K-7). */
export function plainError(
  code: number,
  status: string,
  message: string,
  header?: HeadersInit,
  details: readonly unknown[] = [],
): HttpResponse {
  return jsonResponse(code, { error: { code, status, message, details } }, header);
}

function jsonResponse(status: number, value: unknown, header?: HeadersInit): HttpResponse {
  return textResponse(status, "application/json", JSON.stringify(value), header);
}

/** A whole answer in text. */
export function textResponse(
  status: number,
  contentType: string,
  text: string,
  init?: HeadersInit,
): HttpResponse {
  const header = new Headers(init);
  header.set("content-type", contentType);
  return { status, header, body: new TextEncoder().encode(text) };
}
