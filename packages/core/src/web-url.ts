/**
 * An absolute http or https URL; undefined for every other text.
 *
 * @param base of a relative reference
 */
export function parseHttpUrl(text: string, base?: URL): URL | undefined {
  const url = URL.parse(text, base);
  return url !== null && (url.protocol === "http:" || url.protocol === "https:") ? url : undefined;
}

/**
 * Whether a host in a URL is this machine by its name or address (RFC 6761 §6.3). The function resolves no names: it
 * looks at the text alone.
 */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])\.?$/i.test(hostname);
}
