import type { ClientCertificate } from "@a2a-connect/core/internal";
import type { AuthGate, Caller, Verdict } from "../gate.ts";
import { defaultScopes } from "../policy.ts";

/** Which client certificates count, of those that the listener's authorities (`tls.clientCa`) have signed. */
export interface MutualTlsOptions {
  /**
   * Who calls; undefined: it is for no caller. Default: the SPIFFE ID, where the certificate has one URI and that is one, else `x509:` and the
   * subject.
   */
  readonly principal?: (certificate: ClientCertificate) => string | undefined;
  /** The tenant that the certificate is for. Default: it does not say. */
  readonly tenant?: (certificate: ClientCertificate) => string | undefined;
  /** Default: those that every call needs. */
  readonly scopes?: (certificate: ClientCertificate) => readonly string[];
  /** The time, milliseconds since 1970. Default the machine's. */
  readonly now?: () => number;
}

/** A gate for client certificates (mutual TLS). The listener has tested their chain: `tls: { cert, key, clientCa }`. */
export function mutualTls(options: MutualTlsOptions = {}): AuthGate {
  const { now = Date.now } = options;
  return {
    scheme: { scheme: { case: "mtlsSecurityScheme", value: {} } },
    challenge: { scheme: "MutualTLS" },
    hasScopes: false,
    verify({ certificate }): Verdict {
      if (certificate === undefined) return undefined;
      if (certificate.expiresAt <= now()) return { refused: "the client certificate has expired" };
      return toCaller(certificate, options) ?? { refused: "the client certificate is for no caller" };
    },
  };
}

function toCaller(certificate: ClientCertificate, options: MutualTlsOptions): Caller | undefined {
  const principal = (options.principal ?? nameOf)(certificate);
  if (principal === undefined || principal === "") return undefined;
  return {
    principal,
    tenant: options.tenant?.(certificate),
    scopes: options.scopes?.(certificate) ?? defaultScopes,
    claims: {},
    expiresAt: certificate.expiresAt,
  };
}

/** A SPIFFE ID stands alone (X.509-SVID §2): with two URIs it is unclear who calls. */
function nameOf({ uris, subject }: ClientCertificate): string | undefined {
  const [uri] = uris;
  if (uri?.startsWith("spiffe://") === true) return uris.length === 1 ? uri : undefined;
  return subject === "" ? undefined : `x509:${subject}`;
}
