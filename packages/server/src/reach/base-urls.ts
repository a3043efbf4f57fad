import type { HttpRequest } from "@a2a-connect/bindings";
import { type ForwardedUrlSource, parseHttpUrl, trimSlashes } from "@a2a-connect/core/internal";
import type { LogRecord } from "../engine/engine-context.ts";
import { parseListedUrl } from "./listed-host.ts";

/** At which base URLs callers reach a server. None has a trailing slash. */
export interface BaseUrls {
  /** For those who come through no proxy. */
  readonly own: string;
  /** For how many others documents are kept: those asked for last. */
  readonly maxKept: number;
  /**
   * The URL that a document names: the one that a trusted proxy tells, or that of the mount; the own one where those may not stand in
   * it.
   *
   * @param signed whether the document says where a signed card is
   */
  find(reached: ForwardedUrlSource, signed: boolean): string;
  /** Header fields that decide which URLs a response names, for its `Vary`: also where they are absent, or were not taken. */
  varyBy(request: Pick<HttpRequest, "trustsProxies">): readonly string[];
  /** Says where the server is reached now. With a public URL that changes nothing. */
  moveTo(url: string): void;
}

/** What decides. */
export interface BaseUrlOptions {
  /** Where it is given, no other URL counts. */
  readonly publicUrl?: string | undefined;
  /** Hosts and their URLs, as `parseListedUrl` takes them. Undefined: every URL, unless cards are signed. */
  readonly forwardedHosts?: readonly string[] | undefined;
  readonly log: (record: LogRecord) => void;
}

/** What a proxy may say about the URL that its caller asked for. */
const forwardingFields: readonly string[] = ["forwarded", "x-forwarded-host", "x-forwarded-proto"];

/** For how many base URLs documents are kept at least; for all that are listed. */
const minKept = 16;

/**
 * Many proxies pass on any host or port that their caller has sent. A card for it harms no other caller, but a signed one is
 * a proof: an attacker who names a host of his own would get a card that sends callers there, signed by us. So signed cards name
 * listed URLs only.
 *
 * @throws Error when the public URL is none, or something is listed that is neither a host nor the URL of one
 */
export function createBaseUrls({ publicUrl, forwardedHosts, log }: BaseUrlOptions): BaseUrls {
  const listed = forwardedHosts?.map(parseListedUrl);
  const isFixed = publicUrl !== undefined;
  let own = parsePublicUrl(publicUrl ?? "http://localhost");
  let warned = false;
  function warn(told: Told, why: string): void {
    if (!warned) {
      warned = true;
      log({ level: "warn", message: `${told.by} says that this server is ${told.origin}, ${why}` });
    }
  }
  function isTaken(told: Told, signed: boolean): boolean {
    if (listed === undefined) {
      if (signed) warn(told, 'but a card is signed only for hosts that "forwardedHosts" lists');
      return !signed;
    }
    const url = URL.parse(told.origin);
    const isListed = url !== null && listed.some((lists) => lists(url));
    if (!isListed) warn(told, 'which "forwardedHosts" does not list: cards do not name it');
    return isListed;
  }
  return {
    get own() {
      return own;
    },
    maxKept: Math.max(minKept, listed?.length ?? 0),
    find(reached, signed) {
      const told = isFixed ? undefined : readTold(reached);
      return told !== undefined && isTaken(told, signed) ? told.origin + (reached.mount?.path ?? "") : own;
    },
    varyBy: ({ trustsProxies = false }) => (trustsProxies && !isFixed ? forwardingFields : []),
    moveTo(url) {
      if (!isFixed) {
        own = trimSlashes(url);
      }
    },
  };
}

/** Who says where the server is. */
interface Told {
  readonly origin: string;
  readonly by: string;
}

/** The path of a mount is what its author says, or what the other server's router matched. So only the origin has to be listed. */
function readTold({ forwardedUrl, mount }: ForwardedUrlSource): Told | undefined {
  if (forwardedUrl !== undefined) return { origin: forwardedUrl, by: "a proxy" };
  return mount && { origin: mount.origin, by: "a request" };
}

/**
 * The URLs in the card are this one with paths behind it, and all callers read them: it is written as the parser has it, without
 * a trailing slash.
 *
 * @throws Error when it is no URL of that kind
 */
export function parsePublicUrl(publicUrl: string): string {
  const url = parseHttpUrl(publicUrl);
  const fits =
    url !== undefined && [url.username, url.password, url.search, url.hash].every((part) => part === "");
  if (!fits) {
    throw new Error(
      `the public URL is http or https, without user, query or fragment: https://agents.example.org, not "${publicUrl}"`,
    );
  }
  return trimSlashes(url.origin + url.pathname);
}
