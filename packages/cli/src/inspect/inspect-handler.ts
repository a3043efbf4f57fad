import type { HttpHandler, HttpRequest, HttpResponse } from "@a2a-connect/bindings";
import { readCard } from "@a2a-connect/client/internal";
import { chunksOf, isLoopbackHost, parseForeignUrl, readAtMost } from "@a2a-connect/core/internal";
import {
  escapeHtml,
  folderOf,
  type InspectorPage,
  textResponse,
  withInspector,
} from "@a2a-connect/server/internal";
import type { Transport } from "@connectrpc/connect";
import { maxCardBytes } from "../agent/reference.ts";
import { describeCauses } from "../cli-error.ts";
import { createGrpcBridge, originFields } from "./grpc-bridge.ts";

/** An agent that is looked at. */
export interface InspectedAgent {
  readonly name: string;
  /** The card as it was when the command began, character for character. */
  readonly card: string;
  /** Where the card came from; undefined for a file. */
  readonly cardUrl: URL | undefined;
  /** Calls the server that the card came from. */
  readonly fetch: typeof fetch;
  /** Calls other servers that the card names: those that the platform's guard allows. */
  readonly guardedFetch: typeof fetch;
  /** Opens gRPC at an address of the card, which the same guard judges. @throws Error for one that is none */
  readonly openGrpc: (url: string) => Transport;
}

const maxBodyBytes = 32 * 2 ** 20;

/** How long the agent may take to give its card once more. */
const cardTimeoutMs = 10_000;

/**
 * Serves the inspector's page for each agent below `/agents/<number>/`, with its card, and forwards the page's calls: to the server of
 * the card, and to those that the card names. So it does not matter which pages the agents let call them.
 */
export function createInspectHandler(
  agents: readonly InspectedAgent[],
  loadPage: () => Promise<InspectorPage | undefined>,
): HttpHandler {
  const sites = agents.map((agent, index) => createSite(agent, index, agents, loadPage));
  return async (request) => {
    const { pathname, hostname } = new URL(request.url);
    if (!isLoopbackHost(hostname)) return answer(421, "this server answers only to names of this machine");
    if (isForeign(request)) return answer(403, "only the inspector's own page may call this server");
    const [, index = "", rest = ""] = /^\/agents\/(\d{1,4})(\/.*)$/.exec(pathname) ?? [];
    const site = sites[Number(index)];
    if (index !== "" && site !== undefined) return site(request, rest);
    if (pathname === "/") return { status: 302, header: new Headers({ location: "/agents/0/" }) };
    return answer(404, "there is nothing here; the inspector is at /");
  };
}

/** What a page of another site could send: a browser says where a request comes from. */
function isForeign({ header, url }: HttpRequest): boolean {
  const origin = header.get("origin");
  if (origin !== null && origin !== new URL(url).origin) return true;
  const site = header.get("sec-fetch-site");
  return (
    site !== null && site !== "same-origin" && site !== "none" && header.get("sec-fetch-dest") !== "document"
  );
}

type Site = (request: HttpRequest, path: string) => Promise<HttpResponse>;

function createSite(
  agent: InspectedAgent,
  index: number,
  agents: readonly InspectedAgent[],
  loadPage: () => Promise<InspectorPage | undefined>,
): Site {
  let card = readAddresses(agent.card);
  const pages = withInspector(
    new Map<string, HttpHandler>([
      ["/", async () => answer(404, "the inspector's page is not part of this installation")],
      [
        "/.well-known/agent-card.json",
        async () => {
          try {
            const text = await currentCard(agent);
            card = readAddresses(text);
            return json(200, text);
          } catch (error) {
            return answer(502, `the agent's card cannot be read: ${describeCauses(error)}`);
          }
        },
      ],
    ]),
    {
      load: async () => {
        const page = await loadPage();
        return page && { ...page, html: withFacts(page.html, agent, index, agents) };
      },
    },
  );
  const bridges = new Map<string, ReadonlyMap<string, HttpHandler>>();
  const findBridge = async (): Promise<ReadonlyMap<string, HttpHandler> | undefined> => {
    const { grpc: url } = await card;
    if (url === undefined) return undefined;
    const bridge = bridges.get(url) ?? createGrpcBridge(agent.openGrpc(url));
    bridges.set(url, bridge);
    return bridge;
  };
  return async (request, path) => {
    const page = pages.get(path) ?? pages.get(folderOf(path));
    if (page !== undefined) return page(request);
    if (path.startsWith("/grpc/")) {
      const call = (await findBridge())?.get(path.slice("/grpc".length));
      return call === undefined ? answer(404, "the card has no such operation over gRPC") : call(request);
    }
    const [, target = "", rest = ""] = /^\/forward\/([^/]+)(\/.*)$/.exec(path) ?? [];
    const origin = parseForeignUrl(decode(target))?.origin;
    if (origin === undefined) return answer(404, "there is nothing here; the inspector is at /");
    // A browser that opens an agent's answer would take it for a page of this server.
    const wanted = request.header.get("sec-fetch-dest");
    if (wanted !== null && wanted !== "empty")
      return answer(403, "the inspector does not open an agent's answer as a page");
    const call = fetchFor(agent, await card, origin);
    if (call === undefined) return answer(403, `the card does not name ${origin}`);
    const query = new URL(request.url).search;
    return forward(call, origin + rest + query, request);
  };
}

/** What the page has to know: it reads these elements. */
function withFacts(
  html: string,
  { cardUrl }: InspectedAgent,
  index: number,
  agents: readonly InspectedAgent[],
): string {
  const facts = {
    forward: "forward/",
    card: cardUrl?.href ?? "",
    agents: JSON.stringify(
      agents.map((each, at) => ({ name: labelOf(each, agents), href: `../${at}/`, isThis: at === index })),
    ),
  };
  const elements = Object.entries(facts).map(
    ([name, content]) => `<meta name="a2a-${name}" content="${escapeHtml(content)}">\n`,
  );
  return html.replace("<title>", () => `${elements.join("")}<title>`);
}

/** An agent's name; of agents with the same one also where they are. */
function labelOf({ name, cardUrl }: InspectedAgent, agents: readonly InspectedAgent[]): string {
  const isShared = agents.filter((each) => each.name === name).length > 1;
  return isShared && cardUrl !== undefined ? `${cardUrl.host} · ${name}` : name;
}

/**
 * The card as it is now, or as it was when its address leads elsewhere or gives an error.
 * @throws Error when it is larger than a card may be, or does not come in time
 */
async function currentCard({ card, cardUrl, fetch }: InspectedAgent): Promise<string> {
  if (cardUrl === undefined) return card;
  const signal = AbortSignal.timeout(cardTimeoutMs);
  const headers = { accept: "application/json" };
  const { ok, body } = await fetch(cardUrl, { headers, redirect: "manual", signal });
  if (!ok || body === null) {
    await body?.cancel();
    return card;
  }
  const bytes = await readAtMost(chunksOf(body), maxCardBytes);
  if (bytes === undefined) throw new Error(`it has more than ${maxCardBytes} bytes`);
  return new TextDecoder().decode(bytes);
}

/** Where a card has calls go. */
interface Addresses {
  readonly origins: ReadonlySet<string>;
  /** Of its first gRPC interface of 1.x. */
  readonly grpc: string | undefined;
}

/** Those of its interfaces, also as earlier cards have them; none of a card that no client uses. */
async function readAddresses(text: string): Promise<Addresses> {
  const card = await readCard(text).then(
    (read) => read.card,
    () => undefined,
  );
  const interfaces = card?.supportedInterfaces ?? [];
  const grpc = interfaces.find(
    ({ protocolBinding, protocolVersion }) => protocolBinding === "GRPC" && protocolVersion.startsWith("1."),
  );
  const origins = new Set(interfaces.flatMap(({ url }) => parseForeignUrl(url)?.origin ?? []));
  return { origins, grpc: grpc?.url };
}

/** How to call a server; undefined for one that is neither the card's own nor named in the card. */
function fetchFor(
  { cardUrl, fetch, guardedFetch }: InspectedAgent,
  { origins }: Addresses,
  origin: string,
): typeof globalThis.fetch | undefined {
  if (origin === cardUrl?.origin) return fetch;
  return origins.has(origin) ? guardedFetch : undefined;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** Fields that are about the connection to this server, or that the browser adds for it. */
const ownFields =
  /^(?::|connection$|keep-alive$|host$|origin$|referer$|cookie$|content-length$|transfer-encoding$|te$|upgrade$|accept-encoding$|sec-)/;

/** Fields of an answer that are about the connection that it came over. */
const hopFields =
  /^(?:connection$|keep-alive$|content-length$|content-encoding$|transfer-encoding$|content-security-policy)/;

async function forward(call: typeof fetch, url: string, request: HttpRequest): Promise<HttpResponse> {
  const { method, signal } = request;
  const body = await readAtMost(request.body, maxBodyBytes);
  if (body === undefined) return answer(413, "the request is too large to be forwarded");
  const headers = new Headers([...request.header].filter(([name]) => !ownFields.test(name)));
  try {
    const response = await call(url, {
      method,
      headers,
      redirect: "manual",
      signal,
      ...(body.length === 0 ? {} : { body: new Uint8Array(body) }),
    });
    const header = new Headers(
      [...response.headers].filter(([name]) => !hopFields.test(name) && !originFields.test(name)),
    );
    header.set("content-security-policy", "default-src 'none'; sandbox");
    header.set("x-content-type-options", "nosniff");
    header.set("cache-control", "no-store");
    return {
      status: response.status,
      header,
      headAtOnce: true,
      ...(response.body === null ? {} : { body: chunksOf(response.body) }),
    };
  } catch (error) {
    signal.throwIfAborted();
    return answer(502, `the agent cannot be reached: ${describeCauses(error)}`);
  }
}

function answer(status: number, message: string): HttpResponse {
  return json(status, JSON.stringify({ error: { code: status, message } }));
}

function json(status: number, text: string): HttpResponse {
  const header = { "x-content-type-options": "nosniff", "cache-control": "no-store" };
  return textResponse(status, "application/json", text, header);
}
