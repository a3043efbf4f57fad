import type { HttpHandler } from "@a2a-connect/bindings";
import type { AgentServer } from "../agent-server.ts";
import { catalogMediaType, catalogPath } from "../card/ai-catalog.ts";
import { escapeHtml, renderPage } from "../front-page.ts";
import { explained, healthRoutes, plainError, resourceMetadataPath, textResponse } from "../plain-routes.ts";

/** What the web pages at the root show. */
export interface HostPageOptions {
  /** The path before all agents, with slashes around it. */
  readonly folder: string;
  readonly servers: ReadonlyMap<string, AgentServer>;
  /** The default agent, whose web pages are also those of the root. */
  readonly defaultServer: AgentServer | undefined;
  readonly catalogHandler: HttpHandler;
  /** The keys of all agents. */
  readonly keySetHandler: HttpHandler;
  /** Whether all agents take calls. */
  readonly ready: () => boolean;
}

/** The paths at the root that belong to no wire: the default agent's, and those about all agents. */
export function hostPages({
  folder,
  servers,
  defaultServer,
  catalogHandler,
  keySetHandler,
  ready,
}: HostPageOptions): ReadonlyMap<string, HttpHandler> {
  const paths = Array.from(servers.keys(), (name) => `${folder}${name}/`);
  return new Map<string, HttpHandler>([
    [cardPath, async () => listCards(paths)],
    ...(defaultServer?.pages ?? []),
    ...Array.from(servers).flatMap(([name, { pages }]): [string, HttpHandler][] => {
      const page = pages.get(resourceMetadataPath);
      return page === undefined ? [] : [[resourceMetadataPath + folder + name, page]]; // RFC 9728 §3.1
    }),
    ["/.well-known/jwks.json", explained(keySetHandler)],
    [catalogPath, catalogHandler],
    ...healthRoutes(ready),
    ["/", async () => textResponse(200, "text/html; charset=utf-8", renderFrontPage(folder, servers))],
  ]);
}

const cardPath = "/.well-known/agent-card.json";

/** The error for a card of several agents; it says where their cards are, as `google.rpc.Help`. */
function listCards(paths: readonly string[]): ReturnType<typeof plainError> {
  const links = paths.map((path) => ({ description: "Agent Card", url: path + cardPath.slice(1) }));
  return plainError(
    404,
    "NOT_FOUND",
    `several agents are served here, each with a card of its own; ${catalogPath} lists them`,
    undefined,
    [{ "@type": "type.googleapis.com/google.rpc.Help", links }],
  );
}

/** A list of the agents, for people who open the URL in a browser. */
function renderFrontPage(folder: string, servers: ReadonlyMap<string, AgentServer>): string {
  const rows = Array.from(servers, ([name, { card }]) => {
    const link = `<a href="${escapeHtml(`${folder.slice(1)}${name}/`)}">${escapeHtml(card.name)}</a>`;
    return `<tr><td>${link}</td><td>${escapeHtml(card.description)}</td></tr>`;
  });
  const catalog = catalogPath.slice(1);
  return renderPage(
    "Agents",
    `<p>A2A agents. <a href="${catalog}">Catalog</a> · <a href="healthz">health</a></p>
<table>${rows.join("")}</table>`,
    `<link rel="ai-catalog" href="${catalog}" type="${catalogMediaType}">\n`,
  );
}
