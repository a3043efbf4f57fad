import { isLoopbackHost } from "./loopback-host.ts";

/**
 * Where a card is that somebody names by a URL, or by a host alone: then on this machine it is http, elsewhere https.
 * Undefined for what is neither, such as a card.
 */
export function findCardUrl(reference: unknown): URL | undefined {
  if (reference instanceof URL) return reference;
  if (typeof reference !== "string") return undefined;
  if (/^https?:\/\//i.test(reference)) return URL.parse(reference) ?? undefined;
  const url = URL.parse(`http://${reference}`);
  if (url === null) return undefined;
  return isLoopbackHost(url.hostname) ? url : (URL.parse(`https://${reference}`) ?? undefined);
}
