import { contains, type IpAddress, type Network, parseNetwork } from "./public-address.ts";

/** A host and port that a caller or an agent wants to reach. */
export interface Target {
  /** In the form of a parsed URL: lower case, an IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
}

/** The targets that an operator permits although they are not public. */
export interface AllowList {
  /** Whether the list has the target's host by its name. */
  hasName(target: Target): boolean;
  /** Whether the list has an address, by itself or in a network, for the target's port. */
  hasAddress(target: Target, address: IpAddress): boolean;
}

/** One entry: a name or a network, for one port or all. */
interface AllowEntry {
  readonly name: string | undefined;
  readonly network: Network | undefined;
  readonly port: number | undefined;
}

/**
 * Reads entries such as `hooks.internal`, `localhost:8080`, `10.1.2.3`, `[fd00::1]:443`, `10.0.0.0/8`.
 *
 * @throws Error when an entry is none of these
 */
export function parseAllowList(entries: readonly string[]): AllowList {
  const parsed = entries.map(parseEntry);
  const forPort = ({ port }: Target): AllowEntry[] =>
    parsed.filter((entry) => entry.port === undefined || entry.port === port);
  return {
    hasName: (target) => forPort(target).some(({ name }) => name === withoutFinalDot(target.host)),
    hasAddress: (target, address) =>
      forPort(target).some(({ network }) => network !== undefined && contains(network, address)),
  };
}

/** The absolute spelling of a name (`localhost.`) names the same host. */
export function withoutFinalDot(host: string): string {
  return host.endsWith(".") ? host.slice(0, -1) : host;
}

function parseEntry(text: string): AllowEntry {
  const whole = parseNetwork(text); // first, because the colons of an IPv6 address do not begin a port
  if (whole !== undefined) return { name: undefined, network: whole, port: undefined };
  const [, host = "", digits] = /^(\[[^\]]*\]|[^:/?#@[\]]+)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const url = URL.parse(`http://${host}`);
  const port = digits === undefined ? undefined : Number(digits);
  if (url === null || (port !== undefined && (port < 1 || port > 65_535))) {
    throw new Error(`an allowed address is a host, host:port or a network such as 10.0.0.0/8, not "${text}"`);
  }
  const network = parseNetwork(withoutBrackets(url.hostname));
  return network === undefined
    ? { name: withoutFinalDot(url.hostname), network, port }
    : { name: undefined, network, port };
}

/** A URL's `[::1]` is `::1` everywhere else. */
export function withoutBrackets(hostname: string): string {
  return hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
}
