/** reg-name, IPv4 or bracketed IPv6 with an optional port (RFC 3986 §3.2); no user info, nothing that could start a path. */
const authorityPattern = /^(?:[A-Za-z0-9._~%!$&'()*+,;=-]+|\[[0-9A-Fa-f:.]+\])(?::\d*)?$/;

/**
 * The absolute URL of a request, or undefined when its target or authority is malformed.
 *
 * The authority is whatever the caller claims: good for links, never for trust. A path can not be smuggled into it.
 *
 * @param scheme of the socket, not of a forwarding header
 * @param authority `:authority` or `host`; HTTP/1.0 needs none
 * @param target origin form, `*` or absolute form (RFC 9112 §3.2)
 */
export function formatRequestUrl(
  scheme: "http" | "https",
  authority: string | undefined,
  target: string | undefined,
): string | undefined {
  if (target === undefined || target === "") return undefined;
  if (target.startsWith("/")) return withOrigin(scheme, authority ?? "localhost", target);
  if (target === "*") return withOrigin(scheme, authority ?? "localhost", "/*");
  const url = URL.parse(target);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) return undefined;
  return withOrigin(scheme, url.host, url.pathname + url.search);
}

function withOrigin(scheme: string, authority: string, path: string): string | undefined {
  const origin = `${scheme}://${authority}`;
  // The pattern alone lets `1.2.3.999` and port 99999 through, which `new URL` refuses later and in a worse place.
  return authorityPattern.test(authority) && URL.canParse(origin) ? origin + path : undefined;
}
