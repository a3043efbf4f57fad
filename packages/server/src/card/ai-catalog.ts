import type { HttpHandler } from "@a2a-connect/bindings";
import type { AgentCard } from "@a2a-connect/proto";
import type { Clock } from "../engine/clock.ts";
import { forwardingFields } from "./card-handler.ts";
import { maxForwardedUrls } from "./card-source.ts";
import { createDocument, type Document } from "./document.ts";
import { RecentMap } from "./recent-map.ts";
import { respondDocument } from "./respond-document.ts";

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

/** What a catalog handler shows, and for how long clients may keep it. */
export interface CatalogOptions {
  /** The agents as they are now, for callers that reach the server at that URL. */
  readonly agentsAt: (baseUrl: string) => readonly ListedAgent[];
  /** Where the server is reached by those who come through no proxy; no trailing slash. */
  readonly baseUrl: () => string;
  /** Whether it counts what a proxy says about the URL. */
  readonly dependsOn: (forwardedUrl: string | undefined) => boolean;
  /** Default: the agents' provider if they have the same, else the host of their URL. */
  readonly host: CatalogHost | undefined;
  readonly maxAgeSeconds: number;
  readonly clock: Pick<Clock, "now">;
}

/** A catalog as it is served at one base URL. */
interface Listing {
  readonly agents: readonly ListedAgent[];
  readonly document: Promise<Document>;
}

/** Serves the AI Catalog of some agents, with the same caching as a card. */
export function createCatalogHandler(options: CatalogOptions): HttpHandler {
  const { agentsAt, baseUrl, dependsOn, host, maxAgeSeconds, clock } = options;
  const listings = new RecentMap<string, Listing>(maxForwardedUrls + 1);

  function findDocument(base: string): Promise<Document> {
    const agents = agentsAt(base);
    const before = listings.get(base);
    if (before !== undefined && areSame(before.agents, agents)) {
      return before.document;
    }
    const render = async () =>
      createDocument(formatCatalog(agents, host), catalogMediaType, clock.now(), await before?.document);
    const document = render();
    listings.set(base, { agents, document });
    return document;
  }

  return async (request) => {
    const { forwardedUrl } = request;
    const isForwarded = dependsOn(forwardedUrl);
    const base = isForwarded && forwardedUrl !== undefined ? forwardedUrl : baseUrl();
    const varyBy = isForwarded ? forwardingFields : [];
    return respondDocument(request, await findDocument(base), { maxAgeSeconds, varyBy });
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

function areSame(some: readonly ListedAgent[], others: readonly ListedAgent[]): boolean {
  return (
    some.length === others.length &&
    some.every(({ card, url }, index) => others[index]?.card === card && others[index]?.url === url)
  );
}
