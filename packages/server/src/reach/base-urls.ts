import type { HttpRequest } from "@a2a-connect/bindings";
import { parseHttpUrl } from "@a2a-connect/core/internal";
import type { LogRecord } from "../engine/engine-context.ts";
import { parseListedUrl } from "./listed-host.ts";

/** At which base URLs callers reach a server. None has a trailing slash. */
export interface BaseUrls {
  /** For those who come through no proxy. */
  readonly own: string;
  /** For how many others documents are kept: those asked for last. */
  readonly maxKept: number;
  /**
   * The URL that a document names: the one that a trusted proxy tells, or the own one where that may not stand in it.
   *
   * @param signed whether the document says where a signed card is
   */
  find(forwardedUrl: string | undefined, signed: boolean): string;
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
  function warn(forwardedUrl: string, why: string): void {
    if (!warned) {
      warned = true;
      log({ level: "warn", message: `a proxy says that this server is ${forwardedUrl}, ${why}` });
    }
  }
  function isTaken(forwardedUrl: string, signed: boolean): boolean {
    if (listed === undefined) {
      if (signed) warn(forwardedUrl, 'but a card is signed only for hosts that "forwardedHosts" lists');
      return !signed;
    }
    const url = URL.parse(forwardedUrl);
    const isListed = url !== null && listed.some((lists) => lists(url));
    if (!isListed) warn(forwardedUrl, 'which "forwardedHosts" does not list: cards do not name it');
    return isListed;
  }
  return {
    get own() {
      return own;
    },
    maxKept: Math.max(minKept, listed?.length ?? 0),
    find: (forwardedUrl, signed) =>
      !isFixed && forwardedUrl !== undefined && isTaken(forwardedUrl, signed) ? forwardedUrl : own,
    varyBy: ({ trustsProxies = false }) => (trustsProxies && !isFixed ? forwardingFields : []),
    moveTo(url) {
      if (!isFixed) {
        own = url.replace(/\/+$/, "");
      }
    },
  };
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
  return (url.origin + url.pathname).replace(/\/+$/, "");
}
