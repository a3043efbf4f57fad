import { withoutBrackets, withoutFinalDot } from "../allow-list.ts";
import { parseReachedAddress } from "../public-address.ts";

/** Whether a host in a URL is this machine by its name or address. */
export function isLoopbackHost(hostname: string): boolean {
  const host = withoutFinalDot(withoutBrackets(hostname)).toLowerCase();
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  return parseReachedAddress(host)?.range() === "loopback";
}
