import type { HttpHandler } from "@a2a-connect/bindings";
import { RecentMap } from "@a2a-connect/core/internal";
import type { AgentCard } from "@a2a-connect/proto";
import type { Clock } from "../engine/clock.ts";
import type { BaseUrls } from "../reach/base-urls.ts";
import { Publication } from "./publication.ts";
import { serveDocument } from "./serve-document.ts";

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

/** An agent that a catalog lists. */
export interface ListedAgent {
  readonly card: AgentCard;
  /** Its base URL, with the card at `/.well-known/agent-card.json` below it; no trailing slash. */
  readonly url: string;
}

/** An agent of a server whose catalog lists it. */
export interface CatalogAgent {
  /** Path of its base URL below the server's, such as `/agents/translator`; "" for the server's own. */
  readonly path: string;
  /** Has its card as it is now: the same object until something changes. */
  readonly source: { readonly card: AgentCard };
}

/** What a catalog handler shows, and for how long clients may keep it. */
export interface CatalogOptions {
  readonly agents: readonly CatalogAgent[];
  readonly baseUrls: BaseUrls;
  /** Whether cards of these agents are signed: their URLs, which it names, are then those of signed cards. */
  readonly isSigned: () => boolean;
  /** Default: the agents' provider if they have the same, else the host of their URL. */
  readonly host: CatalogHost | undefined;
  readonly maxAgeSeconds: number;
  readonly clock: Pick<Clock, "now" | "schedule">;
}

/** Serves the AI Catalog of some agents, with the same caching as a card. */
export function createCatalogHandler(options: CatalogOptions): HttpHandler {
  const { agents, baseUrls, isSigned, host, maxAgeSeconds, clock } = options;
  const catalogs = new RecentMap<string, Publication>(baseUrls.maxKept + 1);
  let listed: readonly { readonly agent: CatalogAgent; readonly card: AgentCard }[] = [];

  /** The agents with their cards as they are now: the same list until one of them changes. */
  function currentAgents(): typeof listed {
    const now = agents.map((agent) => ({ agent, card: agent.source.card }));
    if (now.some(({ card }, index) => card !== listed[index]?.card)) listed = now;
    return listed;
  }

  return async (request) => {
    const base = baseUrls.find(request, isSigned());
    const catalog = catalogs.get(base) ?? new Publication({ contentType: catalogMediaType, clock });
    catalogs.set(base, catalog);
    const current = currentAgents();
    const document = await catalog.find(current, () =>
      formatCatalog(
        current.map(({ agent, card }) => ({ card, url: base + agent.path })),
        host,
      ),
    );
    return serveDocument(request, document, { maxAgeSeconds, varyBy: baseUrls.varyBy(request) });
  };
}

/**
 * The AI Catalog of some agents: a draft of the AI Catalog working group that A2A is about to name as its way to find
 * several agents of one origin. Nothing in A2A 1.0 speaks of it, and it has changed before: entries say what they are as
 * `type`, and as `mediaType`, as the draft called it until 2026.
 */
export function formatCatalog(agents: readonly ListedAgent[], host: CatalogHost | undefined): string {
  return JSON.stringify({
    specVersion: "1.0",
    host: host ?? { displayName: findHostName(agents) },
    entries: agents.map(toEntry),
  });
}

const cardMediaType = "application/a2a-agent-card+json";

function toEntry({ card, url }: ListedAgent): Record<string, unknown> {
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

function findHostName(agents: readonly ListedAgent[]): string {
  const [provider, ...others] = new Set(agents.map(({ card }) => card.provider?.organization ?? ""));
  if (provider !== undefined && provider !== "" && others.length === 0) {
    return provider;
  }
  return URL.parse(agents[0]?.url ?? "")?.host ?? "";
}
