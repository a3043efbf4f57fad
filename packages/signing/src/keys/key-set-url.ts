import {
  isLoopbackHost,
  parseForeignUrl,
  parseHttpUrl,
  shownText,
  shownUrl,
} from "@a2a-connect/core/internal";
import type { JkuPolicy } from "../trust/trust-policy.ts";
import { SigningError } from "./key-options.ts";

/** Hosts with their ports, as `URL.host` has them; undefined: none is named, so the card's own origin it is. */
export type KeySetHosts = ReadonlySet<string> | undefined;

/** Longest `jku` that is looked at, in UTF-16 code units. */
const maxJkuLength = 2048;

/** What is wrong with a `jku` by itself, without a policy, and what its signer does about it. */
const faults = {
  "no-url": {
    problem: "is no absolute URL",
    hint: "give one, such as https://agents.example.org/.well-known/jwks.json",
  },
  "no-https": {
    problem: "is not reached by https",
    hint: "serve the key set by https; http is for this machine alone (localhost)",
  },
  credentials: {
    problem: "has a user name or password in it",
    hint: "everybody can read it there: serve public keys without",
  },
} as const;

/** Only https is asked, but for this machine itself. */
function readJku(jku: unknown): { readonly url: URL | undefined; readonly fault?: keyof typeof faults } {
  const isText = typeof jku === "string" && jku.length <= maxJkuLength && jku.isWellFormed();
  const url = isText ? parseForeignUrl(jku) : undefined;
  if (url === undefined) return { url, fault: "no-url" };
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
  if (fault === undefined) return;
  const { problem, hint } = faults[fault];
  throw new SigningError(`the URL of the key set (jku) ${problem}`, hint);
}

/** @throws TypeError when one of the hosts is none */
export function readKeySetHosts({ hosts }: JkuPolicy): KeySetHosts {
  return hosts === undefined ? undefined : new Set(hosts.map(requireHost));
}

function requireHost(text: string): string {
  const host = parseHost(text);
  if (host !== undefined) return host;
  const problem = "is no host, such as keys.example.org or keys.example.org:8443";
  throw new TypeError(`jku.hosts: ${JSON.stringify(text)} ${problem}`);
}

/** A host with its port, as `URL.host` has it; undefined for a text that is none. */
export function parseHost(text: string): string | undefined {
  return /[/?#\\*@\s]/.test(text) ? undefined : URL.parse(`https://${text}/`)?.host;
}

/**
 * Whether the key set that a header names may be asked at all: at a host of the policy; when that names none, at the origin that
 * the card itself came from.
 *
 * @param cardUrl where the card came from, when that is known
 * @returns the URL, or why it may not be asked: a sentence without a full stop
 */
export function checkJku(jku: unknown, hosts: KeySetHosts, cardUrl: URL | undefined): URL | string {
  const { url, fault } = readJku(jku);
  if (url === undefined) return `the key set that the header names (jku) ${faults["no-url"].problem}`;
  const named = `the key set that the header names, ${shownUrl(url)},`;
  if (fault !== undefined) return `${named} ${faults[fault].problem}`;
  if (hosts !== undefined && !hosts.has(url.host)) {
    return `${named} is on a host that is none that the policy allows`;
  }
  const cardOrigin = parseHttpUrl(cardUrl?.href ?? "")?.origin; // "blob:" has an origin, too, that says nothing
  if (hosts === undefined && url.origin !== cardOrigin) {
    const own =
      cardUrl === undefined
        ? "where the card came from is not known"
        : `the card came from ${shownText(cardOrigin ?? cardUrl.protocol)}`;
    return `${named} is not allowed: the policy allows only the card's own origin, and ${own}`;
  }
  url.hash = "";
  return url;
}
