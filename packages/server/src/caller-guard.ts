import type { HttpHandler, HttpRequest } from "@a2a-connect/bindings";
import { refuseRpc, withCors } from "@a2a-connect/bindings/server";
import { isLoopbackHost, parseForeignUrl } from "@a2a-connect/core/internal";
import { Code, ConnectError } from "@connectrpc/connect";
import type { AgentServerOptions } from "./agent-server-options.ts";
import { plainError } from "./plain-routes.ts";
import { matchesHost, parseListedUrl } from "./reach/listed-host.ts";

/** By which hosts callers may reach a server, and which pages may call it. */
export interface CallerGuardOptions
  extends Pick<AgentServerOptions, "allowedHosts" | "cors" | "forwardedHosts"> {
  /** The server's URL, as in its card. */
  readonly baseUrl: () => string;
  /** The agents behind it. Pages may send the API keys that their cards ask for. */
  readonly agents: readonly Pick<AgentServerOptions, "agent" | "auth">[];
}

/**
 * Lets permitted pages call (CORS). Refuses, before it reads the request, calls that a browser on this machine makes
 * for other sites.
 *
 * No firewall protects a server on loopback from a browser on this machine, so a page of any site could call it. There
 * are two ways, and both are closed:
 * - A name of the attacker's that points at this machine (DNS rebinding). The browser takes the server for the page's
 *   own and does not use CORS; only the request's host shows it. The answer is 421: the request was meant for another
 *   server (RFC 9110 §7.4, §15.5.20).
 * - The server's own name, from another origin. Without CORS the page cannot read the answer, but the server would
 *   answer a GET and open a stream all the same. The answer is 403. Without an `Origin` (images, scripts)
 *   `Sec-Fetch-Site` shows it; a link may be followed.
 *
 * A server that is open to the network has no such callers, and is called by names that it does not know (a load
 * balancer's probes use addresses). There the host is tested only when `allowedHosts` is given, and CORS decides on
 * origins.
 *
 * @throws Error when an allowed or forwarded host is malformed
 */
export function guardCallers(
  handler: HttpHandler,
  { allowedHosts, cors, forwardedHosts, baseUrl, agents }: CallerGuardOptions,
): HttpHandler {
  const patterns = (allowedHosts ?? []).map(parseAllowedHost);
  const forwardable = forwardedHosts?.map(parseListedUrl);
  const origins = cors === false ? [] : cors?.origins;
  const allowedHeaders = [
    ...agents.flatMap(apiKeyHeaders),
    ...((cors !== false && cors?.allowedHeaders) || []),
  ];
  const answer = cors === false ? handler : withCors(handler, { ...cors, allowedHeaders });
  const anyOrigin = origins?.includes("*") === true;

  /** Whether it is a name of this machine, which no DNS can point elsewhere, or a host that the operator has listed. */
  function isOwnHost(hostname: string): boolean {
    return (
      isLoopbackHost(hostname) ||
      hostname === URL.parse(baseUrl())?.hostname ||
      patterns.some((pattern) => pattern === "*" || matchesHost(pattern, hostname))
    );
  }

  /** The address to which a trusted proxy says that the request was sent. */
  function forwardedTo({ forwardedUrl }: HttpRequest): URL | undefined {
    const url = forwardedUrl === undefined ? null : URL.parse(forwardedUrl);
    return url !== null && forwardable?.some((fits) => fits(url)) !== false ? url : undefined;
  }

  function isForeignPage(request: HttpRequest): boolean {
    const { header } = request;
    const origin = header.get("origin");
    if (origin === null) {
      return header.get("sec-fetch-site") === "cross-site" && header.get("sec-fetch-dest") !== "document";
    }
    if (origins === undefined && isOwnHost(parseForeignUrl(origin)?.hostname ?? "")) {
      return false;
    }
    const isSame = origin.endsWith(`://${authorityOf(request)}`) || origin === forwardedTo(request)?.origin;
    return !isSame && origins?.includes(origin) !== true;
  }

  let known: string | undefined; // the last authority that was accepted: nearly all requests have the same
  return (request) => {
    const { boundToLoopback = false } = request;
    if (boundToLoopback || allowedHosts !== undefined) {
      const authority = authorityOf(request);
      if (authority !== known) {
        const { hostname } = new URL(request.url);
        if (isOwnHost(hostname)) {
          known = authority;
        } else if (forwardedTo(request) === undefined) {
          return Promise.resolve(refuse(request, 421, misdirected(hostname)));
        }
      }
    }
    if (boundToLoopback && !anyOrigin && isForeignPage(request)) {
      return Promise.resolve(refuse(request, 403, foreignPage(request.header.get("origin"))));
    }
    return answer(request);
  };
}

/** The header fields in which an agent's callers send API keys. */
function apiKeyHeaders({ agent, auth }: Pick<AgentServerOptions, "agent" | "auth">): readonly string[] {
  const schemes = [
    ...Object.values(agent.card.securitySchemes ?? {}),
    ...Object.values(auth?.gates ?? {}).map((gate) => gate.scheme),
  ];
  return schemes.flatMap(({ scheme }) =>
    scheme?.case === "apiKeySecurityScheme" && scheme.value.location === "header"
      ? (scheme.value.name ?? [])
      : [],
  );
}

/** A host without a port, `*.` and a domain, or `*`. @throws Error for anything else */
function parseAllowedHost(entry: string): string {
  const url = /^(?:\[[\da-f:.]+\]|[^/?#@\\\s:]+)$/i.test(entry) ? URL.parse(`http://${entry}`) : null;
  if (url === null) {
    throw new Error(
      `allowedHosts: ${JSON.stringify(entry)} is no host without a port, such as agents.example.org, *.example.org or * for all`,
    );
  }
  return url.hostname;
}

/** The authority of an absolute URL, unchanged. */
function authorityOf({ url }: HttpRequest): string {
  const start = url.indexOf("://") + 3;
  const end = url.indexOf("/", start);
  return url.slice(start, end === -1 ? undefined : end);
}

function misdirected(hostname: string): string {
  return `this server does not answer to the host ${quote(hostname)}: if callers reach it by that name, list it in the option "allowedHosts", or say it in "publicUrl"`;
}

function foreignPage(origin: string | null): string {
  const page = origin === null ? "a page of another site" : `a page of the origin ${quote(origin)}`;
  return `this server is for its own machine, and ${page} may not call it: list origins that may in the option "cors", as { origins: ["https://app.example"] }`;
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 100));
}

/** A refusal in the form of the caller's wire: gRPC has no HTTP status for it. */
function refuse(request: HttpRequest, status: 403 | 421, message: string): ReturnType<typeof plainError> {
  return (
    refuseRpc(request, new ConnectError(message, Code.PermissionDenied), status) ??
    plainError(status, "PERMISSION_DENIED", message)
  );
}
