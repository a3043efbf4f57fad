import type { TrustPolicy } from "@a2a-connect/signing";

/** What the test asks the page to do with `@a2a-connect/signing`. */
export interface TrustPageApi {
  /** Connects to an agent whose card a policy has to trust: its name, or why it is refused. */
  connect(agentUrl: string, policy: TrustPolicy): Promise<string>;
}

declare global {
  /** Set by the page. */
  var trustPage: TrustPageApi;
}
