import type { HttpRequest } from "@a2a-connect/bindings";
import { isLoopbackHost } from "@a2a-connect/core/internal";
import type { LogRecord } from "../engine/engine-context.ts";

/** Decides which of the URLs that trusted proxies tell may stand in a card. */
export interface ForwardedHosts {
  /** For how many base URLs documents are kept: those asked for last. */
  readonly maxKept: number;
  /** @param signed whether the card will be signed */
  accepts(forwardedUrl: string | undefined, signed: boolean): boolean;
  /** Header fields that decide which URLs a response names, for its `Vary`: also where they are absent, or were not taken. */
  varyBy(request: Pick<HttpRequest, "trustsProxies">): readonly string[];
}

/** What decides. */
export interface ForwardedHostOptions {
  /** Whether the public URL is fixed: then nothing else stands in a card. */
  readonly fixed: boolean;
  /** Hosts and their URLs, as `parseListedUrl` takes them. Undefined: every URL, unless cards are signed. */
  readonly hosts: readonly string[] | undefined;
  readonly log: (record: LogRecord) => void;
}

/** What a proxy may say about the URL that its caller asked for. */
const forwardingFields: readonly string[] = ["forwarded", "x-forwarded-host", "x-forwarded-proto"];

/** For how many base URLs documents are kept at least; for all that are listed. */
const minKept = 16;

/**
 * Many proxies tell whatever host or port their caller has sent. A card for it harms nobody else, but a signed one is a
 * proof: whoever names a place of his own would get a card that sends callers there, signed by us. So signed cards name
 * listed URLs only.
 *
 * @throws Error when something is listed that is neither a host nor the URL of one
 */
export function createForwardedHosts({ fixed, hosts, log }: ForwardedHostOptions): ForwardedHosts {
  const isListed = hosts?.map(parseListedUrl);
  let warned = false;
  function warn(forwardedUrl: string, why: string): void {
    if (!warned) {
      warned = true;
      log({ level: "warn", message: `a proxy says that this server is ${forwardedUrl}, ${why}` });
    }
  }
  return {
    maxKept: Math.max(minKept, hosts?.length ?? 0),
    accepts(forwardedUrl, signed) {
      if (fixed || forwardedUrl === undefined) {
        return false;
      }
      if (isListed === undefined) {
        if (signed) warn(forwardedUrl, 'but a card is signed only for hosts that "forwardedHosts" lists');
        return !signed;
      }
      const url = URL.parse(forwardedUrl);
      const accepted = url !== null && isListed.some((lists) => lists(url));
      if (!accepted) warn(forwardedUrl, 'which "forwardedHosts" does not list: cards do not name it');
      return accepted;
    },
    varyBy: ({ trustsProxies = false }) => (trustsProxies && !fixed ? forwardingFields : []),
  };
}

/** Whether a base URL is one of those that an entry of `forwardedHosts` means. */
export type IsListed = (url: URL) => boolean;

/**
 * Reads an entry of `forwardedHosts`. A URL, such as `https://agents.example.org:8443`, means exactly that. A host
 * alone, such as `agents.example.org` or `agents.example.org:8443`, means https (on loopback http, too), and the standard port
 * unless it has one. `*.` at the beginning of a host means every name below that domain, in both.
 *
 * @throws Error when it is neither
 */
export function parseListedUrl(entry: string): IsListed {
  const hasScheme = /^https?:\/\//i.test(entry);
  const urls = (hasScheme ? [entry] : [`https://${entry}`, `http://${entry}`]).map(parseOrigin);
  if ((!hasScheme && entry.includes("/")) || !urls.every((url) => url !== undefined)) {
    throw new Error(
      `forwardedHosts: ${JSON.stringify(entry)} is neither a host, such as agents.example.org or *.example.org, nor the URL of one without a path, such as https://agents.example.org:8443`,
    );
  }
  const listed = urls.filter(
    ({ protocol, hostname }) => hasScheme || protocol === "https:" || isLoopbackHost(hostname),
  );
  return (told) =>
    told.pathname === "/" &&
    listed.some(
      ({ protocol, port, hostname }) =>
        protocol === told.protocol && port === told.port && matchesHost(hostname, told.hostname),
    );
}

/** The whole of it counts: nothing in it is left out silently. */
function parseOrigin(text: string): URL | undefined {
  const url = /[?#@\\\s]/.test(text) ? null : URL.parse(text);
  const isPlain = url?.pathname === "/" && !url.hostname.replace(/^\*\.(?=.)/, "").includes("*");
  return isPlain ? url : undefined;
}

/** @param pattern a host, or `*.` and a domain, which means every name below it */
export function matchesHost(pattern: string, hostname: string): boolean {
  if (!pattern.startsWith("*.")) {
    return pattern === hostname;
  }
  const domain = pattern.slice(1);
  return hostname.endsWith(domain) && hostname.length > domain.length;
}
