import { parseHttpUrl } from "@a2a-connect/core/internal";
import {
  type AllowList,
  parseAllowList,
  type Target,
  withoutBrackets,
  withoutFinalDot,
} from "./allow-list.ts";
import { isPublicAddress, parseReachedAddress } from "./public-address.ts";

/** Which addresses named by callers or agents may be reached. */
export interface AddressGuardOptions {
  /**
   * Targets that are permitted although they are not public, or not over TLS: hosts (`hooks.internal`), one port of a
   * host (`localhost:8080`), addresses (`10.1.2.3`, `[fd00::1]:443`) and networks (`10.0.0.0/8`). A host that is listed
   * by its name may resolve to any address. Default: none.
   */
  readonly allow?: readonly string[];
  /** Whether `http:` is permitted for public addresses, too. Default false. */
  readonly allowHttp?: boolean;
}

/** Decides which addresses named by callers or agents may be reached (requirement N-6). */
export interface AddressGuard {
  /**
   * Why a URL is refused for its text, as the rest of a sentence about it; undefined when it is permitted. The guard
   * resolves no names here: a name that leads to a private address is refused when the connection is opened.
   */
  refuseUrl(url: string): string | undefined;
  /** Whether a connection to `address` is permitted, to which the target's host resolved. */
  permits(target: Target, address: string): boolean;
}

/** Names that customarily mean this machine, also without a resolver (RFC 6761 §6.3). */
const localNames = /(?:^|\.)(?:localhost|localhost\.localdomain|localhost6|ip6-localhost|ip6-loopback)$/;

/** @throws Error when an entry of `allow` is malformed */
export function createAddressGuard(options: AddressGuardOptions = {}): AddressGuard {
  const allowed = parseAllowList(options.allow ?? []);
  const allowHttp = options.allowHttp ?? false;
  return {
    refuseUrl(text) {
      const url = parseHttpUrl(text);
      if (url === undefined)
        return "must be an absolute http or https URL, with a host of at most 255 characters";
      if (url.username !== "" || url.password !== "") return "must not carry a user name or password";
      const target = targetOf(url);
      if (isListed(allowed, target)) return undefined;
      if (url.protocol === "http:" && !allowHttp) return "must use https";
      return refuseHost(target.host);
    },
    permits(target, text) {
      if (allowed.hasName(target)) return true;
      const address = parseReachedAddress(text);
      return address !== undefined && (isPublicAddress(address) || allowed.hasAddress(target, address));
    },
  };
}

/** The host and port of an http or https URL. */
export function targetOf(url: URL): Target {
  const standardPort = url.protocol === "https:" ? 443 : 80;
  return { host: withoutBrackets(url.hostname), port: url.port === "" ? standardPort : Number(url.port) };
}

function isListed(allowed: AllowList, target: Target): boolean {
  if (allowed.hasName(target)) return true;
  const address = parseReachedAddress(target.host);
  return address !== undefined && allowed.hasAddress(target, address);
}

/**
 * A parsed URL has no unusual spellings left: `0x7f.1`, `2130706433` and full-width digits have all become 127.0.0.1.
 */
function refuseHost(host: string): string | undefined {
  if (localNames.test(withoutFinalDot(host))) return `must not point to ${host}, which is the server itself`;
  const address = parseReachedAddress(host);
  return address === undefined || isPublicAddress(address)
    ? undefined
    : `must not point to ${host}, which is not a public address`;
}

/** Whether a host in a URL is this machine by its name or address. */
export function isLoopbackHost(hostname: string): boolean {
  const host = withoutFinalDot(withoutBrackets(hostname)).toLowerCase();
  if (host === "localhost" || host.endsWith(".localhost")) return true;
  return parseReachedAddress(host)?.range() === "loopback";
}
