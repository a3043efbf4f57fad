/** How an agent's TLS is judged, and who we are to it. For all wires, and for the card. */
export interface ClientTlsOptions {
  /** The authorities whose certificates are trusted, PEM. Default: those that Node trusts. */
  readonly ca?: string | readonly string[];
  /** Our certificate with its chain, PEM, where the agent asks for one (mTLS). Wants `key`, too. */
  readonly cert?: string;
  /** The private key of `cert`, PEM. */
  readonly key?: string;
  /** Whether certificates are taken unseen: anybody in between can then read and change everything. Default false. */
  readonly insecure?: boolean;
}

/** The same, in the words of `node:tls`. */
export interface NodeTlsOptions {
  readonly ca?: string | string[];
  readonly cert?: string;
  readonly key?: string;
  readonly rejectUnauthorized?: boolean;
}

/** @throws Error when only one of `cert` and `key` is there */
export function toNodeTls({ ca, cert, key, insecure = false }: ClientTlsOptions): NodeTlsOptions {
  if ((cert === undefined) !== (key === undefined)) {
    throw new Error("a client certificate takes both cert and key");
  }
  return {
    ...(ca === undefined ? {} : { ca: typeof ca === "string" ? ca : [...ca] }),
    ...(cert === undefined ? {} : { cert }),
    ...(key === undefined ? {} : { key }),
    ...(insecure ? { rejectUnauthorized: false } : {}),
  };
}
