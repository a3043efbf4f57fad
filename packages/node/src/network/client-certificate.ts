import type { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import type { HttpRequest } from "@a2a-connect/bindings";
import type { RemoteEnd } from "./trusted-proxies.ts";

type ClientCertificate = NonNullable<HttpRequest["clientCertificate"]>;

const known = new WeakMap<RemoteEnd, ClientCertificate>();

/** The certificate at the other end of a connection, if TLS has tested its chain. */
export function readClientCertificate(connection: RemoteEnd | undefined): ClientCertificate | undefined {
  if (connection === undefined) return undefined;
  const read = known.get(connection);
  if (read !== undefined) return read;
  // The socket of an HTTP/2 session is a proxy, which is no instance of TLSSocket.
  const { authorized, getPeerX509Certificate } = connection as Partial<TLSSocket>;
  if (authorized !== true || getPeerX509Certificate === undefined) return undefined;
  const certificate = getPeerX509Certificate.call(connection as TLSSocket);
  if (certificate === undefined) return undefined;
  const parsed = parseCertificate(certificate);
  known.set(connection, parsed);
  return parsed;
}

function parseCertificate(certificate: X509Certificate): ClientCertificate {
  const { subject, subjectAltName = "", fingerprint256, validTo } = certificate;
  const names = splitNames(subjectAltName);
  const ofKind = (kind: string) => names.flatMap(([name, value]) => (name === kind ? [value] : []));
  return {
    subject: subject
      .split("\n")
      .filter((each) => each !== "")
      .reverse()
      .join(","),
    dnsNames: ofKind("DNS"),
    uris: ofKind("URI"),
    emails: ofKind("email"),
    fingerprint: fingerprint256.replaceAll(":", "").toLowerCase(),
    expiresAt: Date.parse(validTo),
  };
}

/**
 * The alternative names of a certificate, as Node writes them: `DNS:a.example, URI:"spiffe://a\\u002cb"`. A value that could be
 * read as several names is quoted as JSON, so a comma in quotes divides nothing.
 */
function splitNames(text: string): [kind: string, value: string][] {
  return (text.match(/(?:[^,"]|"(?:[^"\\]|\\.)*")+/g) ?? []).map((entry) => {
    const name = entry.trim();
    const colon = name.indexOf(":");
    const value = name.slice(colon + 1);
    return [name.slice(0, colon), value.startsWith('"') ? String(JSON.parse(value)) : value];
  });
}
