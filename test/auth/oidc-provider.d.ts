declare module "oidc-provider" {
  import type { RequestListener } from "node:http";

  /** An OpenID provider; the package has no types of its own. */
  export class Provider {
    constructor(issuer: string, configuration: object);
    callback(): RequestListener;
    /** @param grant answers a request for a token: sets the body of the context */
    registerGrantType(
      name: string,
      grant: (context: { body?: unknown; oidc: { params: Record<string, string> } }) => Promise<void>,
      parameters: readonly string[],
    ): void;
  }
}
