/**
 * Whether an error shows that not a byte of the request left this machine, or none was read: no such host, nobody
 * listening, no route, a certificate that was refused. Node tells that in the codes of its errors; browsers tell nothing.
 */
export function wasNeverSent(error: unknown): boolean {
  for (let each = error, depth = 0; each instanceof Error && depth < 8; each = each.cause, depth++) {
    if ("code" in each && typeof each.code === "string" && neverSentCodes.has(each.code)) {
      return true;
    }
  }
  return false;
}

const neverSentCodes: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT",
  "ERR_ADDRESS_REFUSED",
  "CERT_HAS_EXPIRED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);
