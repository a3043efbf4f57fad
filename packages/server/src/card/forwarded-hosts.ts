import type { LogRecord } from "../engine/engine-context.ts";

/** Decides which of the URLs that trusted proxies tell may stand in a card. */
export interface ForwardedHosts {
  /** @param signed whether the card will be signed */
  accepts(forwardedUrl: string | undefined, signed: boolean): boolean;
}

/** What decides. */
export interface ForwardedHostOptions {
  /** Whether the public URL is fixed: then nothing else stands in a card. */
  readonly fixed: boolean;
  /** Hosts, such as `agents.example.org`, `localhost:8080`, `*.example.org`. Undefined: every host, unless cards are signed. */
  readonly hosts: readonly string[] | undefined;
  readonly log: (record: LogRecord) => void;
}

/**
 * Many proxies tell whatever host their caller asked for. A card for it harms nobody else, but a signed one is a proof: whoever
 * names a host of his own would get a card that sends callers there, signed by us. So signed cards name listed hosts only.
 */
export function createForwardedHosts({ fixed, hosts, log }: ForwardedHostOptions): ForwardedHosts {
  let warned = false;
  return {
    accepts(forwardedUrl, signed) {
      if (fixed || forwardedUrl === undefined) {
        return false;
      }
      if (hosts !== undefined) {
        const url = URL.parse(forwardedUrl);
        return url !== null && hosts.some((pattern) => matchesHost(pattern.toLowerCase(), url));
      }
      if (signed && !warned) {
        warned = true;
        log({
          level: "warn",
          message: `a proxy says that this server is ${forwardedUrl}, but a card is signed only for hosts that "forwardedHosts" lists`,
        });
      }
      return !signed;
    },
  };
}

/** A pattern without a port means every port. */
function matchesHost(pattern: string, { host, hostname }: URL): boolean {
  if (pattern.startsWith("*.")) {
    const domain = pattern.slice(1);
    return [host, hostname].some((name) => name.endsWith(domain) && name.length > domain.length);
  }
  return pattern === host || pattern === hostname;
}
