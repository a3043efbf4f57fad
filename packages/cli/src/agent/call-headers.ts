import type { Interceptor } from "@connectrpc/connect";
import { CliError } from "../cli-error.ts";
import type { CredentialPlan } from "./credentials.ts";

/** What calls carry beside the protocol's own headers, and the card's requests never do. */
export interface CallHeaders {
  readonly interceptor: Interceptor;
  /** Takes over what no header can carry: an API key in the query. */
  wrapFetch(fetch: typeof globalThis.fetch): typeof globalThis.fetch;
  /** From now on, calls are authenticated. `binding` says what the call goes over. */
  use(plan: CredentialPlan, binding: () => string): void;
}

/** On its way from the interceptor to fetch. It is on no wire. */
const queryHeader = "x-a2a-cli-query";

/** Service parameters from the start; credentials as soon as the card has said where they go. */
export function createCallHeaders(serviceParameters: Readonly<Record<string, string>>): CallHeaders {
  let plan: CredentialPlan = { places: [], isDeclared: false };
  let binding = (): string => "";
  return {
    use(credentials, bindingInUse) {
      plan = credentials;
      binding = bindingInUse;
    },
    interceptor: (next) => (request) => {
      for (const [name, value] of Object.entries(serviceParameters)) {
        request.header.set(name, value);
      }
      // To a card's endpoint only what the public card has asked for (A2ACLI_AUTH_008).
      if (plan.isDeclared || request.method.name !== "GetExtendedAgentCard") {
        attach(plan, request.header, binding());
      }
      return next(request);
    },
    wrapFetch: (fetch) => async (input, init) => {
      const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
      const query = headers.get(queryHeader);
      if (query === null) {
        return await fetch(input, init);
      }
      headers.delete(queryHeader);
      const url = new URL(input instanceof Request ? input.url : input);
      for (const [name, value] of new URLSearchParams(query)) {
        url.searchParams.set(name, value);
      }
      return await fetch(input instanceof Request ? new Request(url, input) : url, { ...init, headers });
    },
  };
}

function attach({ places }: CredentialPlan, header: Headers, binding: string): void {
  const query = new URLSearchParams();
  for (const { location, name, value } of places) {
    switch (location) {
      case "header":
        header.set(name, value);
        break;
      case "cookie":
        header.append("cookie", `${name}=${encodeURIComponent(value)}`);
        break;
      case "query":
        query.set(name, value);
        break;
    }
  }
  if (query.size === 0) {
    return;
  }
  if (binding === "GRPC") {
    throw new CliError(
      "A2ACLI_ERR_USAGE",
      "the agent wants its API key in the query, which gRPC does not have",
      {
        hint: "--transport jsonrpc, or another binding of the card",
      },
    );
  }
  header.set(queryHeader, query.toString());
}
