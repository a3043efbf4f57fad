import { parseForeignUrl } from "@a2a-connect/core/internal";
import { isLoopbackHost } from "../network/address-guard.ts";

/**
 * The URL to dial for the gRPC interface of a card (requirement J-2): `http://` is cleartext with prior knowledge,
 * `https://` TLS.
 *
 * - `http(s)://host:port` is kept, with its path; `grpc://` is cleartext and `grpcs://` is TLS.
 * - `host:port`, `dns:host:port` and `dns://authority/host:port` do not name a scheme. Port 443 is TLS, port 80
 *   cleartext. Any other port follows the card: TLS when the card came over https, cleartext when it came over http.
 *   For a card from elsewhere, loopback is cleartext and everything else TLS.
 *
 * @param cardScheme `http:` or `https:`, by which the card was fetched; undefined when it was not fetched
 * @throws Error with a sentence when the text is none of these
 */
export function parseGrpcTarget(text: string, cardScheme?: string): URL {
  const explicit = /^(https?|grpcs?):\/\//i.exec(text);
  if (explicit !== null) {
    const secure = /s$/i.test(explicit[1] ?? "");
    return parseUrl(`${secure ? "https" : "http"}://${text.slice(explicit[0].length)}`, text);
  }
  const authority = text.replace(/^dns:(?:\/\/[^/]*\/)?/i, "");
  const probe = parseUrl(`ftp://${authority}`, text); // a scheme that drops neither port 80 nor 443
  if (probe.pathname !== "/" || probe.search !== "" || probe.hash !== "") {
    throw notATarget(text);
  }
  const secure = isSecure(probe, cardScheme);
  return parseUrl(`${secure ? "https" : "http"}://${authority}`, text);
}

function isSecure({ hostname, port }: URL, cardScheme: string | undefined): boolean {
  if (port === "443" || port === "80") return port === "443";
  return cardScheme === undefined ? !isLoopbackHost(hostname) : cardScheme !== "http:";
}

function parseUrl(candidate: string, text: string): URL {
  const url = parseForeignUrl(candidate);
  if (url === undefined || url.hostname === "" || url.username !== "" || url.password !== "") {
    throw notATarget(text);
  }
  return url;
}

function notATarget(text: string): Error {
  return new Error(
    `${JSON.stringify(text)} is not a gRPC target: host:port, or an http, https, grpc or grpcs URL`,
  );
}
