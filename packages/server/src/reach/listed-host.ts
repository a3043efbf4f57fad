import { isLoopbackHost } from "@a2a-connect/core/internal";

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
