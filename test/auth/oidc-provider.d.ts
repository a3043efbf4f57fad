declare module "oidc-provider" {
  import type { RequestListener } from "node:http";

  /** An OpenID provider; the package has no types of its own. */
  export class Provider {
    constructor(issuer: string, configuration: object);
    callback(): RequestListener;
  }
}
