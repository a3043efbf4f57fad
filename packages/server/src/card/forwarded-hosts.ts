import type { HttpRequest } from "@a2a-connect/bindings";
import type { LogRecord } from "../engine/engine-context.ts";
import { type IsListed, parseListedUrl } from "./listed-url.ts";

/** Decides which of the URLs that trusted proxies tell may stand in a card. */
export interface ForwardedHosts {
  /** @param signed whether the card will be signed */
  accepts(forwardedUrl: string | undefined, signed: boolean): boolean;
  /** Header fields that decide which URLs a response names, for its `Vary`: also where they are absent, or were not taken. */
  varyBy(request: Pick<HttpRequest, "trustsProxies">): readonly string[];
}

/** What decides. */
export interface ForwardedHostOptions {
  /** Whether the public URL is fixed: then nothing else stands in a card. */
  readonly fixed: boolean;
  /** Hosts and base URLs, as `parseListedUrl` takes them. Undefined: every URL, unless cards are signed. */
  readonly hosts: readonly string[] | undefined;
  readonly log: (record: LogRecord) => void;
}

/** What a proxy may say about the URL that its caller asked for. */
const forwardingFields: readonly string[] = [
  "forwarded",
  "x-forwarded-host",
  "x-forwarded-port",
  "x-forwarded-prefix",
  "x-forwarded-proto",
];

/**
 * Many proxies tell whatever host, port or prefix their caller has sent. A card for it harms nobody else, but a signed one is a
 * proof: whoever names a place of his own would get a card that sends callers there, signed by us. So signed cards name
 * listed URLs only.
 *
 * @throws Error when something is listed that is neither a host nor a base URL
 */
export function createForwardedHosts({ fixed, hosts, log }: ForwardedHostOptions): ForwardedHosts {
  const listed = hosts?.map(parseListedUrl);
  let warned = false;
  function warn(message: string): void {
    if (!warned) {
      warned = true;
      log({ level: "warn", message });
    }
  }
  return {
    accepts(forwardedUrl, signed) {
      if (fixed || forwardedUrl === undefined) {
        return false;
      }
      if (listed !== undefined) {
        const isListed = matchesAny(listed, forwardedUrl);
        if (!isListed) {
          warn(
            `a proxy says that this server is ${forwardedUrl}, which "forwardedHosts" does not list: cards do not name it`,
          );
        }
        return isListed;
      }
      if (signed) {
        warn(
          `a proxy says that this server is ${forwardedUrl}, but a card is signed only for hosts that "forwardedHosts" lists`,
        );
      }
      return !signed;
    },
    varyBy: ({ trustsProxies = false }) => (trustsProxies && !fixed ? forwardingFields : []),
  };
}

function matchesAny(listed: readonly IsListed[], forwardedUrl: string): boolean {
  const url = URL.parse(forwardedUrl);
  return url !== null && listed.some((matches) => matches(url));
}
