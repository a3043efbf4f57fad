/** How the client verifies an agent's TLS, and how it identifies itself. For all wires, and for the card. */
export interface ClientTlsOptions {
  /** The trusted certificate authorities, PEM. Default: Node's. */
  readonly ca?: string | readonly string[];
  /** The client's certificate with its chain, PEM, for agents that ask for one (mTLS). Needs `key`, too. */
  readonly cert?: string;
  /** The private key of `cert`, PEM. */
  readonly key?: string;
  /**
   * Whether the client accepts every certificate: then an attacker in between can read and change everything. Default
   * false.
   */
  readonly insecure?: boolean;
}

/** The same as options of `node:tls`. */
export interface NodeTlsOptions {
  readonly ca?: string | string[];
  readonly cert?: string;
  readonly key?: string;
  readonly rejectUnauthorized?: boolean;
}

/** @throws Error when only one of `cert` and `key` is given */
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
