import type { HttpHandler, HttpResponse } from "@a2a-connect/bindings";
import type { AgentCard } from "@a2a-connect/proto";
import type { CardSource } from "./card/card-source.ts";
import { renderFrontPage } from "./front-page.ts";

/** What the plain routes show. */
export interface PlainRouteOptions {
  readonly cards: CardSource;
  readonly cardHandler: HttpHandler;
  /** The OpenAPI document of an HTTP+JSON interface at that URL. */
  readonly openApi: (serverUrl: string) => unknown;
  /** Whether the server takes calls. */
  readonly ready: () => boolean;
}

/** The paths that belong to no wire: GET and HEAD, no version header needed. */
export function plainRoutes({
  cards,
  cardHandler,
  openApi,
  ready,
}: PlainRouteOptions): ReadonlyMap<string, HttpHandler> {
  const openApiText = derivedFromCard(cards, (card) => {
    const served = card.supportedInterfaces.find(({ protocolBinding }) => protocolBinding === "HTTP+JSON");
    return JSON.stringify(openApi(served?.url ?? "/"));
  });
  return new Map<string, HttpHandler>([
    ["/.well-known/agent-card.json", cardHandler],
    ["/openapi.json", async () => textResponse(200, "application/json", openApiText())],
    ["/healthz", async () => jsonResponse(200, { status: "ok" })],
    [
      "/readyz",
      async () =>
        ready() ? jsonResponse(200, { status: "ready" }) : jsonResponse(503, { status: "draining" }),
    ],
    ["/", async () => textResponse(200, "text/html; charset=utf-8", renderFrontPage(cards.card))],
  ]);
}

/** A text made from the card, again only when the card has changed. */
function derivedFromCard(cards: CardSource, make: (card: AgentCard) => string): () => string {
  let made: { readonly of: AgentCard; readonly text: string } | undefined;
  return () => {
    const { card } = cards;
    if (made?.of !== card) {
      made = { of: card, text: make(card) };
    }
    return made.text;
  };
}

/** An error of the plain routes, in the shape of the HTTP+JSON wire (requirement K-7). */
export function plainError(
  code: number,
  status: string,
  message: string,
  header?: HeadersInit,
): HttpResponse {
  return jsonResponse(code, { error: { code, status, message, details: [] } }, header);
}

function jsonResponse(status: number, value: unknown, header?: HeadersInit): HttpResponse {
  return textResponse(status, "application/json", JSON.stringify(value), header);
}

function textResponse(status: number, contentType: string, text: string, init?: HeadersInit): HttpResponse {
  const header = new Headers(init);
  header.set("content-type", contentType);
  return { status, header, body: new TextEncoder().encode(text) };
}
