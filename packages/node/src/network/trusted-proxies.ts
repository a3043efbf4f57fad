import { contains, type Network, parseNetwork, parseReachedAddress } from "./public-address.ts";

/** Whether an address is that of a trusted proxy; false for undefined. */
export type IsTrustedProxy = (address: string | undefined) => boolean;

/** The connection of a request: a socket, or another object that knows the address at its other end. */
export interface RemoteEnd {
  readonly remoteAddress?: string | undefined;
}

const loopback = ["127.0.0.0/8", "::1/128"];

/**
 * Reads a list of proxies: addresses (`10.1.2.3`, `fd00::1`), networks (`10.0.0.0/8`) and the word `loopback` for this
 * machine. Names are not accepted: an attacker who controls a name's DNS could make himself trusted.
 *
 * @throws Error when an entry is none of these
 */
export function parseTrustedProxies(entries: readonly string[]): IsTrustedProxy {
  const networks = entries
    .flatMap((entry) => (entry === "loopback" ? loopback : [entry]))
    .map(requireNetwork);
  return (text) => {
    const address = text === undefined ? undefined : parseReachedAddress(text);
    return address !== undefined && networks.some((network) => contains(network, address));
  };
}

/** The same for connections. Each is tested once, because its other end does not change. */
export function trustedOnce(isTrusted: IsTrustedProxy): (connection: RemoteEnd) => boolean {
  const known = new WeakMap<RemoteEnd, boolean>();
  return (connection) => {
    const trusted = known.get(connection) ?? isTrusted(connection.remoteAddress);
    known.set(connection, trusted);
    return trusted;
  };
}

function requireNetwork(text: string): Network {
  const network = parseNetwork(text);
  if (network === undefined) {
    throw new Error(
      `a trusted proxy is an address, a network such as 10.0.0.0/8, or "loopback", not ${JSON.stringify(text)}`,
    );
  }
  return network;
}
