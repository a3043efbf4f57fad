import { isLoopbackHost, shownText, shownUrl } from "@a2a-connect/core/internal";
import { SigningError } from "../signing-error.ts";
import { isWebUrl } from "../trust/memory-key.ts";
import type { JkuPolicy } from "../trust/trust-policy.ts";

/** The URL of a key set that may be asked, or why it may not: a sentence without a full stop. */
export type KeySetUrl =
  | { readonly ok: true; readonly url: URL }
  | { readonly ok: false; readonly problem: string };

/** Hosts with their ports, as `URL.host` has them; undefined: none is named, so the card's own origin it is. */
export type KeySetHosts = ReadonlySet<string> | undefined;

/** Longest `jku` that is looked at, in UTF-16 code units. */
const maxJkuLength = 2048;

/** Reads a `jku`, and says what is wrong with it whatever a policy allows: only https is asked, but for this machine itself. */
function readJku(jku: unknown): { url: URL | null; fault?: "no-url" | "no-https" | "credentials" } {
  const isText = typeof jku === "string" && jku.length <= maxJkuLength && jku.isWellFormed();
  const url = isText ? URL.parse(jku) : null;
  if (url === null) return { url, fault: "no-url" };
  const isLocal = url.protocol === "http:" && isLoopbackHost(url.hostname);
  if (url.protocol !== "https:" && !isLocal) return { url, fault: "no-https" };
  return url.username === "" && url.password === "" ? { url } : { url, fault: "credentials" };
}

/**
 * Checks the URL by which signatures are to name a key set: https, or http on this machine; without credentials.
 *
 * @throws SigningError when no verifier would ask there
 */
export function assertKeySetUrl(jku: string): void {
  const { fault } = readJku(jku);
  switch (fault) {
    case "no-url":
      throw new SigningError(
        "the key set is named by what is no URL (jku)",
        "give an absolute URL, such as https://agents.example.org/.well-known/jwks.json",
      );
    case "no-https":
      throw new SigningError(
        "the URL of the key set is not https (jku)",
        "serve the key set by https; http is for this machine alone (localhost)",
      );
    case "credentials":
      throw new SigningError(
        "the URL of the key set has a user name or password in it (jku)",
        "everybody can read it there: serve public keys without",
      );
  }
}

/** @throws TypeError when one of the hosts is none */
export function readKeySetHosts({ hosts }: JkuPolicy): KeySetHosts {
  return hosts === undefined ? undefined : new Set(hosts.map(parseHost));
}

function parseHost(host: string): string {
  const url = /[/?#\\*@\s]/.test(host) ? null : URL.parse(`https://${host}/`);
  if (url === null) {
    throw new TypeError(
      `jku.hosts: ${JSON.stringify(host)} is no host, such as keys.example.org or keys.example.org:8443`,
    );
  }
  return url.host;
}

/**
 * Whether the key set that a header names may be asked at all: by https (or on this machine itself), without credentials, and at
 * a host of the policy; when that names none, at the origin that the card itself came from.
 *
 * @param cardUrl where the card came from, when that is known
 */
export function checkJku(jku: unknown, hosts: KeySetHosts, cardUrl: URL | undefined): KeySetUrl {
  const { url, fault } = readJku(jku);
  if (url === null) return refused("the header names a key set by what is no absolute URL (jku)");
  const named = `the header names the key set ${shownUrl(url)}`;
  if (fault === "no-https") return refused(`${named}, which is not reached by https`);
  if (fault === "credentials") return refused(`${named} with a user name or password in its URL`);
  if (hosts !== undefined && !hosts.has(url.host)) {
    return refused(`${named}, whose host is none that the policy allows`);
  }
  const cardOrigin = cardUrl !== undefined && isWebUrl(cardUrl) ? cardUrl.origin : undefined;
  if (hosts === undefined && url.origin !== cardOrigin) {
    const own =
      cardUrl === undefined
        ? "and where the card came from is not known"
        : `and the card came from ${shownText(cardOrigin ?? cardUrl.protocol)}`;
    return refused(`${named}, ${own}: the policy allows only the card's own origin`);
  }
  url.hash = "";
  return { ok: true, url };
}

function refused(problem: string): KeySetUrl {
  return { ok: false, problem };
}
