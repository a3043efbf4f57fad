/** Why no answer came, in words for people. */
export interface NetworkFailure {
  /** At which step: resolving the name, connecting, TLS, or afterwards. */
  readonly stage: "name" | "connect" | "tls" | "answer";
  /** Goes on after "the server": `refuses connections`. */
  readonly what: string;
  readonly fix: string;
  /** The system's own word. */
  readonly code: string | undefined;
}

/** The code of a server that was waited for, in vain. */
export const timeoutCode = "TIMEOUT";

/** What is behind a `fetch` or socket that failed. */
export function explainNetworkFailure(error: unknown): NetworkFailure {
  const code = findCode(error);
  const known = code === undefined ? undefined : failures[code];
  if (known !== undefined) return { ...known, code };
  if (code !== undefined && tlsCode.test(code)) {
    return {
      stage: "tls",
      what: "cannot be talked to over TLS",
      fix: "Check certificate and TLS settings.",
      code,
    };
  }
  if (isTimeout(error)) {
    return {
      stage: "answer",
      what: "did not answer in time",
      fix: "Look whether it hangs, or is behind a firewall that drops packets.",
      code: timeoutCode,
    };
  }
  return {
    stage: "answer",
    what: "closed the connection without an answer",
    fix: "Look into its log.",
    code,
  };
}

type Explained = Omit<NetworkFailure, "code">;

const noName: Explained = {
  stage: "name",
  what: "has a name that nobody knows",
  fix: "Check the spelling of the host, and its DNS record.",
};
const certificate = (what: string, fix: string): Explained => ({ stage: "tls", what, fix });
const unknownIssuer = certificate(
  "has a certificate whose issuer is not trusted",
  "Serve the whole chain of a certificate of a public authority; of an authority of your own tell callers (NODE_EXTRA_CA_CERTS).",
);
const noTls = certificate("does not speak TLS on this port", "Use http:, or another port.");
const connect = (what: string, fix: string): Explained => ({ stage: "connect", what, fix });

const failures: Readonly<Record<string, Explained>> = {
  ENOTFOUND: noName,
  EAI_AGAIN: { ...noName, what: "cannot be looked up: the name servers do not answer" },
  ECONNREFUSED: connect("refuses connections", "Start it, or check the port."),
  EHOSTUNREACH: connect("is out of reach", "Check the network and the address."),
  ENETUNREACH: connect("is out of reach", "Check the network and the address."),
  ETIMEDOUT: connect("does not take connections", "Check the firewall and the port."),
  UND_ERR_CONNECT_TIMEOUT: connect("does not take connections", "Check the firewall and the port."),
  CERT_HAS_EXPIRED: certificate("has a certificate that has expired", "Renew it."),
  CERT_NOT_YET_VALID: certificate("has a certificate that is not valid yet", "Check the clocks."),
  ERR_TLS_CERT_ALTNAME_INVALID: certificate(
    "has a certificate for other names",
    "Get one that names this host.",
  ),
  DEPTH_ZERO_SELF_SIGNED_CERT: certificate(
    "has a certificate that nobody but itself vouches for",
    "Get one of a public authority, or tell callers to trust it (NODE_EXTRA_CA_CERTS).",
  ),
  SELF_SIGNED_CERT_IN_CHAIN: unknownIssuer,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownIssuer,
  UNABLE_TO_GET_ISSUER_CERT: unknownIssuer,
  ERR_SSL_WRONG_VERSION_NUMBER: noTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: noTls,
  HPE_INVALID_CONSTANT: { stage: "answer", what: "does not speak HTTP/1.1", fix: "Check port and scheme." },
};

const tlsCode = /^(ERR_SSL_|ERR_TLS_|CERT_|UNABLE_TO_)/;

/** Errors of `fetch` are wrapped, and of several addresses there is a list. */
function findCode(error: unknown, depth = 0): string | undefined {
  if (typeof error === "string") return error; // what a TLS socket has as its authorizationError
  if (!(error instanceof Error) || depth > 5) return undefined;
  const own = "code" in error && typeof error.code === "string" ? error.code : undefined;
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  return findCode(inner, depth + 1) ?? own;
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === "TimeoutError" || isTimeout(error.cause));
}
