/** Why a server was not reached, in words. */
export interface NetworkFailure {
  /** The rest of a sentence about the server: `refuses connections: nothing listens there`. */
  readonly reason: string;
  /** What to do about it. */
  readonly hint: string;
  /** Whether the cause may be gone in a moment: a connection that broke, unlike one that was refused. */
  readonly mayPass: boolean;
}

/**
 * What a failed request says about the network: by the codes of Node, undici and Bun anywhere in its causes. Undefined
 * when it failed for another reason, such as an answer.
 */
export function findNetworkFailure(error: unknown): NetworkFailure | undefined {
  const errors = [...errorsBehind(error)];
  for (const each of errors) {
    const found = failureByCode(codeOf(each), each);
    if (found !== undefined) {
      return found;
    }
  }
  if (errors.some(({ message }) => message === "bad port")) {
    return badPort;
  }
  // A `fetch` without a response throws a TypeError; browsers do not tell the reason.
  return errors.some((each) => each instanceof TypeError) ? unexplained : undefined;
}

/** The Fetch standard has a list of ports that are never called. Its error has no code. */
const badPort: NetworkFailure = {
  reason: "is on a port that is not for HTTP",
  hint: "Use another port: fetch calls none of the well-known ports of other protocols.",
  mayPass: false,
};

/** Whether nothing listens at an address. */
export function isConnectionRefused(error: unknown): boolean {
  return [...errorsBehind(error)].some((each) =>
    ["ECONNREFUSED", "ConnectionRefused"].includes(codeOf(each)),
  );
}

/** An error and all its causes, nearest first. */
export function* errorsBehind(error: unknown, depth = 0): Generator<Error, void> {
  if (!(error instanceof Error) || depth > maxDepth) {
    return;
  }
  yield error;
  if (error instanceof AggregateError) {
    for (const each of error.errors.slice(0, maxWidth)) {
      yield* errorsBehind(each, depth + 1);
    }
  }
  yield* errorsBehind(error.cause, depth + 1);
}

const maxDepth = 8;
const maxWidth = 16;

/** The code that a platform gave an error: a text, unlike Connect's. */
export function codeOf(error: Error): string {
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

/** Whether a certificate was refused, before anything was sent. */
export function isCertificateCode(code: string): boolean {
  return certificateReasons.has(code) || /^(?:CERT_|UNABLE_TO_(?:GET|VERIFY|DECRYPT|DECODE)_)/.test(code);
}

const certificateReasons: ReadonlyMap<string, string> = new Map([
  ["DEPTH_ZERO_SELF_SIGNED_CERT", "has a self-signed certificate"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "has a certificate of an authority that is not trusted here"],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "has a certificate of an authority that is not trusted here"],
  ["UNABLE_TO_GET_ISSUER_CERT", "has a certificate of an authority that is not trusted here"],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "has a certificate of an authority that is not trusted here"],
  ["CERT_HAS_EXPIRED", "has a certificate that has expired"],
  ["CERT_NOT_YET_VALID", "has a certificate that is not valid yet"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "has a certificate for another name"],
]);

const passing: ReadonlySet<string> = new Set([
  "EAI_AGAIN",
  "ECONNRESET",
  "EPIPE",
  "UND_ERR_SOCKET",
  "ConnectionClosed",
]);

const failures: ReadonlyMap<string, NetworkFailure> = new Map(
  (
    [
      [["ENOTFOUND"], "has a name that cannot be resolved", "Check the host for typing errors."],
      [["EAI_AGAIN"], "has a name that could not be looked up just now", "Check the network, and try again."],
      [
        ["ECONNREFUSED", "ConnectionRefused"],
        "refuses connections: nothing listens there",
        "Start the server, or check the port.",
      ],
      [
        ["EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"],
        "cannot be reached from this network",
        "Check the network, a VPN or a firewall.",
      ],
      [
        ["ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT"],
        "did not accept a connection in time",
        "Check the address, and whether a firewall swallows packets.",
      ],
      [
        ["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"],
        "did not answer in time",
        "Try again later; the server may be overloaded.",
      ],
      [
        [
          "ECONNRESET",
          "EPIPE",
          "UND_ERR_SOCKET",
          "ConnectionClosed",
          "ERR_HTTP2_GOAWAY_SESSION",
          "ERR_HTTP2_STREAM_ERROR",
        ],
        "closed the connection",
        "Try again; when it stays that way, look into the server's log.",
      ],
      [
        ["ERR_ADDRESS_REFUSED"],
        "has an address that is not public",
        "Leave out `untrusted` to reach addresses of a private network.",
      ],
    ] as const
  ).flatMap(([codes, reason, hint]) =>
    codes.map((code) => [code, { reason, hint, mayPass: passing.has(code) }] as const),
  ),
);

const unexplained: NetworkFailure = {
  reason: "could not be reached",
  hint: "Check the address and the network; for a browser, also whether the server permits other origins (CORS).",
  mayPass: false,
};

function failureByCode(code: string, error: Error): NetworkFailure | undefined {
  if (isCertificateCode(code)) {
    return {
      reason: certificateReasons.get(code) ?? "has a certificate that is not accepted",
      hint: "Renew the certificate, or trust its authority (Node: NODE_EXTRA_CA_CERTS).",
      mayPass: false,
    };
  }
  if (code.startsWith("ERR_SSL_") || (code === "EPROTO" && /ssl|tls/i.test(error.message))) {
    return {
      reason: "and this client did not agree on TLS",
      hint: "Check whether the server speaks plain http:// on that port.",
      mayPass: false,
    };
  }
  return failures.get(code);
}
