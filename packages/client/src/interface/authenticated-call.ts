import type { CallCredentials, CredentialCall, CredentialSource } from "@a2a-connect/core/internal";
import type { AgentCard } from "@a2a-connect/proto";
import { Code, ConnectError } from "@connectrpc/connect";
import { agentFetch } from "./agent-fetch.ts";
import type { Candidate } from "./choose-interfaces.ts";
import type { UsedCard } from "./used-card.ts";

/** On its way to `fetch`. It is on no wire. */
const queryHeader = "x-a2a-connect-query";

/**
 * Makes a call with credentials, and once more with others when the agent refuses these: it has done nothing then.
 *
 * @throws the error of the call; ConnectError Unauthenticated, which is no wire error, when there are no credentials
 */
export async function callAuthenticated<T>(
  auth: CredentialSource,
  { settings, resolved }: Pick<UsedCard, "settings" | "resolved">,
  candidate: Candidate,
  signal: AbortSignal | undefined,
  attempt: (headers: Readonly<Record<string, string>>) => Promise<T>,
): Promise<T> {
  const { platform, untrusted } = settings;
  const options = { ...(platform && { platform }), ...(untrusted === undefined ? {} : { untrusted }) };
  const call: CredentialCall = {
    card: resolved.card,
    cardUrl: resolved.url,
    interface: candidate.interface,
    fetch: agentFetch(options, resolved.url),
    signal,
  };
  const sent = await auth.forCall(call);
  try {
    return await attempt(toHeaders(sent, call));
  } catch (error) {
    const isRefused =
      error instanceof ConnectError && error.isWireError && error.code === Code.Unauthenticated;
    if (!isRefused || !auth.refused(call, sent)) throw error;
    return await attempt(toHeaders(await auth.forCall(call), call));
  }
}

function toHeaders(
  { headers, query }: CallCredentials,
  { card, interface: { protocolBinding } }: CredentialCall,
): Readonly<Record<string, string>> {
  const parameters = new URLSearchParams(query);
  // Without `queryFetch` the header would be on the wire.
  if (parameters.size === 0 || !wantsQuery(card)) return headers;
  if (protocolBinding === "GRPC") {
    throw new ConnectError(
      "the agent wants its API key in the URL's query, and gRPC has no query",
      Code.Unauthenticated,
    );
  }
  return { ...headers, [queryHeader]: parameters.toString() };
}

/** A `fetch` that puts credentials into the query, for a card that wants any there. */
export function queryFetch(fetch: typeof globalThis.fetch, card: AgentCard): typeof globalThis.fetch {
  if (!wantsQuery(card)) return fetch;
  return async (input, init) => {
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined));
    const query = headers.get(queryHeader);
    if (query === null) return await fetch(input, init);
    headers.delete(queryHeader);
    const url = new URL(input instanceof Request ? input.url : input);
    for (const [name, value] of new URLSearchParams(query)) url.searchParams.set(name, value);
    return await fetch(input instanceof Request ? new Request(url, input) : url, { ...init, headers });
  };
}

function wantsQuery({ securitySchemes }: AgentCard): boolean {
  return Object.values(securitySchemes).some(
    ({ scheme }) => scheme.case === "apiKeySecurityScheme" && scheme.value.location === "query",
  );
}
