import { isLoopbackHost } from "@a2a-connect/core";
/** Whether a base URL is one of those that an entry of `forwardedHosts` means. */
export type IsListed = (url: URL) => boolean;

/**
 * Reads an entry of `forwardedHosts`. A base URL, such as `https://agents.example.org:8443/a2a`, means exactly that. A host
 * alone, such as `agents.example.org` or `agents.example.org:8443`, means https (on loopback http, too), the standard port
 * unless it has one, and no path below. `*.` at the beginning of a host means every name below that domain, in both.
 *
 * @throws Error when it is neither
 */
export function parseListedUrl(entry: string): IsListed {
  const hasScheme = /^https?:\/\//i.test(entry);
  const urls = hasScheme
    ? [parseUrl(entry)]
    : [parseUrl(`https://${entry}`), parseUrl(`http://${entry}`)].filter(
        (url) => url?.protocol !== "http:" || isLoopbackHost(url.hostname),
      );
  if ((!hasScheme && entry.includes("/")) || !urls.every((url) => url !== undefined)) {
    throw new Error(
      `forwardedHosts: ${JSON.stringify(entry)} is neither a host, such as agents.example.org or *.example.org, nor a base URL, such as https://agents.example.org:8443/a2a`,
    );
  }
  return (told) => urls.some((url) => matches(url, told));
}

/** The whole of it counts: nothing in it is left out silently. */
function parseUrl(text: string): URL | undefined {
  const url = /[?#@\\\s]/.test(text) ? null : URL.parse(text);
  const isPlain = url !== null && !url.hostname.replace(/^\*\.(?=.)/, "").includes("*");
  return isPlain ? url : undefined;
}

function matches(listed: URL, told: URL): boolean {
  return (
    listed.protocol === told.protocol &&
    listed.port === told.port &&
    prefixOf(listed) === prefixOf(told) &&
    matchesHost(listed.hostname, told.hostname)
  );
}

/** A slash at the end makes no difference. */
function prefixOf({ pathname }: URL): string {
  return pathname.endsWith("/") ? pathname.slice(0, -1) : pathname;
}

/** @param pattern a host, or `*.` and a domain, which means every name below it */
export function matchesHost(pattern: string, hostname: string): boolean {
  if (!pattern.startsWith("*.")) {
    return pattern === hostname;
  }
  const domain = pattern.slice(1);
  return hostname.endsWith(domain) && hostname.length > domain.length;
}
