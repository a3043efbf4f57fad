import type { HttpHandler } from "@a2a-connect/bindings";
import type { AgentCard } from "@a2a-connect/proto";
import { MadeOnce } from "../documents/made-once.ts";
import { createDocument, type Document, serveDocument } from "../documents/serve-document.ts";
import type { Clock } from "../engine/clock.ts";
import type { BaseUrls } from "../reach/base-urls.ts";
import type { AgentCards } from "./cards.ts";

/** Where a catalog is by the draft, below the origin that it lists. */
export const catalogPath = "/.well-known/ai-catalog.json";

/** What the draft calls a catalog, in `Content-Type` and in links to it. */
export const catalogMediaType = "application/ai-catalog+json";

/** Who operates a catalog, in its `host`. */
export interface CatalogHost {
  /** For people, such as the name of the organization. */
  readonly displayName: string;
  /** A domain or a DID that can be verified. */
  readonly identifier?: string;
  readonly documentationUrl?: string;
  readonly logoUrl?: string;
}

/** An agent of a server whose catalog lists it. */
export interface CatalogAgent {
  /** Path of its base URL below the server's, such as `/agents/translator`; "" for the server's own. */
  readonly path: string;
  readonly cards: Pick<AgentCards, "card" | "signed">;
}

/** What a catalog handler shows, and for how long clients may keep it. */
export interface CatalogOptions {
  readonly agents: readonly CatalogAgent[];
  readonly baseUrls: BaseUrls;
  /** Default: the agents' provider if they have the same, else the host of their URL. */
  readonly host: CatalogHost | undefined;
  readonly maxAgeSeconds: number;
  readonly clock: Pick<Clock, "now">;
}

/** Serves the AI Catalog of some agents, with the same caching as a card. */
export function createCatalogHandler(options: CatalogOptions): HttpHandler {
  const { agents, baseUrls, host, maxAgeSeconds, clock } = options;
  const catalogs = new MadeOnce<Document>(baseUrls.maxKept + 1);
  let listed: readonly AgentCard[] = [];
  return async (request) => {
    const now = agents.map(({ cards }) => cards.card);
    if (now.some((card, index) => card !== listed[index])) listed = now;
    // It names the URLs of signed cards where there are some.
    const base = baseUrls.find(
      request,
      agents.some(({ cards }) => cards.signed),
    );
    const document = await catalogs.find(base, listed, (before) =>
      createDocument(formatCatalog(base, agents, host), catalogMediaType, clock.now(), before),
    );
    return serveDocument(request, document, { maxAgeSeconds, varyBy: baseUrls.varyBy(request) });
  };
}

/**
 * The AI Catalog of some agents: a draft of the AI Catalog working group that A2A is about to name as its way to find
 * several agents of one origin. Nothing in A2A 1.0 speaks of it, and it has changed before: entries say what they are as
 * `type`, and as `mediaType`, as the draft called it until 2026.
 *
 * @param base URL of the server, without a trailing slash; the card of an agent is at `/.well-known/agent-card.json` below its path
 */
export function formatCatalog(
  base: string,
  agents: readonly CatalogAgent[],
  host: CatalogHost | undefined,
): string {
  return JSON.stringify({
    specVersion: "1.0",
    host: host ?? { displayName: findProvider(agents) ?? URL.parse(base)?.host ?? "" },
    entries: agents.map(({ path, cards }) => toEntry(cards.card, base + path)),
  });
}

const cardMediaType = "application/a2a-agent-card+json";

function toEntry(card: AgentCard, url: string): Record<string, unknown> {
  const tags = [...new Set(card.skills.flatMap((skill) => skill.tags))];
  return {
    identifier: url,
    displayName: card.name,
    type: cardMediaType,
    mediaType: cardMediaType,
    url: `${url}/.well-known/agent-card.json`,
    description: card.description,
    version: card.version,
    ...(tags.length === 0 ? {} : { tags }),
  };
}

/** The organization that provides all of them. */
function findProvider(agents: readonly CatalogAgent[]): string | undefined {
  const [provider, ...others] = new Set(agents.map(({ cards }) => cards.card.provider?.organization));
  return others.length > 0 || provider === "" ? undefined : provider;
}
