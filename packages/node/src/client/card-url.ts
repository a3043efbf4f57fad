import { isLoopbackHost } from "./loopback-host.ts";

/**
 * The URL of a card that the caller names by a URL, or by a host alone. For a host it is http on this machine, and
 * https elsewhere. Undefined for other values, such as a card.
 */
export function findCardUrl(reference: unknown): URL | undefined {
  if (reference instanceof URL) return reference;
  if (typeof reference !== "string") return undefined;
  if (/^https?:\/\//i.test(reference)) return URL.parse(reference) ?? undefined;
  const url = URL.parse(`http://${reference}`);
  if (url === null) return undefined;
  return isLoopbackHost(url.hostname) ? url : (URL.parse(`https://${reference}`) ?? undefined);
}
