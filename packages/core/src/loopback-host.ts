/**
 * Whether a host in a URL is this machine by its name or address (RFC 6761 §6.3). The function resolves no names: it
 * looks at the text alone.
 */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])\.?$/i.test(hostname);
}
