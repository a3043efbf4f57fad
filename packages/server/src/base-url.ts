/**
 * A base URL in the parser's spelling, without a trailing slash. The URLs in the card are this one with paths added,
 * and every caller reads them.
 *
 * @throws Error when it is not a URL of that kind
 */
export function parsePublicUrl(publicUrl: string): string {
  const url = URL.parse(publicUrl);
  const fits =
    url !== null &&
    ["http:", "https:"].includes(url.protocol) &&
    [url.username, url.password, url.search, url.hash].every((part) => part === "");
  if (!fits) {
    throw new Error(
      `the public URL is http or https, without user, query or fragment: https://agents.example.org, not "${publicUrl}"`,
    );
  }
  return withoutSlash(url.origin + url.pathname);
}

/** A base URL to which paths can be added. */
export function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}
