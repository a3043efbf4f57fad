import {
  isLoopbackHost,
  parseForeignUrl,
  parseHttpUrl,
  shownText,
  shownUrl,
} from "@a2a-connect/core/internal";
import { SigningError } from "./key-type.ts";

/** Hosts with their ports, as `URL.host` has them; undefined: none is named, so the card's own origin it is. */
export type KeySetHosts = ReadonlySet<string> | undefined;

/** Longest `jku` that is looked at, in UTF-16 code units. */
const maxJkuLength = 2048;

/** The URL that a `jku` is, or what is wrong with it by itself, without a policy. Only https is asked, but for this machine itself. */
function readJku(jku: unknown): URL | string {
  const isText = typeof jku === "string" && jku.length <= maxJkuLength && jku.isWellFormed();
  const url = isText ? parseForeignUrl(jku) : undefined;
  if (url === undefined) return "is not an absolute URL";
  const isLocal = url.protocol === "http:" && isLoopbackHost(url.hostname);
  if (url.protocol !== "https:" && !isLocal) return "is not an https URL";
  return url.username === "" && url.password === "" ? url : "has a user name or password in it";
}

/**
 * Checks the URL by which signatures are to name a key set: https, or http on this machine; without credentials.
 *
 * @throws SigningError when no verifier would ask there
 */
export function assertKeySetUrl(jku: string): void {
  const read = readJku(jku);
  if (typeof read !== "string") return;
  throw new SigningError(
    `the URL of the key set (jku) ${read}`,
    "serve public keys by https, so that every verifier can fetch them, such as at https://agents.example.org/.well-known/jwks.json",
  );
}

/** One of a policy's hosts, as `URL.host` has it. @throws TypeError when it is none */
export function requireHost(text: string): string {
  const host = parseHost(text);
  if (host !== undefined) return host;
  throw new TypeError(`jku.hosts: ${JSON.stringify(text)} is not a host such as keys.example.org:8443`);
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
  const url = readJku(jku);
  if (typeof url === "string") return `the key set that the header names (jku) ${url}`;
  const named = `the key set that the header names, ${shownUrl(url)},`;
  const cardOrigin = parseHttpUrl(cardUrl?.href ?? "")?.origin; // "blob:" has an origin, too, that says nothing
  if (hosts === undefined ? url.origin !== cardOrigin : !hosts.has(url.host)) {
    const own = shownText(cardOrigin ?? cardUrl?.protocol ?? "a place that is not known");
    return hosts === undefined
      ? `${named} is not allowed: the policy allows only key sets of the card's own origin, and the card came from ${own}`
      : `${named} is on a host that the policy does not allow`;
  }
  url.hash = "";
  return url;
}
