import type { VerificationKey } from "@a2a-connect/signing";

/** Whom the page trusts: keys, or the key sets of agents themselves. */
export type PagePolicy =
  | { readonly keys: readonly VerificationKey[] }
  | { readonly jku: Readonly<Record<string, never>> };

/** What the test asks the page to do with `@a2a-connect/signing`. */
export interface TrustPageApi {
  /** Connects to an agent whose card a policy has to trust: its name, or why it is refused. */
  connect(agentUrl: string, policy: PagePolicy): Promise<string>;
}

declare global {
  /** Set by the page. */
  var trustPage: TrustPageApi;
}
