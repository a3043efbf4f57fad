/**
 * Whether a host, as a URL has it, is this machine by its name or address (RFC 6761 §6.3). Nothing is resolved: it says what the
 * text says.
 */
export function isLoopbackHost(hostname: string): boolean {
  return /^(?:(?:.+\.)?localhost|127\.\d+\.\d+\.\d+|\[::1\])\.?$/i.test(hostname);
}
